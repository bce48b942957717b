#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with files, children, timers, threads and the like of their own, their ranks killed at random: the output and the files are
# those of an undisturbed run, and ranks that can be put back from a snapshot are (docs/snapshots.md). FT_RUNS: how many seeds
# a program, for longer hunts.
. "$(dirname "$0")/../lib/test.sh"
seeds=1
if quick; then set -- --most 12; fi
bounded 900 python3 "$here/programs.py" --ftrun "$ftrun" --programs "$top_builddir/compat-tests/snapshot" \
    --seeds "${FT_RUNS:-$seeds}" "$@" || failed=1
finish
