#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A snapshot that has been closed is none to go on from. (A rank that had opened a socket "gets no newer snapshot ...; if it is killed it
# goes on from the one it has".)
. "$(dirname "$0")/../lib/test.sh"
own_jobs
cd "$tmp" || exit 99
begin --snapshot 0.05 -n 2 "$top_builddir/compat-tests/agent/hog" s 1:go
wait_for told 'rank 0.* gets no snapshot: it has sockets or similar descriptors of its own; if it is killed it replays from the start'
: >go
ended
expect_code 0
! told 'newer snapshot' || fail "$what: a newer snapshot than which?"
finish
