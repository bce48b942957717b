#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank with a dozen threads, which pass a baton around and race for descriptors (test/relay.c), is killed at any time and put back from snapshot
# zero or from a newer one, also in the replay. What it prints and the files that it leaves are those of the undisturbed run.
# FT_SEEDS=N: N seeds instead of 12 (quick tier: 4). FT_SEED=N: the first one. FT_WRONG=N: ends when so many are wrong (5).
set -u
build=${top_builddir:-.}
agent=$build/outcome_agent relay=$build/outcome_relay rounds=150
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM
runs=0 bad=0 kills=0 newer=0 zero=0

word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$work/err" | grep . || echo 0; }

mkdir "$work/expected" && "$relay" "$work/expected" $rounds >"$work/expected.out" || exit 1
seeds=${FT_SEEDS:-$([ "${FT_TIER-}" = quick ] && echo 4 || echo 12)}
for seed in $(seq "${FT_SEED:-1}" $((${FT_SEED:-1} + seeds - 1))); do
    for way in "-k 2 -t 25000" "-k 4 -t 60000" "-k 3 -t 25000 -c 3000" "-k 4 -t 12000 -c 1000"; do
        rm -rf "$work/d" && mkdir "$work/d"
        # shellcheck disable=SC2086
        timeout 60 "$agent" -s "$seed" $way "$relay" "$work/d" $rounds >"$work/out" 2>"$work/err" </dev/null
        code=$?
        runs=$((runs + 1)) kills=$((kills + $(word kills))) newer=$((newer + $(word named))) zero=$((zero + $(word zero)))
        if [ "$code" != 0 ] || ! tail -n 1 "$work/err" | grep -q '^code 0 .* lost 0' || ! cmp "$work/out" "$work/expected.out" ||
            ! diff -r "$work/d" "$work/expected"; then
            bad=$((bad + 1))
            echo "FAIL: outcome_agent -s $seed $way outcome_relay DIRECTORY $rounds: code $code"
            tail -n 2 "$work/err"
            [ "$bad" -lt "${FT_WRONG:-5}" ] || exit 1
        fi
    done
done
echo "$runs runs, $kills kills: put back from a newer copy $newer times, from snapshot zero $zero times; $bad wrong"
[ "$bad" = 0 ] && [ "$newer" -gt $((runs / 4)) ] && [ "$zero" -gt $((runs / 8)) ]
