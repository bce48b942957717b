#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of checkpoints with messages under way (underway.pml, docs/models.md) exhaustively, as release.sh does with its own. With
# arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=underway
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "4 messages, 2 checkpoints, 2 kills" "" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "the receiver goes on alone from a checkpoint that has messages, and takes others out of the log again"
    seen 2 "both begin with a checkpoint that has messages"
    seen 3 "both are killed in a checkpoint that one of them has kept"
    sound "... 3 kills" "-DK=3" "-O1 -DSAFETY" "-w22"
    sound "1 kill, and no run without end" "-DK=1" "-O1 -DNP" "-l -w22"
}

broken_all() {
    gone="a message is read that has been released"
    broken NO_MEET "" "$gone"
    broken NO_TAKE "" "$gone"
    broken CUT_TAKEN "" "$gone"
    broken CUT_EARLY "" "a message is compared that has been released"
    broken KEPT_LOST "" hang
    broken LEAVES_EARLY "" "a message is compared that has been released"
    broken LOG_TOO "" "a message comes twice"
}

check_all "$@"
