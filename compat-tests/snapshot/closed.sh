#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A snapshot that has been closed is none to go on from. (A rank that had opened a socket "gets no newer snapshot ...; if it is killed it
# goes on from the one it has".) And when it is killed the line says why it begins from its start.
. "$(dirname "$0")/../lib/test.sh"
own_jobs
cd "$tmp" || exit 99
begin --snapshot 0.05 -n 2 "$top_builddir/compat-tests/agent/hog" s 1:go
wait_for told 'rank 0.* gets no snapshot: it has sockets, io_uring or similar descriptors of its own; if it is killed it replays from the start'
: >go
ended
expect_code 0
! told 'newer snapshot' || fail "$what: a newer snapshot than which?"
begin --snapshot 0.05 -n 2 "$top_builddir/compat-tests/agent/hog" s 1:never
wait_for told 'rank 0.* gets no snapshot'
kill -KILL "$("$ftrun" status --json | tr -d '\n ' | sed 's/.*"rank":0,"host":"[^"]*","pid":\([0-9]*\).*/\1/')"
wait_for told 'rank 0 .*killed by signal 9 (SIGKILL); restarted, restart 1 (not from a snapshot: it has .*socket'
kill -TERM "$front"
ended
expect_code 143
finish
