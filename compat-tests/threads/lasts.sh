#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is killed while its threads wait for descriptors, and a time, waits for what is left of that, whether it goes on from a newer snapshot or from
# the start. All but sleeps began anew: killed often enough, they never ended.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
for snapshot in 1000 0.05; do
    rm -f "$tmp/lines"
    begin --timeout 60 --snapshot $snapshot -n 1 "$built/lasts" "$tmp/lines"
    wait_for has_lines 1 "$tmp/lines"
    sleep 3
    killed=$(date +%s%3N)
    kill -KILL "$(pid_of_first)"
    ended
    expect_code 0
    told 'restart 1$' || fail "$what: it was not killed"
    # One that began anew would end 4 s after that.
    awk -v killed="$killed" '$2 - killed >= 3500 { print; late = 1 } END { exit late || NR != 7 }' "$tmp/out" || fail "$what: killed at $killed: $(cat "$tmp/out")"
done
finish
