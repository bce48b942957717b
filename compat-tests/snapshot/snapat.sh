#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks, snapshots and the agent are killed at each system call of making and waking snapshots, alone and together: snapat.py.
# FT_RUNS=all tries every stop, FT_RUNS=N that many.
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # the job adds a line to a file at each start
needs python3
cd "$tmp" || exit 99
sanitizers detect_leaks=0 # it cannot look at a traced process
timeout -k 5 3000 python3 "$here/snapat.py" "$top_builddir/compat-tests/agent/killat" "$ftrun" \
    "$built/snapjob" "${FT_RUNS:-24}"
code=$? what="snapat.py"
[ $code != 77 ] || skip "nothing can be traced here"
expect_code 0
finish
