#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that dies while a debugger has it is dead for its parent only when the debugger lets go: until then ftrun waits, then the rank
# is restarted. (The agent spun: the rank's pidfd was readable, and there was nothing to wait for.)
. "$(dirname "$0")/../lib/test.sh"
needs python3
own_jobs
cd "$tmp" || exit 99
is_there() { [ -s "$1" ]; }
state() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"; }
is_in() { [ "$(state "$2")" = "$1" ]; }
is_traced() { [ "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$1/status")" != 0 ]; }

timeout -k 5 120 "$ftrun" --snapshot off -n 2 sh -c 'echo $$ >pid.$FTMPI_RANK.$FTMPI_INCARNATION; while [ ! -e end ]; do sleep 0.05; done; echo done' >out 2>err &
job=$! what="a traced rank"
wait_for is_there pid.0.0
wait_for is_there pid.1.0
rank=$(cat pid.1.0)
agent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$rank/stat")
# PTRACE_SEIZE, and never a wait
python3 -c 'import ctypes, sys, time
ctypes.CDLL(None).ptrace(0x4206, ctypes.c_long(int(sys.argv[1])), None, None)
time.sleep(1000)' "$rank" &
tracer=$!
wait_for is_traced "$rank"
kill -9 "$rank"
wait_for is_in Z "$rank"
# An agent that spins gets as much of a processor as any other process that does.
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
before=$(ticks "$agent")
sh -c 'while :; do :; done' &
spinner=$!
has_spun() { [ "$(ticks $spinner)" -ge 40 ]; }
wait_for has_spun
kill $spinner
[ $(($(ticks "$agent") - before)) -lt 20 ] || fail "$what: the agent has run for $(($(ticks "$agent") - before)) ticks, one that spins for 40"
[ ! -e pid.1.1 ] || fail "$what: restarted before it could be reaped"
kill -9 $tracer
wait_for is_there pid.1.1
: >end
wait $job
code=$?
expect_code 0
grep -q 'rank 1 .*was killed by signal 9 (SIGKILL); restarted' err || fail "$what: says $(cat err)"
[ "$(cat out)" = "done
done" ] || fail "$what: prints $(cat out)"
finish
