#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes, nested at random, against a list of all their basic elements: fixed seeds.
. "$(dirname "$0")/../lib/test.sh"
types=4000
if quick; then types=1000; fi
for seed in 1 2 3; do
    run -n 1 "$built/types" -o -n $types -s $seed
    expect_code 0
    expect_err_lines 0
    [ "$(wc -l <"$tmp/out")" -gt $((types / 2)) ] || fail "seed $seed: types.c looks at too few types"
done
for n in 2 3; do
    run -n $n "$built/types" -o -n $((types / 4)) -s $n
    expect_code 0
    expect_err_lines 0
done
# Sent and received.
for n in 1 2 3; do
    run -n $n "$built/scattered"
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ': all received$' "$tmp/out")" = $n ] || fail "$n ranks do not get to the end"
    run -n $n "$built/bounds" -o
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ': as it should be$' "$tmp/out")" = $n ] || fail "bounds.c: $n ranks do not get to the end"
done
finish
