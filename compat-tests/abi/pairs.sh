#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Predefined pairs are structs of two to all that moves data.
. "$(dirname "$0")/../lib/test.sh"
for n in 1 2 3; do
    run -n $n "$built/pairs"
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ': as it should be$' "$tmp/out")" = $n ] || fail "pairs.c: $n ranks do not get to the end"
    grep -q '^MPI_SHORT_INT: 6 bytes, data in \[0, 8)$' "$tmp/out" || fail "the bounds of a pair are not those of a struct"
done
grep -q '^2: 9, 3$' "$tmp/out" || fail "the program's function reduces pairs wrongly"
finish
