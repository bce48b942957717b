#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kills at a rate, aimed at replays, MPI_Init and MPI_Finalize, all ranks and launcher processes among them; each is in the
# report. For a campaign call survive.py (--kills 2000, --find-limit).
. "$(dirname "$0")/../lib/test.sh"
kills=20
if quick; then kills=8; fi
for snapshot in off 0.05; do
    aside python3 "$here/survive.py" --ftrun "$ftrun" --ranks 3 --rate 10 --kills $kills --runs 40 --launchers 0.05 \
        --snapshot $snapshot --snapshots 0.05
done
asides_end
finish
