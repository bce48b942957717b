#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The job's store: a rank, or the agent, which answers, is killed at one of its system calls while ranks add, compare, set and wait. Each number is
# given once, and the counters are right. FT_RUNS=N: so many runs; all: every stop.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99
sanitizers detect_leaks=0 # it cannot look at a traced process
killat=$top_builddir/compat-tests/agent/killat
program=$built/ticks
how_many=${FT_RUNS:-24}
seeded
seq 24 >numbers

one() { # OPTIONS PLAN...
    options=$1
    shift
    what="killat -r 1 $*, $options"
    # shellcheck disable=SC2086
    timeout -k 5 60 "$killat" -r 1 "$@" "$ftrun" $options -n 3 "$program" 8 >out 2>err 9>stops
    code=$?
    grep -q "restarted from its snapshot" err && snapshots=$((snapshots + 1))
}
exact() {
    [ "$code" = 0 ] || fail "$what: exit code $code"
    grep -q 'not what it was before' err && fail "$what: a line was printed differently"
    for word in ticket swap; do
        sed -n "s/.* $word //p" out | sort -n | cmp -s - numbers || fail "$what: \"$word\" is not each number once"
    done
    grep -q '^rank 0: count 24$' out && grep -q '^rank 0: swaps 24$' out || fail "$what: $(grep '^rank 0:' out | tr '\n' ' ')"
}

runs=0 snapshots=0
for options in '--snapshot off' '--snapshot 0.005'; do
    one "$options"
    [ "$code" != 77 ] || skip "nothing can be traced here"
    exact
    of_rank=$(sed -n 's/^rank //p' stops) of_agent=$(sed -n 's/^agent //p' stops)
    [ "${of_rank:-0}" -gt 20 ] && [ "${of_agent:-0}" -gt 20 ] || { fail "$what: $of_rank and $of_agent stops"; continue; }
    n=1
    if [ "$how_many" = all ]; then
        while [ $n -le "$of_rank" ]; do one "$options" rank:$n self; exact; n=$((n + 1)); done
        n=1
        while [ $n -le "$of_agent" ]; do one "$options" agent:$n self; exact; n=$((n + 1)); done
    fi
    while [ "$how_many" != all ] && [ $n -le $((how_many / 2)) ]; do
        random "$of_rank" && a=$((drawn + 1)) && random "$of_agent" && b=$((drawn + 1)) && random 100
        case $((n % 4)) in
        0) one "$options" rank:"$a" self agent:"$b" self ;;
        1) one "$options" rank:"$a" self rank:$((a + drawn + 1)) self ;;
        2) one "$options" agent:"$b" self+rank ;;
        3) one "$options" agent:"$b" ranks ;;
        esac
        exact
        n=$((n + 1))
        runs=$((runs + 1))
    done
done
echo "$runs runs, $snapshots with a way back by a snapshot"
if records && [ $snapshots = 0 ]; then fail "no rank went on from a snapshot"; fi
finish
