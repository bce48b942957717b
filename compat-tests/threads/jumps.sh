#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that leaves handlers of signals by siglongjmp is where it was without (jumps.c): a killed rank waited for ever, for its time limits were blocked
# for good, or died of a fault that it handles. Undisturbed with snapshots made all the time, and killed, with newer snapshots and without.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
rounds=100
call "$built/jumps" $rounds
expect_code 0
cp "$tmp/out" "$tmp/plain"
grep -qx 'round 14: limit 1, fault 1, own 1, other 1, without 1, goes on 1' "$tmp/plain" || fail "plain: $(head -n 15 "$tmp/plain")"
grep -qx 'bad 0' "$tmp/plain" || fail "plain: $(tail -n 1 "$tmp/plain")"

run --timeout 60 --snapshot 0.02 -n 1 "$built/jumps" $rounds
expect_code 0
cmp "$tmp/out" "$tmp/plain" || { fail "$what, undisturbed:" && diff "$tmp/out" "$tmp/plain" | head; }

# killed SECONDS LINE...: so long is a snapshot good.
killed() {
    begin --timeout 60 --snapshot "$1" -n 1 "$built/jumps" $rounds
    shift
    for line; do
        wait_for has_lines "$line" "$tmp/out"
        kill -KILL "$(pid_of_first)"
    done
    ended
    expect_code 0
    cmp "$tmp/out" "$tmp/plain" || { fail "$what, killed:" && diff "$tmp/out" "$tmp/plain" | head; }
    ! grep 'could not be followed\|prints something else\|signal 11' "$tmp/err" || fail "$what: a replay is another one"
}
killed 0.02 12 23 34 55 76 87
# also after a handler that was left in the middle of a call, or a computation
[ "$(grep -c 'restarted from its snapshot' "$tmp/err")" -ge 2 ] || fail "$what: it has not come back from snapshots"
killed 1000 3
finish
