#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of a checkpoint's cut (checkpoint.pml, docs/models.md) exhaustively, as release.sh does with its own. With
# arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=checkpoint
broken_base="-DR=2 -DFINE"
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "2 ranks, 2 failures, no run without end" "-DR=2" "-O0 -DNP" "-l -w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a call before the load comes out of the prefix, and the log has lost it"
    seen 2 "a rank loads a version"
    seen 3 "all ranks begin with a version"
    seen 4 "no way back, and all ranks are restarted" "-DR=2 -DSNAPSHOTS"
    seen 5 "the agent sees that the slot it has pinned is written again" "-DR=2 -DFINE -DDURABLE -DK=0"
    sound "... in small steps" "-DR=2 -DFINE" "-O1 -DSAFETY" "-w22"
    sound "... ranks with snapshots, too" "-DR=2 -DSNAPSHOTS -DN=4" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" = full ] || { sound "3 ranks, 2 failures, 2 checkpoints" "-DN=4" "-O1 -DSAFETY" "-w22"; return; }
    sound "3 ranks, 2 failures" "" "-O2 -DSAFETY" "-w24"
    sound "... versions are copied to disk (1 failure)" "-DR=2 -DFINE -DDURABLE -DK=1 -DALONE" "-O2 -DSAFETY" "-w22"
    sound "... no memory for a model, once" "-DR=2 -DFINE -DFULL -DALONE" "-O2 -DSAFETY" "-w22"
    sound "... versions that are not stored" "-DR=2 -DFINE -DLAZY -DALONE" "-O2 -DSAFETY" "-w22"
    sound "2 ranks, 3 failures" "-DR=2 -DK=3" "-O2 -DSAFETY" "-w24"
    sound "... no memory for a model, once" "-DR=2 -DFINE -DFULL" "-O2 -DSAFETY" "-w24"
    sound "... versions that are not stored" "-DR=2 -DFINE -DLAZY" "-O2 -DSAFETY" "-w24"
    sound "... ranks with snapshots, too" "-DR=2 -DSNAPSHOTS" "-O2 -DSAFETY" "-w24"
}

broken_all() {
    wrong="a model is read that is torn, or of another version"
    gone="a unit is read that has been released"
    broken NO_WAIT "" "$wrong"
    broken CUT_EARLY "" "$gone"
    broken LOAD_UNSAID "" "hang"
    broken ONE_COPY "-DALONE" "$wrong"
    broken UNCOMMITTED "" "$wrong"
    broken EARLY "-DALONE" "$gone"
    broken PREFIX_LAST "" "$gone"
    broken WAKE_BELOW "-UFINE -DSNAPSHOTS" "$gone"
    broken WAKE_FIRST "-UFINE -DSNAPSHOTS" "$gone"
    broken OLD_WORDS "" "$gone"
    broken DECIDE_AGAIN "" "all go back before a checkpoint that somebody has finished"
    [ "${FT_TIER:-normal}" != quick ] || [ -n "$only" ] || return
    broken VERSION_FIRST "" "$wrong"
    broken NO_CLEAR "" "$gone"
    broken NO_LOOK "" "$gone"
    broken ASK_FIRST "-UFINE -DSNAPSHOTS" "$gone"
    broken OWN_WORDS "-DFULL" "$wrong"
    broken WRITE_AGAIN "-DFULL" "all go back before a checkpoint that somebody has finished"
    broken IN_TURN "-DLAZY" "$wrong"
    broken LAZY_FLAG "-DLAZY" "$gone"
    broken PIN_ONLY "-DDURABLE -DK=1" "$wrong"
    broken PIN_FIRST "-DDURABLE -DK=1" "$wrong"
}

check_all "$@"
