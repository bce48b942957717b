#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of cuts in two banks with several streams (positions.pml, docs/models.md) exhaustively: as it is to be built
# nothing goes wrong, and each deliberately broken variant goes wrong for the reason it should. With arguments: only the
# variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=positions
broken_base=-DA=0
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    few="-DBOUNDED -DSHOTS=1"
    [ "${FT_TIER:-normal}" != quick ] || { sound "1 rank, 2 kills, any number of snapshots, one agent" "-DA=0" "-O0 -DSAFETY" "-w20"; return; }
    sound "1 rank, 2 kills, any number of snapshots" "" "-O1 -DSAFETY" "-w22"
    seen 1 "a snapshot is woken" "-DK=1"
    seen 2 "a rank starts again" "-DK=1"
    seen 3 "all ranks are restarted" ""
    seen 4 "a bank is named while the keeper looks" "-DK=0"
    seen 5 "a floor is taken back" ""
    sound "... with checkpoints, 2 snapshots" "-DBOUNDED -DCHECKPOINTS" "-O1 -DSAFETY" "-w22"
    sound "2 ranks, 2 kills, no run without end" "-DR=2 -DBOTH $few" "-O0 -DNP" "-l -w20"
    sound "1 rank with checkpoints, no run without end" "-DCHECKPOINTS -DA=0 $few" "-O0 -DNP" "-l -w20"
    simple="-DAGENT_CHOOSES -DOWN_ONE -DFIRST_LOOSE"
    sound "simpler: the agent chooses the bank and has only one of its own, the keeper's first look is loose" \
        "$simple -DBOUNDED -DCHECKPOINTS" "-O1 -DSAFETY" "-w22"
    sound "... with zero" "$simple -DZERO" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "1 rank, 2 kills, with zero" "-DZERO" "-O2 -DSAFETY" "-w22"
    sound "1 rank, 3 kills" "-DK=3" "-O2 -DSAFETY" "-w22"
    sound "1 rank with checkpoints, 2 kills, any number of snapshots" "-DCHECKPOINTS" "-O2 -DSAFETY" "-w24"
    sound "simpler, 3 kills, any number of snapshots" "$simple -DK=3" "-O2 -DSAFETY" "-w22"
    sound "the process to wake is named before the bank" "-DPROCESS_FIRST" "-O2 -DSAFETY" "-w22"
    for harmless in NUMBER_FIRST FORK_FIRST AGENT_CHOOSES FIRST_LOOSE; do
        sound "... $harmless does no harm" "-D$harmless" "-O2 -DSAFETY" "-w22"
    done
}

broken_all() {
    unsafe="what somebody still needs is released"
    elsewhere="a rank is woken elsewhere than its bank says"
    all="no snapshot was lost, and all ranks are restarted"
    broken SAME_BANK "" "$elsewhere"
    broken BY_PARITY "" "$elsewhere"
    broken OTHER_BANK "-DCHECKPOINTS" "$elsewhere"
    broken BY_NAMED "-DZERO" "$elsewhere"
    broken BANK_FIRST "" "$elsewhere"
    broken LEFT_OUT "-DK=1" "$unsafe"
    broken UNTAKEN "" "$all"
    broken NOT_AGAIN "-DK=1" "$unsafe"
    broken OTHER_FLOOR "" "$unsafe"
    broken OVERTAKEN "-DCHECKPOINTS -DK=0" "$unsafe"
    broken ON_ITS_WAY "-DCHECKPOINTS" "$unsafe"
    broken ASK_FIRST "" "what a rank needs that starts again is released"
    [ "${FT_TIER:-normal}" != quick ] || [ -n "$only" ] || return
    broken STAYS_NAMED "" "what a rank needs that starts again is released"
    broken NO_BACK "" "what a rank needs that starts again is released"
    broken DROP_FIRST "" "$all"
    broken ONE_STREAM "-DCHECKPOINTS -DK=0" "$unsafe"
    broken REMEMBERED "" "$elsewhere"
    broken LEFT_OUT "" "$elsewhere"
    broken NO_COUNT "" "$unsafe"
}

check_all "$@"
