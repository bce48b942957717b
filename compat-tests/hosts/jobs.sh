#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts, all of which are this one: where ranks go, what they print, how the job ends, and what is said of hosts that
# cannot be reached or are lost. (hosts.sh has hosts that are more like it.)
. "$(dirname "$0")/../lib/test.sh"
uses hosts
who='echo $FTMPI_RANK of $FTMPI_SIZE, $OMPI_COMM_WORLD_LOCAL_RANK of $OMPI_COMM_WORLD_LOCAL_SIZE'

# Where ranks go, what they are told, and what they print.
hosts a,b:2 sh -c "$who"
expect_code 0
expect_err_lines 0
sorted
expect_out '0 of 3, 0 of 1' '1 of 3, 0 of 2' '2 of 3, 1 of 2'
hosts a:2,b:2 --map-by node -n 3 -l sh -c "$who"
sorted
expect_out '[1,0]<stdout>:0 of 3, 0 of 2' '[1,1]<stdout>:1 of 3, 0 of 1' '[1,2]<stdout>:2 of 3, 1 of 2'
hosts a -x A=here -n 1 sh -c 'echo $A $B; pwd' : -H b -env B there -wdir / sh -c 'echo $A$B; pwd'
sorted
expect_out / "$(pwd)" here there

# Standard input goes to its rank, wherever that is.
seq 100000 >"$tmp/in"
timeout -k 5 120 "$ftrun" --launcher "exec:$tmp/go" -H a,b --stdin 1 cat <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
cmp -s "$tmp/in" "$tmp/out" || fail "standard input did not get to rank 1 and back"
seq 5 | timeout -k 5 120 "$ftrun" --launcher "exec:$tmp/go" -H a,b sh -c '[ $FTMPI_RANK = 1 ] || wc -l' >"$tmp/out" 2>"$tmp/err"
expect_out 5

# Standard input that is /dev/null, or closed, is at its end for the rank that reads it, too: it was not, and the rank waited for ever.
hosts a,b cat
expect_code 0
timeout -k 5 120 "$ftrun" --launcher "exec:$tmp/go" -H a,b cat <&- >"$tmp/out" 2>"$tmp/err" || fail "ftrun cat without standard input: exit code $?"

# Long lines of several ranks are not mixed, and nobody waits for ever for a reader that is slow.
hosts a,b -n 4 --oversubscribe sh -c 'for i in 1 2 3; do head -c 200000 /dev/zero | tr "\0" $FTMPI_RANK; echo; done'
[ "$(sort "$tmp/out" | uniq -c | awk '{print $1, length($2)}' | tr '\n' ' ')" = '3 200000 3 200000 3 200000 3 200000 ' ] || fail "long lines are mixed"

# Exit codes, and one line that names rank and host.
hosts a,b:2 sh -c '[ $FTMPI_RANK != 2 ] || exit 7; sleep 50'
expect_code 7
expect_err '^ftrun: rank 2 (pid [0-9]*, host b) exited with code 7; the job is ended$'
expect_err_lines 1
hosts a,b --timeout 0.5 sleep 50
expect_code 110
expect_err 'the time is up'
hosts a,b --max-restarts 0 sh -c 'kill -9 $$'
expect_code 137
hosts a,b no-such-program-anywhere
expect_code 127
expect_err 'command not found'
expect_err_lines 1

# Ranks of several hosts that end the job at once: one reason is told, that of the code. (Each host told its own.)
for _ in 1 2 3; do
    hosts a,b,c sh -c 'exit $((FTMPI_RANK + 3))'
    expect_err "^ftrun: rank $((code - 3)) (pid [0-9]*, host [abc]) exited with code $code; the job is ended$"
    expect_err_lines 1
done
# A rank knows its host as the user does. (It was the machine's name.)
hosts a,b sh -c 'echo $FTMPI_HOST'
expect_code 0
sorted
expect_out a b
# Another user, for ssh, in both of Open MPI's ways.
printf 'me@a\nb username=you\n' >"$tmp/hostfile"
run --launcher "exec:$tmp/go" --hostfile "$tmp/hostfile" sh -c 'echo $FTMPI_HOST'
expect_code 0
sorted
expect_out me@a you@b
# What is not there to be passed on. (It was told on one host only.)
hosts a,b -x NOSUCH true
expect_code 0
expect_err '^ftrun: -x NOSUCH: no such environment variable; ignored$'
expect_err_lines 1

