#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun is two processes, and either may be killed: the job goes on, and ranks that die later come back.
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # ranks add their pids to a file
cd "$tmp" || exit 99
own_jobs

# Two ranks that print lines, the last ones when they are told to go on, and tell their pids; rank 1 dies once, late.
cat >job <<'E'
echo $$ >>pids
i=0
while [ $i -lt 15 ]; do
    echo "rank $FTMPI_RANK line $i"
    i=$((i + 1))
    while [ $i = 10 ] && [ ! -e go ]; do sleep 0.05; done
    sleep 0.05
    [ "$FTMPI_RANK.$FTMPI_INCARNATION.$i$calm" = 1.0.12 ] && kill -9 $$
done
echo "$FTMPI_RANK" >>ends
E

begin_as= # a command that runs another
begin_two() { # options of ftrun
    rm -f pids ends go
    what="ftrun $*"
    timeout --foreground -k 5 120 sh -c 'echo $$ >front; exec "$@"' sh $begin_as "$ftrun" "$@" -n 2 sh job >out 2>err &
    job=$!
    wait_for has_lines 2 pids
    front=$(cat front)
    second=$(other_process "$front")
    [ -n "$second" ] || fail "ftrun is one process"
    [ -n "$begin_as" ] || wait_for answers "$front"
}
go_on() { : >go; }
# Every line of both ranks once, in each rank's order.
check_output() {
    for r in 0 1; do
        grep "rank $r " out | cmp -s - "lines.$r" || fail "$what: the output of rank $r is not what it should be: $(grep -c "rank $r " out) lines"
    done
    all_gone pids || fail "$what: ranks are left"
}
check_code() { [ "$1" = "$2" ] || fail "$what: exit code $1, not $2"; }
# Another one than $2 belongs to process $1.
has_other() { other=$(other_process "$1") && [ -n "$other" ] && [ "$other" != "$2" ]; }
for r in 0 1; do seq 0 14 | sed "s/^/rank $r line /" >lines.$r; done

begin_two
kill -9 "$second"
wait_for grep -q 'goes on with it' err
go_on
wait $job || fail "agent killed: exit code $?"
check_output
grep -q "was killed by signal 9 (SIGKILL); process $front goes on with it" err || fail "agent killed: not told"
grep -q 'rank 1 .*was killed by signal 9 (SIGKILL); restarted, restart 1$' err || fail "agent killed: rank 1 was not restarted, or more often"
[ "$(grep -c 'restarted' err)" = 1 ] || fail "agent killed: other ranks were restarted"

# Again and again, whoever is the agent: there is a new second process within a second.
begin_two
for i in 1 2 3 4; do
    kill -9 "$second"
    wait_for has_other "$front" "$second" || break
    second=$other
done
go_on
wait $job || fail "four second processes killed: exit code $?"
check_output

# The process that the user started: its output goes where it did, and the other one ends the job.
begin_two
kill -9 "$front"
wait $job
check_code $? 137
go_on
wait_for has_lines 2 ends
wait_for is_gone "$second"
check_output
grep -q "process $front of ftrun is gone; process $second goes on with the job" err || fail "front killed: not told"

# Then its successor, too: the ranks have no parent of ours any more.
begin_two
kill -9 "$front"
wait $job
wait_for has_other "$second" "$front"
third=$other
kill -9 "$second"
go_on
wait_for has_lines 2 ends
wait_for is_gone "$third"
check_output

# Those who want the opposite.
for victim in front second; do
    begin_two --die-with-launcher
    case $victim in front) kill -9 "$front" ;; *) kill -9 "$second" ;; esac
    wait $job
    code=$?
    [ $code != 0 ] || fail "--die-with-launcher, $victim killed: exit code 0"
    wait_for all_gone pids
    grep -q 'the job is ended (--die-with-launcher)' err || fail "--die-with-launcher, $victim killed: not told"
done

# No second process is to be had: told once, tried again, and the job goes on meanwhile. (Root has no such limit.)
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups test -x "$ftrun"; then
    chmod 777 . && rm -f out err && : >out && : >err && chmod 666 out err job
    nobody="setpriv --reuid=65534 --clear-groups"
    begin_as=$nobody
    begin_two -x calm=1 # a rank that died could not be started again
    begin_as=
    most=$(awk '/^Max processes/ {print $3}' "/proc/$second/limits")
    $nobody prlimit --pid "$second" --nproc=1:
    kill -9 "$front"
    wait $job
    wait_for grep -q 'it is tried again$' err
    sleep 0.3
    ! has_other "$second" "$front" || fail "a process in spite of the limit"
    $nobody prlimit --pid "$second" --nproc="$most":
    wait_for has_other "$second" "$front"
    go_on
    wait_for has_lines 2 ends
    wait_for is_gone "$second"
    check_output
    [ "$(grep -c 'it is tried again$' err)" = 1 ] || fail "no second process: not told once"
fi

# Signals reach the job through either process, and count once.
begin_two
kill -TERM "$second"
wait $job
check_code $? 143
wait_for all_gone pids
begin_two
kill -9 "$second"
wait_for grep -q 'goes on with it' err
kill -TERM "$front"
wait $job
check_code $? 143
wait_for all_gone pids
finish
