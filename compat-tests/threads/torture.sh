#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with threads of all kinds, by seeds (torture.h, torture_cpp.cpp): with snapshots made all the time they print what they print without ftrun,
# undisturbed and killed at any time. As root, and as a user without capabilities.
# FT_RUNS: how many seeds. FT_SEED: the first one. More by hand: torture.py --help.
. "$(dirname "$0")/../lib/test.sh"
torture() {
    "$@" /usr/bin/python3 "$here/torture.py" --ftrun "$ftrun" --programs "$built" --seed "$seed" --runs "$runs" --newer "$newer" || failed=1
}
newer=0.1 # cancelled threads, and signals from one to another, close ways back; on a busy machine kills come before the first one
seeded
runs=${FT_RUNS:-5}
torture bounded $((60 + runs * 60))
uid=65534
if [ "$(id -u)" = 0 ] && setpriv --reuid=$uid --clear-groups test -x "$ftrun" && setpriv --reuid=$uid --clear-groups test -r "$here/torture.py"; then
    newer=0 # so few kills say nothing of that
    seed=$((seed + runs)) runs=$(((runs + 1) / 2))
    torture bounded $((60 + runs * 60)) setpriv --reuid=$uid --clear-groups --bounding-set=-all
fi
finish
