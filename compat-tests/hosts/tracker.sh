#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --xgboost-tracker over hosts: it is on that of rank 0, workers of others reach it there, and are told where the others are, also of those that came
# over loopback. One that is killed on another host while it waits goes on with its connection.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
python=/usr/bin/python3
export tmp
worker=$here/../agent/tracker.py
lab boot h1 h2 h3

run -n 6 --host h1:2,h2:2,h3:2 --xgboost-tracker -x tmp $python "$worker" ranks
expect_code 0
expect_err_lines 0
[ "$(grep -c round "$tmp/out")" = 18 ] || fail "not all have had three rounds"
for host in h1 h2 h3; do
    address=$(getent ahostsv4 $host | sed -n '1s/ .*//p')
    [ "$(grep -c "next is on \($host\|$address\)\$" "$tmp/out")" = 6 ] || { fail "not told where $host is" && sort "$tmp/out" | uniq -c; }
done
# Rank 0 need not be on the first host.
run -n 3 --host h2,h1,h3 --xgboost-tracker -x tmp sh -c 'echo $RANK $DMLC_TRACKER_URI; echo $MASTER_ADDR $MASTER_PORT >$tmp/at.$RANK'
expect_code 0
sorted
expect_out '0 h2' '1 h2' '2 h2'
# Nor MASTER_PORT another one on each host. (It was.)
[ "$(sort -u "$tmp"/at.* | wc -l)" = 1 ] || fail "MASTER_ADDR, MASTER_PORT: $(cat "$tmp"/at.*)"

begin -n 3 --host h1,h2,h3 --xgboost-tracker -vv -x tmp $python "$worker" killed
wait_for [ -e "$tmp/ftrun" ]
: >"$tmp/go"
ended
expect_code 0
[ "$(grep -c "done" "$tmp/out")" = 3 ] || fail "not all have been told of each other"
expect_err 'rank 1 .*; restarted, restart 1'
! told 'its program is started' || fail "rank 1 began anew"
nothing_on h1 h2 h3
finish
