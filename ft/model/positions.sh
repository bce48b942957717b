#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of cuts with several streams (positions.pml, docs/models.md) exhaustively: as it is built nothing
# goes wrong, and each deliberately broken variant goes wrong for the reason it should. With arguments: only the
# variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=positions
broken_base=-DA=0
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    few="-DBOUNDED -DSHOTS=1"
    [ "${FT_TIER:-normal}" != quick ] || { sound "1 rank, 1 kill, any number of snapshots, one agent" "-DA=0 -DK=1" "-O0 -DSAFETY" "-w20"; return; }
    sound "1 rank, 2 kills, any number of snapshots" "" "-O1 -DSAFETY" "-w22"
    sound "... with checkpoints" "-DCHECKPOINTS" "-O1 -DSAFETY" "-w22"
    seen 1 "a snapshot is woken" "-DK=1"
    seen 2 "a rank starts again" ""
    seen 3 "all ranks are restarted" ""
    seen 4 "an agent is replaced in the middle of a move" "-DK=0"
    seen 5 "a floor is taken back" ""
    seen 6 "a rank has no way back" ""
    seen 7 "zero is woken" "-DK=1"
    seen 8 "what was to be forgotten is not" "-DFORGET -DK=1"
    sound "... that forget, 2 snapshots" "-DFORGET -DCHECKPOINTS -DBOUNDED" "-O1 -DSAFETY" "-w22"
    sound "2 ranks, 2 kills, one agent, no run without end" "-DR=2 -DBOTH -DA=0 $few" "-O1 -DNP" "-l -w20"
    sound "1 rank with checkpoints, one agent, no run without end" "-DCHECKPOINTS -DA=0 $few" "-O0 -DNP" "-l -w20"
    sound "a snapshot is compared with the cut once" "-DUNCOMPARED -DCHECKPOINTS" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "1 rank with checkpoints, 3 kills" "-DCHECKPOINTS -DK=3" "-O2 -DSAFETY" "-w22"
    sound "2 ranks with checkpoints" "-DR=2 -DBOTH -DCHECKPOINTS $few" "-O2 -DSAFETY" "-w24"
}

broken_all() {
    unsafe="what somebody still needs is released"
    before="a rank goes on before its cut"
    late="what a rank needs that goes on is released"
    all="no snapshot was lost, and all ranks are restarted"
    broken CUT_FIRST "" "$unsafe"
    broken DROP_FIRST "" "$all"
    broken AT_LATE "" "$unsafe"
    broken NOT_COPIED "" "$unsafe"
    broken BY_NEWEST "" "$unsafe"
    broken OVERTAKEN "-DCHECKPOINTS" "$before"
    broken ONE_STREAM "-DCHECKPOINTS" "$before"
    broken ON_ITS_WAY "-DCHECKPOINTS" "$unsafe"
    broken OTHER_FLOOR "" "$unsafe"
    broken NO_BACK "" "$late"
    broken CUT_KEPT "" "$before"
    broken ONE_MOVED "" "$before"
    broken ASKS_FIRST "" "$late"
    broken ONE_FLOOR "" "$late"
    broken FORGETS_BLINDLY "-DFORGET" "$late"
    broken FORGETS_UNSAID "-DFORGET" "$late"
    broken HOLDS_LATE "-DFORGET" "$late"
    broken ONE_HELD "-DFORGET" "$unsafe"
    broken DROP_LAST "-DFORGET -DCHECKPOINTS -DA=1" "$before"
}

check_all "$@"
