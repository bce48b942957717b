#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators and intercommunicators while ranks are killed, with snapshots and without: the output is that of an undisturbed run, byte for byte. FT_SECONDS:
# for longer hunts, seconds for each number of ranks.
. "$(dirname "$0")/../lib/test.sh"
seconds=8 worlds="2 3 4"
if quick; then seconds=2 worlds="4"; fi
seconds=${FT_SECONDS:-$seconds}
for w in $worlds; do
    for snapshot in 0.05 off; do
        python3 "$here/chaos.py" --ftrun "$ftrun" --ftrun-args "--snapshot $snapshot" --ranks "$w" --seeds 100000 --kills 5 --least 10 \
            --seconds "$seconds" --timeout 120 -- "$top_builddir/compat-tests/abi/communicators" -o -n 1500 -p '{dir}' || failed=1
        python3 "$here/chaos.py" --ftrun "$ftrun" --ftrun-args "--snapshot $snapshot" --ranks "$w" --seeds 100000 --kills 5 --least 10 \
            --seconds "$seconds" --timeout 120 -- "$top_builddir/compat-tests/abi/intercommunicators" -o -n 1000 -p '{dir}' || failed=1
    done
done
if records; then
    run -n 3 --check-replay "$top_builddir/compat-tests/abi/communicators" -n 300
    expect_code 0
    expect_err 'records: all exact'
fi
finish
