#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A function of the program's own in a reduction may ask the system for things. A replay, which has the result, does not call it: it came to other
# calls than were recorded, and the rank had no way back.
. "$(dirname "$0")/../lib/test.sh"
for rank in 0 1 2 3; do
    run --snapshot 100 -n 4 "$built/functions" $rank
    expect_code 0
    [ "$(grep -cx 160 "$tmp/out")" = 4 ] || fail "$what: $(cat "$tmp/out")"
    expect_err "rank $rank .*killed by signal 9 (SIGKILL); restarted, restart 1"
    ! told 'could not be followed' || fail "$what: its replay differs"
done
finish
