#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A signal that is handled at a reading of a clock, between locks, is given there in a replay (ticks.c). Replays passed such readings by, and took locks in
# another order: "came to a lock where there was a call", "made call write where there was a lock", or all threads waited for each other.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
lines=60
call "$built/ticks" $lines
expect_code 0
cp "$tmp/out" "$tmp/plain"
# killed SECONDS LINE...: so long is a snapshot good.
killed() {
    begin --timeout 60 --snapshot "$1" -n 1 "$built/ticks" $lines
    shift
    for line; do
        wait_for has_lines "$line" "$tmp/out"
        kill -KILL "$(pid_of_first)"
    done
    ended
    expect_code 0
    cmp "$tmp/out" "$tmp/plain" || { fail "$what, killed:" && diff "$tmp/out" "$tmp/plain" | head; }
    ! grep 'could not be followed\|prints something else' "$tmp/err" || fail "$what: a replay is another one"
}
killed 1000 10 30
killed 0.2 30 50
finish
