#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that dies and leaves a core goes on from its snapshot. ("It makes system calls by itself, 1163 of those that write so far": those
# are the kernel's, which writes the core as if the process did.)
. "$(dirname "$0")/../lib/test.sh"
own_jobs
cd "$tmp" || exit 99
ulimit -c unlimited 2>/dev/null || exit 77
begin --snapshot 0.05 -n 2 "$top_builddir/compat-tests/agent/hog" 1:go
taken() { [ "$("$ftrun" status --json 2>/dev/null | tr -d ' ' | grep -c '"last_snapshot_unit":[1-9]')" = 2 ]; }
wait_for taken
kill -ABRT "$(pid_of_first)"
wait_for told 'killed by signal 6 (SIGABRT); restarted'
: >go
ended
expect_code 0
told 'restarted from its snapshot, restart 1' || fail "$what: not from its snapshot: $(cat "$tmp/err")"
! told 'goes past' || fail "$what: the kernel's calls are taken for its own"
ls core* >/dev/null 2>&1 || skip "no core was left here"
finish
