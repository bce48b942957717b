#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes, nested at random, against a list of all their basic elements: fixed seeds.
. "$(dirname "$0")/../lib/test.sh"
types=4000
if quick; then types=1000; fi
# sent RANKS TYPES SEED
sent() {
    run -n "$1" "$built/sent_types" -o -n "$2" -s "$3"
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ' types are sent$' "$tmp/out")" = "$1" ] || fail "$1 ranks do not get to the end"
}
for seed in 1 2 3; do
    run -n 1 "$built/types" -o -n $types -s $seed
    expect_code 0
    expect_err_lines 0
    [ "$(wc -l <"$tmp/out")" -gt $((types / 2)) ] || fail "seed $seed: types.c looks at too few types"
    sent 1 $types $seed
done
for n in 2 3; do
    sent $n $((types / 4)) $n
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
