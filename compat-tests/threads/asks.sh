#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program asks of itself is the same under snapshots, in replays, and after them (asks.c): signals' masks in handlers, faults that a handler mends, a
# thread's name and stack, signals that wait, the user of each thread. Undisturbed with snapshots made all the time, and killed, with newer snapshots and without.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
rounds=40
call "$built/asks" $rounds
expect_code 0
cp "$tmp/out" "$tmp/plain"
grep -qx 'round 7: mask 1, faults 1, stack 1, waits 1, user 1' "$tmp/plain" || fail "plain: $(head -n 3 "$tmp/plain")"

run --timeout 60 --snapshot 0.02 -n 1 "$built/asks" $rounds
expect_code 0
cmp "$tmp/out" "$tmp/plain" || { fail "$what, undisturbed:" && diff "$tmp/out" "$tmp/plain" | head; }

# killed SECONDS LINE...: so long is a snapshot good; then all is asked in replays, too.
killed() {
    begin --timeout 60 --snapshot "$1" -n 1 "$built/asks" $rounds
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
killed 0.02 5 12 19 26
told 'restarted from its snapshot' || fail "$what: it has not come back from a snapshot"
killed 1000 5 19
finish