# A rank that never calls MPI_Init, while one on another host waits for it: no node knows both. (Their logs were said to be gone, five times.)
for caller in 0 1; do
    hosts a,b sh -c '[ $FTMPI_RANK = '$caller' ] && exec "$0"; exit 0' "$top_builddir/compat-tests/agent/ends"
    expect_code 1
    expect_err "^ftrun: rank $((1 - caller)) (pid [0-9]*, host [ab]) exited with code 0 without calling MPI_Init, which other ranks have called"
    expect_err_lines 1
done

# Who cannot be started: what failed there, where, and how often it was tried.
: >"$tmp/started"
hosts a,down-b sleep 50
expect_code 1
expect_err '^ftrun: cannot start on host down-b (rank 1): connect to host down-b: No route to host (exit code 255); tried 3 times, the job is ended$'
expect_err_lines 1
[ "$(grep -c down-b "$tmp/started")" = 3 ] || fail "down-b was not tried three times"
hosts a,bad-b sleep 50
expect_code 127
expect_err 'cannot start on host bad-b (rank 1): sh: .*: not found (exit code 127); is ftmpi there? (--prefix); the job is ended'
expect_err_lines 1
hosts a,zero-b sleep 50
expect_code 1
expect_err '^ftrun: cannot start on host zero-b (rank 1): ended with exit code 0, without an answer of ftrun.s there; the job is ended$'
hosts hang-a --start-timeout 0.5 sleep 50
expect_code 1
expect_err '^ftrun: cannot start on host hang-a (rank 0): no answer within 0.5 s (--start-timeout); tried 3 times, the job is ended$'
wait_for all_gone "$tmp/hangs" # only the process that ftrun had started was ended
hosts a,down-b,c --spares 1 sh -c "$who"
expect_code 0
expect_err 'host down-b (rank 1).* tried 3 times, c takes its place'
sorted
expect_out '0 of 2, 0 of 1' '1 of 2, 0 of 1'
run --launcher "exec:$tmp/nonesuch" -H a,b true
expect_code 127
expect_err 'nonesuch: No such file'

# Signals: to all ranks of all hosts, whose end is awaited.
what="ftrun, told to stop"
timeout -k 5 300 "$ftrun" --grace 100 --launcher "exec:$tmp/go" -H a,b:2 sh -c 'trap "echo got \$FTMPI_RANK; exit 0" INT TERM; echo $$ >"$tmp/rank.$FTMPI_RANK"; while :; do sleep 0.1; done' \
    >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for [ -s "$tmp/rank.0" ] && wait_for [ -s "$tmp/rank.1" ] && wait_for [ -s "$tmp/rank.2" ]
kill -INT $pid
wait $pid
code=$?
expect_code 130
sorted
expect_out 'got 0' 'got 1' 'got 2'
all_gone "$tmp"/rank.* || fail "ranks live on"
expect_err 'told to stop by signal 2'
expect_err_lines 1

# Who asks gets an answer from the controller.
what="ftrun status, stop"
timeout -k 5 120 "$ftrun" --job-name "hosts-$$" --launcher "exec:$tmp/go" -H a,b:2 sleep 50 >"$tmp/out" 2>"$tmp/err" &
pid=$!
both_run() {
    "$ftrun" status "hosts-$$" >"$tmp/status" 2>&1
    [ "$(grep -c '^node [01] on [ab]: running' "$tmp/status")" = 2 ] &&
        [ "$(grep -c '^memory: [0-9]* of [0-9]* MiB used' "$tmp/status")" = 2 ] && grep -q '^1-2 *running .*on b' "$tmp/status"
}
wait_for both_run || cat "$tmp/status"
"$ftrun" stop "hosts-$$" >/dev/null 2>&1 || fail "ftrun stop does not stop it"
wait $pid
code=$?
expect_code 143

