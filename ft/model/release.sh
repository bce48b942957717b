#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of log release behind snapshots (release.pml, docs/models.md) exhaustively: as it is to be built nothing
# goes wrong, and each deliberately broken variant goes wrong for the reason it should. With arguments: only the variants
# named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=release
broken_base=-DR=2
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "2 ranks, 2 kills, no run without end" "-DR=2" "-O0 -DNP" "-l -w20"
    sound "2 ranks, 3 kills (kills after all were restarted, too)" "-DR=2 -DK=3" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "memory of released units is used again"
    seen 2 "all ranks are restarted"
    seen 3 "a unit is read from the spill file"
    seen 4 "a snapshot is woken"
    sound "... with a snapshot that forks the next incarnation and stays" "-DR=2 -DK=3 -DSPAWN" "-O0 -DSAFETY" "-w20"
    sound "... with forgetting instead of spilling" "-DR=2 -DK=3 -DFORGET" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" = full ] || { sound "3 ranks, 2 kills, 3 units, a keeper that decides by itself" "-DN=3 -DTHREADS" "-O1 -DSAFETY" "-w22"; return; }
    sound "3 ranks, 2 kills, a keeper that decides by itself" "-DTHREADS" "-O2 -DSAFETY" "-w24"
    sound "... and all in turn" "" "-O2 -DSAFETY" "-w24"
    sound "2 ranks, 3 kills, a keeper that decides by itself, and looks again" "-DR=2 -DK=3 -DTHREADS" "-O0 -DSAFETY" "-w20"
    sound "... KEEP_CUT does no harm" "-DR=2 -DKEEP_CUT" "-O0 -DSAFETY" "-w20"
}

broken_all() {
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
}

check_all "$@"
