#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What benchmarks/faults measures adds up: the parts of a recovery make its whole, kills are restarts, and every line is there.
. "$(dirname "$0")/../lib/test.sh"
report=$tmp/report
only="--only recovery,replay,checkpoints,kills"
! full || only=
bounded 600 "$top_srcdir/benchmarks/faults" --build "$top_builddir" --how tiny --repeat 1 $only --report "$report" >"$tmp/out" 2>&1 ||
    { fail "faults: code $?"; cat "$tmp/out"; }
# measure,variant,x_name,x,part,unit,run,value
awk -F, '
    $1 == "recovery" && $5 == "total" { total[$2] = $8 }
    $1 == "recovery" && $5 != "total" { sum[$2] += $8; parts[$2]++ }
    $1 == "replay rate" && $8 > 0 { rates++ }
    $1 == "overhead of checkpoints" && $5 == "total" && $8 > 0 { checkpoints++ }
    $1 == "recovery from a checkpoint" && $8 > 0 { checkpoints++ }
    $1 == "progress under kills" { got[$5, $2, $4] = $8 }
    function bad(text) { print text; failed = 1 }
    END {
        if (parts["start"] != 6 || parts["snapshot"] != 4) bad("parts of a recovery: " parts["start"] ", " parts["snapshot"])
        for (way in total) if (sum[way] < 0.98 * total[way] || sum[way] > 1.02 * total[way]) bad(way ": " sum[way] " ms of " total[way])
        if (checkpoints != 5) bad(checkpoints " lines of checkpoints")
        if (rates != 4) bad(rates " replay rates")
        split("start snapshot", ways, " ")
        for (i in ways) {
            if (got["total", ways[i], 0] <= 0 || got["total", ways[i], 4] <= 0) bad("no progress, " ways[i])
            if (got["restarts", ways[i], 0] != 0) bad("restarts without kills")
            if (got["restarts", ways[i], 4] < 1 || got["restarts", ways[i], 4] > got["kills", ways[i], 4]) bad("kills and restarts, " ways[i])
        }
        exit failed
    }' "$report/faults.csv" || { fail "the figures do not add up"; cat "$report/faults.csv"; }
grep -q '<h2>Recovery</h2>' "$report/index.html" || fail "the report"
! command -v gnuplot >/dev/null || grep -q 'src="recovery-parts.svg"' "$report/index.html" || fail "the picture of a recovery's parts"
bounded 120 "$top_srcdir/benchmarks/faults" --build "$top_builddir" --only nothing >"$tmp/out" 2>&1 && fail "--only nothing was accepted"
# What `figures` prints: a line of numbers for each heading's sizes.
if ! quick; then
    bounded 300 "$top_srcdir/benchmarks/figures" --build "$top_builddir" --tables --small --repeat 1 >"$tmp/out" 2>&1 || fail "figures: code $?"
    [ "$(grep -c "^[0-9].* [0-9.]* ([0-9.]* to [0-9.]*).* ratio [0-9.]* " "$tmp/out")" = 6 ] || { fail "figures --tables: ratios"; cat "$tmp/out"; }
    [ "$(grep -c "^[12] ranks, 1/[0-9]* MiB  *-*[0-9.]* (.*) *[0-9.]* (" "$tmp/out")" = 4 ] || { fail "figures --tables: costs"; cat "$tmp/out"; }
fi
finish
