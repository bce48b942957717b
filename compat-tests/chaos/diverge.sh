#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A restarted rank that calls something else than its log holds: one line with rank, unit, both calls and both
# call sites; a non-zero exit; no hang (DESIGN, invariant 6).
. "$(dirname "$0")/../lib/test.sh"
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT
for what in operation count type root reduction fewer; do
    for ranks in 2 3; do
        bounded 120 "$ftrun" -n $ranks --quiet "$built/diverge" $what >"$tmp/out" 2>"$tmp/err"
        code=$?
        [ $code -ne 0 ] && [ $code -ne 124 ] && [ $code -ne 137 ] || fail "$what, $ranks ranks: exit code $code"
        [ "$(wc -l <"$tmp/err")" = 1 ] || { fail "$what, $ranks ranks: not one line:"; cat "$tmp/err"; }
        line=$(cat "$tmp/err")
        case $line in
        *"rank 1 "*"unit "[0-9]*MPI_*" at "*diverge+0x*MPI_*" at "*diverge+0x*) ;;
        *) fail "$what, $ranks ranks: the line does not say it all: $line" ;;
        esac
        sites=$(echo "$line" | grep -o 'diverge+0x[0-9a-f]*' | sort -u | wc -l)
        [ "$sites" = 2 ] || fail "$what, $ranks ranks: the two call sites are not told apart: $line"
        [ ! -s "$tmp/out" ] || fail "$what, $ranks ranks: the program went on"
        [ $ranks = 3 ] || echo "$what: $line"
    done
done
bounded 120 "$ftrun" -n 2 --quiet "$built/diverge" none >"$tmp/out" 2>"$tmp/err" || fail "the same calls: exit code $?"
[ ! -s "$tmp/err" ] || fail "the same calls: $(cat "$tmp/err")"
finish
