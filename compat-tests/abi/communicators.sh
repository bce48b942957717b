#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators on 1 to 4 ranks: made in every way, collectives on each, thousands made and freed; attributes, names, error handlers and
# hints, errors. What ends a job says why.
. "$(dirname "$0")/../lib/test.sh"
rounds=3000 many=20000
if quick; then rounds=600 many=4000; fi
for n in 1 2 3 4; do
    run -n $n "$built/communicators" -o -n $rounds
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ' rounds on five in turn: ' "$tmp/out")" = $n ] || { fail "$n ranks do not get to the end:"; tail -5 "$tmp/out"; }
    run -n $n "$built/attributes" -o
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ' 1 rounds$' "$tmp/out")" = $n ] || { fail "$n ranks do not get to the end:"; tail -5 "$tmp/out"; }
done
for options in "" "--snapshot off"; do
    [ -z "${sanitized-}" ] || continue # sanitizers keep what is freed
    # shellcheck disable=SC2086
    run -n 3 $options "$built/come_and_go" $many
    expect_code 0
    [ "$(grep -c 'come and gone' "$tmp/out")" = 3 ] || { fail "communicators that come and go leave something:"; tail -5 "$tmp/err"; }
done
finish
