#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signals that the process which the user started passes on to the one that runs the job. One that
# the agent has taken is a deed before it asks for the next (twin.h). Posted and not done, it was
# lost with the agent; and forty of them, posted while the agent stood still, were too many.
. "$(dirname "$0")/../lib/test.sh"
needs strace
cd "$tmp" || exit 99

# begin_ranks N SHELL-COMMAND [OPTION...]: sets agent
begin_ranks() {
    ranks=$1 what_they_do=$2
    shift 2
    rm -f pids
    begin "$@" -n "$ranks" sh -c "echo \$\$ >>pids; $what_they_do"
    wait_for has_lines "$ranks" pids
    wait_for answers "$front"
    agent=$(other_process "$front")
}

# The agent is killed as it asks whether there is another one.
begin_ranks 2 'exec sleep 300'
strace -o calls -p "$agent" -e trace=recvmsg -e inject=recvmsg:signal=KILL:when=2 2>attached &
tracer=$!
wait_for grep -q attached attached
kill -TERM "$front"
ended 60
expect_code 143
expect_err 'told to stop by signal 15'
wait "$tracer"
[ "$(grep -c '^recvmsg' calls)" -ge 2 ] || fail "the agent was not killed where it was to be: $(cat calls)"

# The agent stands still, and somebody is impatient.
begin_ranks 1 'trap "" TERM; while :; do sleep 0.2; done' --grace 60
kill -STOP "$agent"
wait_for is_stopped "$agent"
# A signal that is pending already is none: each is passed on before the next. Neither is one that
# the same process sends twice at a time (signals.h): each is another's.
is_taken() { ! grep -q '^ShdPnd:.*[4-7c-f]...$' "/proc/$1/status"; }
for _ in $(seq 40); do
    sh -c 'kill -TERM "$0"' "$front"
    wait_for is_taken "$front"
done
kill -CONT "$agent"
ended 30
expect_code 143
! told 'broken invariant' || fail "$what: the agent was ended by what it was told"
finish
