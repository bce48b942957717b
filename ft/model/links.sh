#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of link resume and replaced nodes (links.pml, docs/models.md) exhaustively, as release.sh does with its
# own. With arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=links
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "1 unit and Finalize, 1 failure" "" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    sound "... node 1 releases its log" "-DRELEASE=1" "-O1 -DSAFETY" "-w20"
    sound "2 units by halves and Finalize, 1 failure" "-DU=3 -DHALVES" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" = full ] || return
    seen 1 "that a peer has left tells of the last unit"
    seen 2 "somebody lacks what has been released" "-DRELEASE=1"
    seen 3 "a replaced node lacks what nobody gives it"
    seen 4 "a unit is made before the one below is committed" "-DU=3 -DHALVES"
    sound "... node 0 releases its log" "-DRELEASE=0" "-O1 -DSAFETY" "-w20"
    sound "... and no run without end" "" "-O1 -DNP" "-l -w22"
    sound "2 units and Finalize, 1 failure" "-DU=3" "-O2 -DSAFETY" "-w22"
    sound "... broadcasts" "-DU=3 -DBCAST" "-O2 -DSAFETY" "-w22"
    sound "... two frames on their way" "-DU=3 -DQ=2 -DH=0" "-O2 -DSAFETY" "-w22"
    sound "... by halves, two frames on their way" "-DU=3 -DHALVES -DQ=2" "-O2 -DSAFETY" "-w22"
    sound "... and no run without end" "-DU=3 -DHALVES" "-O1 -DNP" "-l -w22"
    sound "1 unit and Finalize, 2 failures" -DK=2 "-O2 -DSAFETY" "-w24"
}

broken_all() {
    forks="two living nodes have different results of a unit"
    sending="a partial's memory is used again while it is being sent"
    leaves="a node leaves while its neighbour lacks a unit"
    released="a unit is asked for that has been released"
    broken NO_RESULT_UP "" "hang"
    broken NO_PART_AGAIN "" "hang"
    broken OLD_COUNTS "" "a frame comes twice"
    broken COMMIT_EARLY "" "$sending"
    broken FOLD_AGAIN "" "$sending"
    broken COUNT_KEPT "" "a node has less than it said"
    broken GONE_KEPT "" "$leaves"
    broken LEAVE_EARLY "" "$leaves"
    broken LAST_UNKNOWN "" "hang"
    broken STAYS_STUCK "" "hang"
    broken UNACKNOWLEDGED "-DRELEASE=1" "$released"
    broken ACK_KEPT "-DRELEASE=1" "$released"
    broken LOOK_FIRST "-DRELEASE=1" "$released"
    broken NO_BACK "-DRELEASE=1" "$released"
    broken RES_AGAIN "-DU=3 -DHALVES" "a frame comes twice"
    broken AHEAD_KEPT "-DU=3 -DHALVES" "hang"
    broken OVERTAKEN "-DU=3" "partials of two units, or of one node twice, are combined"
    [ "${FT_TIER:-normal}" != full ] || broken PART_LATE "-DK=2 -DH=2" "$forks"
}

check_all "$@"
