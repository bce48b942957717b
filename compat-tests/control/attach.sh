#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun attach: the job's output from now on; Ctrl-C leaves the job alone; who does not read slows nobody down.
. "$(dirname "$0")/../lib/test.sh"
needs python3
own_jobs
cd "$tmp" || exit 99
listed() { [ "$("$ftrun" list 2>/dev/null | sed 1d | wc -l)" = 1 ]; }
exists() { [ -s "$1" ]; }

# A job that says a number on each stream whenever told to, and more when it is asked for it.
cat >talk.sh <<'EOS'
n=0
while [ ! -e end ]; do
    if [ -e say ]; then
        rm say
        n=$((n + 1))
        echo "out $n"
        echo "err $n" >&2
        echo $n >said
    elif [ -e flood ]; then
        rm flood
        yes "$(printf '%099d' 0 | tr 0 x)" | head -n 300000
        echo flooded
        echo yes >flooded
    else
        sleep 0.02
    fi
done
exit 9
EOS
sees() { grep -q "^$1\$" "$2"; }
talks() { rm -f said; : >say; wait_for exists said && wait_for sees "out $(cat said)" job.out; }
timeout -k 5 300 "$ftrun" -n 1 sh talk.sh >job.out 2>job.err </dev/null &
job=$!
wait_for listed
id=$("$ftrun" list | awk 'NR == 2 { print $1 }')
talks

# From now on, both streams apart; the job keeps its own.
timeout -k 5 300 "$ftrun" attach "$id" >a.out 2>a.err &
attached=$!
attached_out() { talks && grep -q out a.out; }
wait_for attached_out
grep -q 'out 1$' a.out && fail "attach shows what was printed before it"
talks
last=$(tail -1 job.out)
wait_for sees "$last" a.out
wait_for sees "err ${last#out }" a.err
grep -q err a.out && fail "attach mixes streams"

# The agent is killed: its successor goes on, also for those that are attached.
pid_of() { "$ftrun" status --json "$id" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
has_two() { [ "$(pid_of standby_pid)" -gt 0 ] 2>/dev/null; }
wait_for has_two
kill -9 "$(pid_of agent_pid)"
wait_for grep -q "job $id goes on in another process of ftrun" a.err
wait_for has_two
newer_out() { talks && sees "$(tail -1 job.out)" a.out; }
wait_for newer_out

# Ctrl-C detaches, says so, and the job goes on.
kill -INT "$(ps -o pid= --ppid $attached | tr -d ' ')"
wait $attached
code=$? what="ftrun attach after Ctrl-C"
expect_code 130
grep -q "detached from job $id; it goes on" a.err || fail "$what: does not say that it detached: $(cat a.err)"
talks

# Readers that are stopped: the job prints 30 MB meanwhile, and they are told how much they missed. The one goes on before the job's end,
# the other after it: the job does not wait for it.
timeout -k 5 300 "$ftrun" attach "$id" >b.out 2>b.err &
slow=$!
timeout -k 5 300 "$ftrun" attach "$id" >c.out 2>c.err &
slower=$!
attached_both() { talks && grep -q out b.out && grep -q out c.out; }
wait_for attached_both
reader_of() { ps -o pid= --ppid "$1" | tr -d ' '; }
for reader in $slow $slower; do
    kill -STOP "$(reader_of "$reader")"
done
: >flood
wait_for exists flooded
wait_for sees flooded job.out
talks
sleep 12 # (Found by jitter: who did not read for ten seconds was sent away, and took the same agent for a new one.)
kill -CONT "$(reader_of $slow)"
caught_up() { talks && sees "$(tail -1 job.out)" b.out; }
wait_for caught_up
: >end
wait $slow
code=$? what="ftrun attach, stopped for a while"
expect_code 9
missed=$(sed -n 's/^ftrun: the output of job .* came faster than it was read: \([0-9]*\) bytes left out here/\1/p' b.err)
[ "${missed:-0}" -gt 20000000 ] || fail "$what: says that $missed bytes are missing, and prints $(wc -c <b.out)"
grep -q -v -e '^x*$' -e '^out [0-9]*$' -e '^flooded$' b.out && fail "$what: pieces of lines"
wait $job
code=$? what="the job"
expect_code 9
[ "$(grep -c '^x' job.out)" -eq 300000 ] || fail "the job's own output is not complete"
kill -CONT "$(reader_of $slower)"
wait $slower
code=$? what="ftrun attach, stopped until after the job's end"
expect_code 9
grep -q "job $id is over; the end of its output is left out" c.err || fail "$what: says only: $(cat c.err)"
finish
