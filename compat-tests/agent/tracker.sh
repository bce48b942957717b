#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --xgboost-tracker: workers get the ranks of the job; what is no worker is told and disturbs nobody; a rank, or a process of ftrun, that is
# killed in the middle is not noticed. (With the real XGBoost: compat-tests/xgboost3.)
. "$(dirname "$0")/../lib/test.sh"
python=/usr/bin/python3
export tmp
worker=$here/tracker.py

run -n 12 --xgboost-tracker $python "$worker" ranks
expect_code 0
[ "$(grep -c round "$tmp/out")" = 36 ] || fail "not all have had three rounds"
expect_err_lines 0

# What the user has set does not count, and without the option nothing is set: XGBoost 1.7 would wait for what it names.
run -n 1 --xgboost-tracker -x DMLC_TRACKER_PORT=1 sh -c 'echo $DMLC_TRACKER_URI; [ $DMLC_TRACKER_PORT -gt 1 ]'
expect_code 0
expect_out 127.0.0.1
# Nobody has come: each rank has trained alone. (Nothing was said of it.)
expect_err '--xgboost-tracker: no rank has used it'
expect_err_lines 1
run -n 1 sh -c 'echo "[$DMLC_TRACKER_URI$DMLC_TRACKER_PORT]"'
expect_out '[]'

run -n 4 --xgboost-tracker -v $python "$worker" wrong
expect_code 0
for why in 'it does not begin as one' 'the length of what it says cannot be' 'what it says is no JSON object' 'it does not say who it is' 'its command is none'; do
    expect_err "--xgboost-tracker: 127.0.0.1:[0-9]* is no worker of XGBoost's: $why; its connection is closed"
done
expect_err '--xgboost-tracker: worker "0" at 127.0.0.1:[0-9]* is one of 5, and the job has 4 ranks'
expect_err "--xgboost-tracker: worker \"1\" at 127.0.0.1:[0-9]* starts, but the job's 4 workers are at work"
[ "$(grep -c 'is no worker' "$tmp/err")" = 8 ] || fail "not one line for each that is no worker"
[ "$(grep -c '^from' "$tmp/out")" = 3 ] || fail "print is not printed"
[ "$(grep '^a long' "$tmp/out" | wc -c)" = 100013 ] || fail "a long print is not printed"
[ "$(grep -c 'again' "$tmp/out")" = 4 ] || fail "they were disturbed"

run -n 3 --xgboost-tracker $python "$worker" error
expect_code 1
expect_err 'worker 1 ("1", 127.0.0.1) of XGBoost has reported an error: it is wrong (code 7); the job is ended'
expect_err_lines 1

# Where ranks are not recorded one that is killed begins anew, and its connection with it.
if records; then
    begin -n 4 --xgboost-tracker -vv $python "$worker" killed
    wait_for [ -e "$tmp/ftrun" ]
    kill -KILL "$(other_process "$front")"
    wait_for told 'goes on with it'
    : >"$tmp/go"
    ended
    expect_code 0
    [ "$(grep -c "done" "$tmp/out")" = 4 ] || fail "not all have been told of each other"
    [ "$(grep -c '^from' "$tmp/out")" = 4 ] || fail "a print is missing, or there twice"
    expect_err 'rank 1 .*; restarted, restart 1'
    ! told 'its program is started' || fail "rank 1 began anew"
fi
finish
