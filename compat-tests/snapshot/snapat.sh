#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks, snapshots and the agent are killed at each system call of making and waking snapshots, alone and together: snapat.py.
# SNAPAT=all tries every stop, SNAPAT=N that many; SNAPAT_SEED=N begins with that one.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || { echo "python3 is missing: apt-get install python3"; exit 77; }
cd "$tmp" || exit 99
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # it cannot look at a traced process
export ASAN_OPTIONS
timeout -k 5 3000 python3 "$top_srcdir/compat-tests/snapshot/snapat.py" "$top_builddir/compat-tests/agent/killat" "$ftrun" \
    "$top_builddir/compat-tests/snapshot/snapjob" "${SNAPAT:-24}" $SNAPAT_SEED
code=$? what="snapat.py"
[ $code != 77 ] || exit 77
expect_code 0
finish