# All that is said between hosts goes over IPv6.
if ip -6 addr show dev lo 2>/dev/null | grep -q '::1/128'; then
    hosts a,b:2 --iface ::1/128 sh -c "$who"
    expect_code 0
    expect_err_lines 0
fi

# Ranks of one host have all their shared memory together, those of different ones none, though all of them run here.
# memory RANK: what it has open, a line for each file
memory() { sed -n "s/^$1 //p" "$tmp/out" | sort; }
for places in a:3 a,b:2; do
    hosts $places -n 3 sh -c 'for fd in /proc/$$/fd/*; do case $(readlink "$fd") in /memfd:*) echo "$FTMPI_RANK $(stat -L -c %d:%i "$fd")" ;; esac; done'
    expect_code 0
    [ "$(memory 1 | wc -l)" -ge 2 ] && [ "$(memory 1)" = "$(memory 2)" ] || fail "$what: ranks 1 and 2 do not have the same memory: $(cat "$tmp/out")"
    both=$( (memory 0 && memory 1) | sort | uniq -d | wc -l)
    case $places in
    a:3) [ "$both" = "$(memory 1 | wc -l)" ] ;;
    *) [ "$both" = 0 ] ;;
    esac || fail "$what: ranks 0 and 1 have $both files of shared memory together"
done

# A lost node: its processes are killed, its lease ends, others take its place, and nothing is printed twice. It is lost while its ranks print: they do
# not come to their last lines before.
count='i=0; while [ $i -lt 12 ]; do echo $FTMPI_RANK: $i; i=$((i + 1)); sleep 0.05; while [ $i = 11 ] && [ ! -e "$tmp/end" ]; do sleep 0.05; done; done'
expect_counts() { # ranks
    for r in $(seq 0 $(($1 - 1))); do for i in $(seq 0 11); do echo "$r: $i"; done; done | sort >"$tmp/want"
    sorted
    cmp -s "$tmp/want" "$tmp/out" || { fail "$what: output differs:"; diff "$tmp/want" "$tmp/out" | head; }
}
lost() { # ranks, that whose node is lost, arguments
    rm -f "$tmp"/rank.* "$tmp"/usr.* "$tmp/lost" "$tmp/end"
    : >"$tmp/out" # here: who waits for a line must not find the last job's
    ranks=$1
    of=$2
    shift 2
    what="ftrun $*, without the node of rank $of"
    timeout -k 5 120 "$ftrun" --lease 3 --launcher "exec:$tmp/go" "$@" sh -c 'trap "echo \$\$ >>$tmp/usr.$FTMPI_RANK" USR1; echo $$ >"$tmp/rank.$FTMPI_RANK.new"; mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"; '"$count" \
        >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    for r in $(seq 0 $((ranks - 1))); do wait_for grep -q "$r: 3" "$tmp/out"; done
    kill -USR1 "$(cat /proc/$pid/task/$pid/children)"
    wait_for [ -s "$tmp/usr.$of" ]
    : >"$tmp/lost"
    lose "$of" || fail "cannot lose the node of rank $of"
    : >"$tmp/end"
    wait $pid
    code=$?
    # Those who come in the place of others were once sent all signals from before, when they did not expect them yet.
    [ "$(wc -l <"$tmp/usr.$of")" = 1 ] || fail "$what: rank $of was sent a signal from before its start"
    ! grep -q restarted "$tmp/err" || fail "$what: a rank was restarted"
}
lost 3 1 -H a,b:2
expect_code 0
expect_counts 3
expect_err '^ftrun: host b (ranks 1-2) is gone for 3 s; its ranks start again there$'
lost 2 1 -H a,gone-b,c --spares 1
expect_code 0
expect_counts 2
expect_err 'cannot start on host gone-b (rank 1): .* c takes its place'
lost 2 1 -H a,gone-b
expect_code 1
# What would have saved it is said. (Nothing was.)
helps='; with --spares 1 and --survive host it would have gone on, with --ckpt-dir it could be resumed$'
expect_err "cannot start on host gone-b (rank 1): .*; tried 3 times, the job is ended$helps"
lost 2 1 -H a,gone-b --wait-for-host 1
expect_code 1
expect_err "^ftrun: host gone-b (rank 1) has not come back within 1 s (--wait-for-host); the job is ended$helps"
comes_back() { wait_for grep -q 'cannot start on host gone-b .*waiting for it (--wait-for-host 300)$' "$tmp/err" && rm "$tmp/lost"; }
: >"$tmp/err"
comes_back &
lost 2 1 -H a,gone-b --wait-for-host 300
expect_code 0
expect_counts 2
wait
lost 1 0 -H a
expect_code 0
expect_counts 1

