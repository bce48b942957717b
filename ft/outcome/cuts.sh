#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank with threads in all kinds of places (test/cuts.c), of which copies are made all the time, is killed at each step of that: as its
# threads are stopped, when it is cloned, as they go on; the copy is, before and after it says that it stands, and when it is woken; the
# next incarnation is, before, between and after its threads are put back (ft/outcome/point.h). Then a second time, in the replay or the
# next cut. What it prints is what it prints undisturbed, and it goes on from the copy that the step says: an older one before there is a
# newer one, the same one again when its successor was killed, never none.
#   cuts.sh [POINT...]   only these, by name
# FT_SEEDS=N: so many runs of each point (1). FT_SEED=N: the first one. FT_WRONG=N: ends when so many are wrong (5). FT_ROUNDS=N
set -u
build=$(cd "${top_builddir:-.}" && pwd) source=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
agent=$build/outcome_agent cuts=$build/outcome_cuts rounds=${FT_ROUNDS:-40}
library=$build/.libs/liboutcome_test.so
[ -e "$library" ] || exit 77
export FT_TEST_PRELOAD="$library"
export GOMP_SPINCOUNT=1000 OMP_DYNAMIC=false
work=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-cuts.XXXXXX") && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM HUP
cd "$work" || exit 99
seed=${FT_SEED:-1} seeds=${FT_SEEDS:-1}
runs=0 bad=0 kills=0 named=0 zero=0 cut=0 copies=0 missed=0
: >killed

word() { sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" err | grep . || echo 0; }

# The points and their numbers, as the header has them.
sed -n '/^enum ft_cut_point/,/^}/s/^ *FT_\([A-Z_]*\).*/\1/p' "$source/ft/outcome/point.h" | grep -vE '^CUT_POINTS' |
    awk '{ print $1, 15 + NR }' >points
number() { sed -n "s/^$1 //p" points; }
[ "$(wc -l <points) $(number CUT_BEGINS) $(number WAKE_GOES)" = "25 16 40" ] || { echo "FAIL: the points are others" && exit 1; }

# draw N MOST: a number from 2 on (the first time it is that of snapshot zero, which has none before it).
draw() { awk -v seed=$((seed * 31 + $1)) -v most="$2" 'BEGIN { srand(seed); rand(); print 2 + int(rand() * (most - 1)) }'; }
any() { awk -v seed=$((seed * 17 + 3)) -v n=$# -v all="$*" 'BEGIN { srand(seed); rand(); split(all, of); print of[1 + int(rand() * n)] }'; }

# Of a rank that was killed when it came to a point while it made copy $2, or after it was made of that: was $3 the one to be woken?
is_way_back() {
    case $1 in
    CUT_BEGINS | CUT_SIGNALLED | CUT_ONE | CUT_ALL | CUT_LOOKED | CUT_NOTED) [ "$3" -lt "$2" ] ;;
    CUT_*) [ "$3" -le "$2" ] ;;
    # An older one, if that one has been killed; or the next was being made already when this one was on its way; 0: none was wanted then.
    WAKE_*) [ "$2" = 0 ] || [ "$3" -le "$2" ] ;;
    esac
}

check() {
    got=$(word kills)
    runs=$((runs + 1)) kills=$((kills + got)) named=$((named + $(word named))) zero=$((zero + $(word zero)))
    cut=$((cut + $(word cuts))) copies=$((copies + $(word copies)))
    why=
    [ "$code" = 0 ] || why="code $code"
    cmp -s out expected || why="$why, another output"
    tail -n 1 err | grep -q '^code 0 .* lost 0$' || why="$why, does not end well"
    [ "$got" = $(($(word named) + $(word zero))) ] || why="$why, not put back each time"
    sed -n 's/^point \([0-9]*\) copy \([0-9]*\) woken \([0-9]*\)$/\1 \2 \3/p' err >ways
    while read -r point copy woken; do
        name=$(sed -n "s/ $point\$//p" points)
        echo "$name" >>killed
        is_way_back "$name" "$copy" "$woken" || why="$why, killed at $name of copy $copy it went on from copy $woken"
    done <ways
    [ -z "$why" ] || {
        bad=$((bad + 1))
        echo "FAIL: outcome_agent -c 1500 -L $list outcome_cuts $rounds: $why"
        grep -E '^outcome_cuts|^point' err | head -n 4
        tail -n 1 err
        [ "$bad" -lt "${FT_WRONG:-5}" ] || exit 1
    }
}

run() {
    timeout "${FT_LIMIT:-60}" "$agent" -s "$seed" -c 1500 -L "$1" "$cuts" "$rounds" >out 2>err </dev/null
    code=$?
    check
}

"$cuts" "$rounds" >expected || { echo "FAIL: undisturbed: $?" && exit 1; }
# shellcheck disable=SC2046
[ $# != 0 ] || set -- $(cut -d ' ' -f 1 points)
for name; do
    first=$(number "$name")
    for _ in $(seq 1 "$seeds"); do
        seed=$((seed + 1))
        next=$(any CUT_BEGINS CUT_ALL CUT_NOTED WAKE_RUNS WAKE_FIRST WAKE_ONE WAKE_ALL WAKE_THREAD WAKE_GOES)
        case $name in
        # A signal is sent to those that compute, and six or seven stand each time.
        CUT_ONE) list=$first.$(draw 1 40) ;;
        COPY_WOKEN | COPY_CLONED | COPY_SAID | WAKE_BEGINS | WAKE_RUNS | WAKE_RESUMED | WAKE_FIRST | WAKE_ALL)
            list=$(number CUT_ALL).$(draw 1 8),$first.1 ;;
        WAKE_ONE | WAKE_THREAD | WAKE_GOES) list=$(number CUT_ALL).$(draw 1 8),$first.$(draw 2 7) ;;
        COPY_*) list=$first.$(draw 1 8),$(number CUT_BEGINS).1 ;;
        *) list=$first.$(draw 1 8) ;;
        esac
        list=$list,$(number "$next").$(case $next in CUT_*) draw 3 3 ;; *) echo 1 ;; esac)
        run "$list"
    done
done

# Each point was come to: of the copy it is the copy that dies there.
for name; do
    case $name in COPY_*) continue ;; esac
    grep -qx "$name" killed || { missed=$((missed + 1)) && echo "FAIL: never killed at $name"; }
done
echo "$runs runs, $kills kills, $cut cuts: put back from newer copies $named times, from snapshot zero $zero times;" \
    "$copies copies killed; $bad wrong"
[ $# != 25 ] || { [ "$named" -gt 20 ] && [ "$copies" -ge 6 ]; } || { echo "FAIL: too few" && exit 1; }
[ "$bad" = 0 ] && [ "$missed" = 0 ]
