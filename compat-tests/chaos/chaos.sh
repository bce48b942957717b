#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real kills, quick and normal tier: 2, 3, 4 and 8 ranks, as many seeds as the time allows; the output
# must be that of an undisturbed run, byte for byte. FT_SECONDS: for longer hunts, seconds for each number of ranks.
. "$(dirname "$0")/../lib/test.sh"
seconds=8 worlds="2 3 4 8"
if quick; then seconds=1.5 worlds="2 3 4"; fi
seconds=${FT_SECONDS:-$seconds}
# The second time as between cores that share no cache; and two ranks that each make all of an allreduce.
for w in $worlds 2far 4far 2doubled; do
    # shellcheck disable=SC1007
    cores=auto allreduce=halved most=
    case $w in *far) cores=far most="-m 131072" w=${w%far} ;; *doubled) allreduce=doubled most="-m 131072" w=${w%doubled} ;; esac
    FTMPI_ALLREDUCE=$allreduce FTMPI_CORES=$cores python3 "$here/chaos.py" --ftrun "$ftrun" --ranks "$w" --seeds 100000 --kills 4 --least 4 \
        --seconds "$seconds" --timeout 120 -- "$built/mixed" $most -n 5000 -s '{seed}' -p '{dir}' || failed=1
done
finish