# Whose ranks print something else in another host's place: what was printed first stands, line by line, and it is told. (As many bytes were dropped as had been
# printed: lines were cut, or the end of one was left over, and nobody was told.)
for word in x 'very much longer than it was before'; do
    rm -f "$tmp"/rank.* "$tmp/end" "$tmp/word"
    what="ftrun, whose rank 1 prints something else on another host"
    # shellcheck disable=SC2016
    timeout -k 5 120 "$ftrun" --lease 3 --launcher "exec:$tmp/go" -H a,b sh -c 'echo "$FTMPI_RANK: $(cat "$tmp/word" 2>/dev/null || echo what was first)"
        echo "$FTMPI_RANK: second"; echo $$ >"$tmp/rank.$FTMPI_RANK.new"; mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"
        until [ -e "$tmp/end" ]; do sleep 0.05; done; echo "$FTMPI_RANK: last"' >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    wait_for test -e "$tmp/rank.1"
    for r in 0 1; do wait_for grep -q "$r: second" "$tmp/out"; done
    echo "$word" >"$tmp/word"
    lose 1 && rm "$tmp/rank.1" || fail "cannot lose the node of rank 1"
    wait_for test -e "$tmp/rank.1"
    : >"$tmp/end"
    wait $pid || fail "$what: exit code $?"
    sorted
    expect_out '0: last' '0: second' '0: what was first' '1: last' '1: second' '1: what was first'
    expect_err '^ftrun: rank 1: after its restart, line 1 of its stdout is not what it was before'
done

# A node that stands still for more than two thirds of its lease, and less than all of it, kills its ranks. What one of them had begun to print was
# passed on as its last line, and the rest followed behind others' lines (survive.sh, when hosts were frozen). Many, since it is the first to die.
rm -f "$tmp"/rank.* "$tmp"/end.*
what="a host that stands still in the middle of a line"
timeout -k 5 240 "$ftrun" --lease 6 --snapshot off --launcher "exec:$tmp/go" -H a,b:8 sh -c 'printf "%s" "rank $FTMPI_RANK"; echo $$ >"$tmp/rank.$FTMPI_RANK.new"
    mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"; until [ -e "$tmp/end.$FTMPI_RANK" ]; do sleep 0.05; done; echo " is done"' >"$tmp/out" 2>"$tmp/err" &
pid=$!
for r in $(seq 0 8); do wait_for [ -s "$tmp/rank.$r" ]; done
frozen=$(cat "$tmp/rank.1") && agent=$(awk '/^PPid/ { print $2 }' "/proc/$frozen/status") && twin=$(awk '/^PPid/ { print $2 }' "/proc/$agent/status")
kill -STOP "$twin" "$agent"
sleep 4.6 # the lease; later is as well, and tests less
kill -CONT "$twin" "$agent"
began_again() { ! grep -qx "$frozen" "$tmp/rank.1"; }
wait_for began_again
: >"$tmp/end.0"
wait_for grep -q 'rank 0' "$tmp/out"
for r in $(seq 8); do : >"$tmp/end.$r"; done
wait $pid
code=$?
expect_code 0
sorted
for r in $(seq 0 8); do echo "rank $r is done"; done | cmp -s - "$tmp/out" || { fail "$what: prints:"; cat "$tmp/out"; }
expect_err 'has not been heard from for 4 s (two thirds of --lease); the ranks here are killed\|(ranks 1-8) is gone for 6 s'
finish
