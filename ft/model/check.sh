#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of log release behind snapshots (release.pml, docs/models.md) exhaustively: as it is to be built nothing
# goes wrong, and each deliberately broken variant goes wrong for the reason it should. With arguments: only the variants
# named, with the story of how each goes wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 99
cc=${CC:-cc}
command -v spin >/dev/null || { echo "release: no spin"; exit 77; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ftmpi-model.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' INT TERM HUP
cd "$tmp" || exit 99
cp "$here/release.pml" . || exit 99
failed=0

# search "SPIN FLAGS" "CC FLAGS" "PAN FLAGS": leaves out, and the story of an error in story. 1: there is an error,
# 2: the search was not completed or could not be made.
# shellcheck disable=SC2086
search() {
    rm -f pan ./*.trail story
    spin -DSTORY $1 -a release.pml >out 2>&1 && $cc -w -DMEMLIM=2500 $2 -o pan pan.c >out 2>&1 || return 2
    ./pan -m100000 $3 >out 2>&1
    if [ -f release.pml.trail ]; then
        ./pan -r -n 2>&1 | sed '/^spin: trail ends/,$d; /^pan:/d' >story
        return 1
    fi
    grep -q 'errors: 0' out && ! grep -q -e 'not completed' -e 'out of memory' -e 'too small' out || return 2
}

states() { awk '/states, stored/ { print $1; exit }' out; }

# sound "WHAT" FLAGS...: nothing goes wrong.
sound() {
    what=$1
    shift
    start=$(date +%s)
    if search "$@"; then
        echo "ok: $what: $(states) states, all fine ($(($(date +%s) - start)) s)"
    else
        echo "FAIL: $what:"
        cat story 2>/dev/null || tail -n 20 out
        grep -e 'assertion violated' -e 'end state (' -e 'cycle (' out
        failed=1
    fi
}

# broken NAME "FLAGS" "REASON": goes wrong for that reason. "hang": not everybody ends, and nothing can happen any more.
broken() {
    [ -z "$only" ] || case " $only " in *" $1 "*) ;; *) return ;; esac
    search "-DR=2 -D$1 $2" "-O0 -DSAFETY -DBFS" "-w18"
    code=$?
    reason=$(tail -n 1 story 2>/dev/null)
    grep -q 'invalid end state (' out && reason=hang
    [ -z "$only" ] || cat story
    if [ $code = 1 ] && [ "$reason" = "$3" ]; then
        echo "ok: $1 is rejected: $reason"
    else
        echo "FAIL: $1 is not rejected with \"$3\" (code $code): $reason"
        failed=1
    fi
}

# The search does get to see what it is about.
seen() {
    search "-DR=2 -DSEEK=$1" "-O0 -DSAFETY -DBFS" "-w18"
    [ $? = 1 ] && return
    echo "FAIL: never seen: $2"
    failed=1
}

# Both halves at a time, each in a directory of its own.
if [ $# = 0 ] && [ -z "${FT_MODEL_HALF-}" ]; then
    FT_MODEL_HALF=sound sh "$here/check.sh" >sound &
    FT_MODEL_HALF=broken sh "$here/check.sh" >broken || failed=1
    wait $! || failed=1
    cat sound broken
    exit $failed
fi
only=$*
half=${FT_MODEL_HALF-broken}
if [ "$half" = sound ]; then
    sound "2 ranks, 2 kills, no run without end" "-DR=2" "-O0 -DNP" "-l -w20"
    sound "2 ranks, 3 kills (kills after all were restarted, too)" "-DR=2 -DK=3" "-O0 -DSAFETY" "-w20"
fi
if [ "$half" = sound ] && [ "${FT_TIER:-normal}" != quick ]; then
    seen 1 "memory of released units is used again"
    seen 2 "all ranks are restarted"
    seen 3 "a unit is read from the spill file"
    seen 4 "a snapshot is woken"
    sound "... with a snapshot that forks the next incarnation and stays" "-DR=2 -DK=3 -DSPAWN" "-O0 -DSAFETY" "-w20"
    sound "... with forgetting instead of spilling" "-DR=2 -DK=3 -DFORGET" "-O0 -DSAFETY" "-w20"
    sound "... with a keeper that decides by itself, and looks again" "-DR=2 -DK=3 -DTHREADS" "-O0 -DSAFETY" "-w20"
    sound "... KEEP_CUT does no harm" "-DR=2 -DKEEP_CUT" "-O0 -DSAFETY" "-w20"
    sound "3 ranks, 2 kills" "" "-O2 -DSAFETY" "-w24"
    sound "... with a keeper that decides by itself" "-DTHREADS" "-O2 -DSAFETY" "-w24"
fi
[ "$half" = broken ] || exit $failed
unsafe="what somebody still needs is released"
broken NEWEST "" "$unsafe"
broken BY_DONE "" "$unsafe"
broken NO_HOLD "" "$unsafe"
broken CUT_FIRST "" "$unsafe"
broken STALE_CUT "" "$unsafe"
broken RACE "" "$unsafe"
broken NO_BACK "-DTHREADS" "$unsafe"
broken FORGET_DONE "-DFORGET" "$unsafe"
broken DROP_UNSAID "" "a unit is read that has been released"
broken START_ANYWAY "" "a unit is read that has been released"
broken DROP_FIRST "" "after one failure all ranks have to be restarted"
broken NO_MINE "-DM=3" "a slot is read that has another unit's contribution"
broken WIPE_EARLY "" "a slot is read that has another unit's contribution"
broken NO_RECHECK "" "an entry is read that is another unit's"
broken STAYS_NAMED "" "hang"
broken NO_SPILL "" "hang"
exit $failed
