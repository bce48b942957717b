#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# XGBoost runs on ftmpi and on its own engine and tracker, on little data, and both are timed.
. "$(dirname "$0")/../lib/test.sh"
/usr/bin/python3 -c 'import xgboost.tracker' 2>/dev/null || skip "no python3-xgboost"
report=$tmp/report
ranks=2
quick || ranks=2,3
bounded 120 "$top_srcdir/benchmarks/xgboost" --build "$top_builddir" --small --repeat 1 -n $ranks --report "$report" >"$tmp/out" 2>&1 ||
    { fail "xgboost: code $?"; cat "$tmp/out"; }
for variant in ftmpi "Rabit and its tracker"; do
    for part in total training; do
        grep -q "^xgboost,$variant,ranks,2,$part,s,1,[0-9.]*[1-9]" "$report/xgboost.csv" || fail "no row of $variant, $part"
    done
done
# Two ranks add up in one order only.
grep -q '^ 2 ranks: .* the same model; ' "$tmp/out" || { fail "the models differ"; cat "$tmp/out"; }
grep -q '<h2>Xgboost</h2>' "$report/index.html" || fail "the report"
# An engine that is not there is no result.
bounded 120 "$top_srcdir/benchmarks/xgboost" --build "$top_builddir" --small --repeat 1 -n 2 --ftrun-arg=--max-restarts=x --report "$report" >"$tmp/out" 2>&1 &&
    fail "a job that did not run passed"
# A wrong list of ranks: one line. (A traceback once.)
bounded 120 "$top_srcdir/benchmarks/xgboost" --build "$top_builddir" -n 2,x --report "$report" >"$tmp/out" 2>&1
[ $? = 2 ] || fail "-n 2,x: not refused"
grep -q '^xgboost: error: argument -n/--ranks: ' "$tmp/out" || { fail "-n 2,x"; cat "$tmp/out"; }
finish
