#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators, what hangs on them, and intercommunicators while ranks are killed, with snapshots and without: the output is that of an
# undisturbed run, byte for byte. FT_SECONDS: for longer hunts, seconds for each number of ranks.
. "$(dirname "$0")/../lib/test.sh"
seconds=8 worlds="2 3 4"
if quick; then seconds=2 worlds="4"; fi
seconds=${FT_SECONDS:-$seconds}
for w in $worlds; do
    for snapshot in 0.05 off; do
        for program in "communicators -o -n 1500" "attributes -o -n 40" "intercommunicators -o -n 1000"; do
            # shellcheck disable=SC2086
            python3 "$here/chaos.py" --ftrun "$ftrun" --ftrun-args "--snapshot $snapshot" --ranks "$w" --seeds 100000 --kills 5 --least 10 \
                --seconds "$seconds" --timeout 120 -- "$top_builddir/compat-tests/abi/"$program -p '{dir}' || failed=1
        done
    done
done
if records; then
    for program in "communicators -n 300" attributes; do
        # shellcheck disable=SC2086
        run -n 3 --check-replay "$top_builddir/compat-tests/abi/"$program
        expect_code 0
        expect_err 'records: all exact'
    done
fi
finish
