#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is killed while it waits, with its host or alone, has its whole time in its next life: it was once told at once that it is late, by
# a clock that had gone on without it. What was late stays late.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
program=$built/timeouts

# in_time DEATHS
in_time() {
    expect_code 0
    expect_out 'never 0' 'key 1'
    ! grep -q 'not what it was before' "$tmp/err" || fail "$what: a line was printed differently"
    expect_err "$1"
    rm -f "$tmp/again"
}
run -n 2 --snapshot off "$program" "$tmp/again" rank
in_time '(SIGKILL); restarted'
hosts a,b -n 2 --snapshot off "$program" "$tmp/again" rank
in_time '(SIGKILL); restarted'
hosts a,b -n 2 --snapshot off --survive host --lease 2 "$program" "$tmp/again" host
in_time 'its ranks start again there'
finish
