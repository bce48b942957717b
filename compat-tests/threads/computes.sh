#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A thread that computes when a replay ends, and makes no call, gets the signals that come from then on: from another thread, or from outside. It had them
# blocked until its next call, and computed for ever. Both put back from a newer snapshot, and after that in a replay from there.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
taken() { "$ftrun" status --json 2>/dev/null | tr -d '\n ' | sed -n 's/.*"taken":\([0-9]*\).*/\1/p'; }
has_taken() { [ "$(taken)" -ge "$1" ] 2>/dev/null; }

# die N: the rank, once it has a newer snapshot; it is back from that.
die() {
    wait_for has_taken $(($(taken) + 3))
    kill -KILL "$(pid_of_first)"
    wait_for told "restarted from its snapshot, restart $1\$"
}

begin --timeout 60 --snapshot 0.02 -n 1 "$built/computes" "$tmp/lines" "$tmp/go"
wait_for has_lines 1 "$tmp/lines"
die 1
die 2
: >"$tmp/go.1"
wait_for has_lines 2 "$tmp/lines"
die 3
die 4
kill -USR1 "$(pid_of_first)"
ended
expect_code 0
printf 'another thread: 1\nmain: 1\n' | cmp - "$tmp/out" || fail "$what: $(cat "$tmp/out")"
finish
