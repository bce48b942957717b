#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ftrun list, status, stop, wait and attach on every host of a job: as on its ftrun's host, also after the node's agent was killed; and what is said there when
# that ftrun cannot be reached. (schema.sh has several nodes on one host.)
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
own_jobs
lab boot h1 h2 h3
there() { echo env -i HOME="$HOME" PATH="$PATH" "$ftrun"; } # as a login there has it
# on HOST COMMAND...: ftrun there, to its end.
on() {
    call bash "$lib/lab.sh" in "$1" $(there) "${@:2}"
    what="ftrun ${*:2} on $1"
}
# aside_on NAME HOST COMMAND...: in the background; $!
aside_on() {
    lab in "$2" $(there) "${@:3}" >"$tmp/$1.out" 2>"$tmp/$1.err" </dev/null &
}
# The job's output and lines are apart from those of who asks.
starts() {
    begin "$@"
    mv "$tmp/out" "$tmp/job.out"
    mv "$tmp/err" "$tmp/job.err"
}
is_up() { "$ftrun" status 2>/dev/null | grep -q '^1 .*running .*on h2'; }
nodes() { find "$LAB"/h*/tmp/ftmpi-"$(id -u)" -name '*sock*' 2>/dev/null | wc -l; }

# ---- as on the first host ----
mkdir "$tmp/ranks"
starts -n 2 --host h1,h2 --lease 2 --job-name everywhere sh -c 'echo $FTMPI_JOB; echo $$ >"$0/$FTMPI_RANK"; i=0; while :; do i=$((i + 1)); echo "out $i $FTMPI_RANK"; sleep 0.05; done' "$tmp/ranks"
wait_for is_up
id=$("$ftrun" list | awk 'NR == 2 { print $1 }')
[ "$(sed -n '/^out/!p' "$tmp/job.out" | sort -u)" = "$id" ] || fail "FTMPI_JOB is not the job's id $id: $(sed -n '/^out/!p' "$tmp/job.out")"
for host in h1 h2; do
    on $host list
    expect_code 0
    [ "$(wc -l <"$tmp/out")" = 2 ] || fail "$what: $(cat "$tmp/out")"
    grep -q "^$id  *$front  *2 .* everywhere: sh -c .*(its ftrun is on host desk)$" "$tmp/out" || fail "$what: $(cat "$tmp/out")"
    on $host status "${id%??}"
    expect_code 0
    expect_err_lines 0
    grep -q "^job $id (everywhere, pid $front, host desk), 2 ranks" "$tmp/out" && grep -q '^0 .*on h1' "$tmp/out" && grep -q '^1 .*on h2' "$tmp/out" ||
        fail "$what: $(cat "$tmp/out")"
    on $host status --json everywhere
    "$ftrun" status --json >"$tmp/json"
    python3 -c 'import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert set(a) == set(b) and [r["host"] for r in a["per_rank"]] == ["h1", "h2"] and a["pid"] == b["pid"], a' "$tmp/out" "$tmp/json" || fail "$what"
done
on h3 list
expect_err 'no job of this user is running on this host'
on h2 status nonesuch
expect_code 3
# A number is that of a process here: the one on the other host is another one's.
on h2 status "$front"
expect_code 3
# Somebody else's sockets are nobody's to use.
[ "$(stat -c %a%u "$LAB"/h2/tmp/ftmpi-"$(id -u)" "$LAB"/h2/tmp/ftmpi-"$(id -u)"/*.sock | tr '\n' ' ')" = "700$(id -u) 600$(id -u) " ] || fail "sockets are open to others"
if [ "$(id -u)" = 0 ]; then
    call bash "$lib/lab.sh" in h2 setpriv --reuid 65534 --clear-groups env -i "$ftrun" status "$id"
    expect_code 3
    expect_err 'no job'
fi

# ---- attach, wait; the agents are killed meanwhile ----
aside_on attach h2 attach
attached=$!
aside_on wait h2 wait "$id"
waits=$!
wait_for grep -q 'out [0-9]* 0' "$tmp/attach.out"
wait_for grep -q 'out [0-9]* 1' "$tmp/attach.out"
[ "$(head -n 1 "$tmp/attach.out")" != "$id" ] || fail "attach shows what was printed before it"
before=$(nodes)
# Ranks know their pids in their host, so does ftrun there.
lab in h2 sh -c 'kill -KILL $(awk "/^PPid/ { print \$2 }" /proc/$(cat "$1")/status)' - "$tmp/ranks/1" || fail "cannot kill the agent on h2"
goes_on() { "$ftrun" status 2>/dev/null | grep -q '^1  *running'; }
wait_for goes_on
on h2 list
expect_code 0
grep -q "^$id .*2 .*its ftrun is on host desk" "$tmp/out" || fail "$what after its agent was killed: $(cat "$tmp/out")"
on h2 status
expect_code 0
[ "$(nodes)" = "$before" ] || fail "sockets: $(ls "$LAB"/h*/tmp/ftmpi-*)"
is_gone $attached && fail "attach ends with the agent"
is_gone $waits && fail "wait ends with the agent"

# ---- stop ----
on h2 stop
expect_code 0
expect_err_lines 0
ended
expect_code 143
for one in attach wait; do
    [ $one = wait ] && pid=$waits || pid=$attached
    until_true 60 is_gone "$pid" || fail "ftrun $one on h2 waits for ever"
    wait "$pid"
    code=$? what="ftrun $one on h2"
    expect_code 143
done
nothing_on h1 h2
[ "$(nodes)" = 0 ] || fail "sockets are left: $(ls "$LAB"/h*/tmp/ftmpi-*)"

# A code is told wherever one waits for it.
starts -n 2 --host h1,h2 --lease 2 sh -c 'until [ -e "$0" ]; do sleep 0.05; done; exit $((FTMPI_RANK * 7))' "$tmp/end"
wait_for is_up
aside_on wait h2 wait
waits=$!
wait_for eval '"$ftrun" status --json | grep -q "\"waiting\": 1"'
: >"$tmp/end"
ended
expect_code 7
wait $waits
code=$? what="ftrun wait on h2"
expect_code 7

# ---- the ftrun cannot be reached ----
starts -n 2 --host h1,h2 --lease 60 sleep 1000
wait_for is_up
id=$("$ftrun" list | awk 'NR == 2 { print $1 }')
aside_on wait h2 wait
waits=$!
wait_for eval '"$ftrun" status --json | grep -q "\"waiting\": 1"'
lab cut h2
on h2 status
expect_code 3
expect_err "^ftrun: job $id: its ftrun, on another host, cannot be reached: no answer within 3 s$"
expect_err_lines 1
grep -q "^job $id, 2 ranks; those on this host (h2), running for .*: sleep 1000" "$tmp/out" && grep -q '^1 .*running' "$tmp/out" || fail "$what: $(cat "$tmp/out")"
on h2 list
expect_code 0
grep -q "^$id .*its ftrun, on another host, cannot be reached" "$tmp/out" || fail "$what: $(cat "$tmp/out")"
on h2 stop
expect_code 3
expect_err 'cannot be reached'
# Who waits does not wait for ever.
until_true 60 is_gone $waits || fail "ftrun wait on a host that is cut off waits for ever"
wait $waits
code=$? what="ftrun wait on h2, cut off"
expect_code 3
mv "$tmp/wait.err" "$tmp/err"
expect_err "^ftrun: job $id: its ftrun, on another host, cannot be reached"
expect_err_lines 1
lab heal h2
kill -TERM "$front"
ended
nothing_on h1 h2
finish
