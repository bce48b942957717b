#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads that store into files which they have mapped shared, killed at any time (mapped.c). What one of them stored while another one came
# to the end of its replay was lost. And when two mapped files at about the same time, a snapshot that lacked a mapping stayed usable ("a file
# that it has mapped cannot be put aside", or mmap failed in the replay).
# FT_RUNS: how many seeds. FT_SEED: the first one.
. "$(dirname "$0")/../lib/test.sh"
seeded
runs=${FT_RUNS:-4}
for scene in stores tiles; do
    bounded $((60 + runs * 60)) /usr/bin/python3 "$here/torture.py" --ftrun "$ftrun" --programs "$built" --seed "$seed" --runs "$runs" --newer 0.3 \
        --scene $scene --program torture --scenes 3 --ranks 1 --kills 8 || failed=1
done
finish
