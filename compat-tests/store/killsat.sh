#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The job's store: a rank, or the agent, which answers, is killed at one of its system calls while ranks add, compare, set and wait. Each number is
# given once, and the counters are right. FT_RUNS=N: so many runs; all: every stop.
. "$(dirname "$0")/../lib/test.sh"
uses stops
job="-n 3 $built/ticks 8"
seeded
seq 24 >numbers
snapshots=0

as_ever() {
    [ "$code" = 0 ] || fail "$what: exit code $code"
    grep -q 'not what it was before' err && fail "$what: a line was printed differently"
    for word in ticket swap; do
        sed -n "s/.* $word //p" out | sort -n | cmp -s - numbers || fail "$what: \"$word\" is not each number once"
    done
    grep -q '^rank 0: count 24$' out && grep -q '^rank 0: swaps 24$' out || fail "$what: $(grep '^rank 0:' out | tr '\n' ' ')"
    if grep -q "restarted from its snapshot" err; then snapshots=$((snapshots + 1)); fi
}
undisturbed() { as_ever; }

for options in '--snapshot off' '--snapshot 0.005'; do
    walk 1 "$options" "$(some 24 2)"
done
# shellcheck disable=SC2154
echo "$runs runs, $snapshots with a way back by a snapshot"
if records && [ $snapshots = 0 ]; then fail "no rank went on from a snapshot"; fi
finish
