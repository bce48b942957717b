#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that goes on from a copy is told the times that its predecessor was told, or, with --replay-time off, what time it is.
. "$(dirname "$0")/../lib/test.sh"
run -n 1 "$built/clocks"
expect_code 0
expect_err 'killed by signal 9 (SIGKILL); restarted, restart 1'
expect_err_lines 2
[ "$(wc -l <"$tmp/out")" = 1 ] || fail "$what: not one line"
run --replay-time off -n 1 "$built/clocks"
expect_code 0
expect_err 'what it writes again to descriptor 1 differs from before, and is dropped'
[ "$(wc -l <"$tmp/out")" = 1 ] || fail "$what: not one line"
run --replay-time never -n 1 true
expect_code 2
expect_err 'wanted: on|off'
finish
