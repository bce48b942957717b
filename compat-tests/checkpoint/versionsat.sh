#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank, and the agent, are killed at each of their system calls while checkpoints are made and loaded, one of them, or both one after
# the other, or together: what is printed is the same, each line once. FT_RUNS=N: so many runs; all: every stop.
. "$(dirname "$0")/../lib/test.sh"
uses stops
job="--stdin none -n 3 $built/versions 4"
many=40
if quick; then many=12; fi
seeded

undisturbed() {
    [ "$code" = 0 ] && grep -q 'has made 4' out || fail "$what: undisturbed: exit code $code"
    sort out >wanted
}
as_ever() {
    [ "$code" = 0 ] || fail "$what: exit code $code"
    sort out | cmp -s - wanted || { fail "$what: output differs"; sort out | diff wanted - | head -5; }
    grep -q 'not what it was before' err && fail "$what: a line was printed differently"
}

for options in '--snapshot off' '--snapshot 0.01'; do
    for rank in 0 1; do
        walk $rank "$options" "$(some $many 4)"
    done
done
# shellcheck disable=SC2154
echo "$runs runs"
finish
