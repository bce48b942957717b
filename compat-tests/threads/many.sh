#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that makes more threads in its life than there are numbers for (4,095: log.h), a few at a time, and is killed among them: a number is used again
# when its thread has ended, and a replay, from the start and from a newer snapshot, gives it again in that order.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
for snapshot in 1000 0.05; do
    rm -f "$tmp/lines" "$tmp/go"
    begin --snapshot $snapshot -n 1 "$built/many" "$tmp/lines" "$tmp/go"
    for at in 4 10 14; do
        wait_for has_lines $at "$tmp/lines"
        kill -KILL "$(pid_of_first)"
        wait_for told 'restart [123]$'
    done
    : >"$tmp/go"
    ended
    expect_code 0
    ! told 'cannot go on\|no way back' || fail "$what: it was not followed all the time"
    [ "$(grep -c 'restarted' "$tmp/err")" = 3 ] || fail "$what: not three restarts"
    awk '{ exit $1 != $3 || $3 < 35000000 }' "$tmp/out" || fail "$what: $(cat "$tmp/out")"
done
finish
