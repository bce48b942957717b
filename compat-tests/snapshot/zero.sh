#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Snapshot zero is zero, however late ftrun gets to see it: it is what a rank goes back to that is killed soon after its start, and
# that is told as a start. (A busy ftrun saw it when the rank was in MPI, and took it for a later one: the tour said now this, now that.)
. "$(dirname "$0")/../lib/test.sh"
run --report "$tmp/report" -n 1 "$built/zero"
expect_code 0
expect_out '1 rank, from zero'
expect_err 'rank 0 .*killed by signal 9 (SIGKILL); restarted, restart 1'
expect_err_lines 2
grep -q '"way_back": "start"' "$tmp/report" || fail "$what: $(grep way_back "$tmp/report")"
finish
