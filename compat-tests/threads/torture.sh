#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with threads of all kinds, by seeds (torture.h, torture_cpp.cpp): with snapshots made all the time they print what they print without ftrun,
# undisturbed and killed at any time. As root, and as a user without capabilities.
# FT_RUNS: how many seeds (5, in the quick tier 2). FT_SEED: the first one. More by hand: torture.py --help.
. "$(dirname "$0")/../lib/test.sh"
torture() {
    "$@" --ftrun "$ftrun" --programs "$built" --seed "$seed" --runs "$runs" --newer "$newer" || failed=1
}
# closely SCENE PROGRAM: nothing but that, killed again and again. churn: threads that look at what they have, send themselves signals, and wait for others'
# ends for a time. pool: futures that are polled. stacks: as small as the system allows (where a rank is, in 260 streams, lay on them once: SIGSEGV).
closely() { torture bounded $((60 + runs * 60)) /usr/bin/python3 "$here/torture.py" --scene "$1" --program "$2" --scenes 8 --ranks 1 --kills 8; }
newer=0.1 # cancelled threads, and signals from one to another, close ways back; on a busy machine kills come before the first one
seeded
runs=5
if quick; then runs=2; fi
runs=${FT_RUNS:-$runs}
torture bounded $((60 + runs * 60)) /usr/bin/python3 "$here/torture.py"
closely churn torture
closely pool torture_cpp
closely stacks torture
uid=65534
if [ "$(id -u)" = 0 ] && setpriv --reuid=$uid --clear-groups test -x "$ftrun" && setpriv --reuid=$uid --clear-groups test -r "$here/torture.py"; then
    newer=0 # so few kills say nothing of that
    seed=$((seed + runs)) runs=$(((runs + 1) / 2))
    torture bounded $((60 + runs * 60)) setpriv --reuid=$uid --clear-groups --bounding-set=-all /usr/bin/python3 "$here/torture.py"
fi
finish
