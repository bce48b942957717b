#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank, and the agent, are killed at each of their system calls while checkpoints are made and loaded, one of them, or both one after
# the other, or together: what is printed is the same, each line once. FT_RUNS=N: so many runs; all: every stop.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99
sanitizers detect_leaks=0 # it cannot look at a traced process
killat=$top_builddir/compat-tests/agent/killat
program=$built/versions
how_many=40
if quick; then how_many=12; fi
how_many=${FT_RUNS:-$how_many}
seeded

one() { # OPTIONS PLAN...
    options=$1
    shift
    what="killat -r $r $*, $options"
    timeout -k 5 300 "$killat" -r "$r" "$@" "$ftrun" --stdin none $options -n 3 "$program" 4 >out 2>err 9>stops
    code=$?
}
expect_same() {
    [ "$code" = 0 ] || fail "$what: exit code $code"
    sort out | cmp -s - wanted || { fail "$what: output differs"; sort out | diff wanted - | head -5; }
    grep -q 'not what it was before' err && fail "$what: a line was printed differently"
}

runs=0
for options in '--snapshot off' '--snapshot 0.01'; do
    for r in 0 1; do
        one "$options"
        [ "$code" != 77 ] || skip "nothing can be traced here"
        [ "$code" = 0 ] && grep -q 'has made 4' out || fail "$what: undisturbed: exit code $code"
        sort out >wanted
        of_rank=$(sed -n 's/^rank //p' stops) of_agent=$(sed -n 's/^agent //p' stops)
        [ "$of_rank" -gt 20 ] && [ "$of_agent" -gt 20 ] || { fail "$what: $of_rank and $of_agent stops"; continue; }
        n=1
        if [ "$how_many" = all ]; then
            while [ $n -le "$of_rank" ]; do one "$options" rank:$n self; expect_same; n=$((n + 1)); done
            n=1
            while [ $n -le "$of_agent" ]; do one "$options" agent:$n self; expect_same; n=$((n + 1)); done
        fi
        while [ "$how_many" != all ] && [ $n -le $((how_many / 4)) ]; do
            random "$of_rank" && a=$((drawn + 1)) && random "$of_agent" && b=$((drawn + 1)) && random 200
            case $((n % 4)) in
            0) one "$options" rank:"$a" self agent:"$b" self ;;
            1) one "$options" rank:"$a" self rank:$((a + drawn + 1)) self ;;
            2) one "$options" agent:"$b" self+rank ;;
            3) one "$options" agent:"$b" ranks ;;
            esac
            expect_same
            n=$((n + 1))
            runs=$((runs + 1))
        done
    done
done
echo "$runs runs"
finish
