#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 512 ranks of the mixed program with three kills that count; FT_TIER=full: six times as long.
. "$(dirname "$0")/../lib/test.sh"
calls=150
! full || calls=1000
python3 "$here/chaos.py" --ftrun "$ftrun" --ranks 512 --seeds 1 --kills 3 --least 3 --timeout 400 -v \
    -- "$built/mixed" -n $calls -m 8192 -b 0 -s '{seed}' -p '{dir}' || failed=1
finish
