#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of what a rank was told of its messages (answers.pml, docs/models.md) exhaustively, as release.sh does with its own. With
# arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=answers
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "3 answers, 2 matches, 1 kill" "-DK=1" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    sound "... 2 kills" "" "-O1 -DSAFETY" "-w22"
    seen 1 "a run that is open is broken by death"
    seen 2 "something is published, and not logged"
    seen 3 "there is a match that was not decided, while answers are given again"
    seen 4 "a snapshot is made in a run"
    seen 5 "its run has ended when it is woken"
    sound "1 kill, and no run without end" "-DK=1" "-O1 -DNP" "-l -w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "4 answers, 2 kills" "-DA=4" "-O2 -DSAFETY" "-w24"
    sound "3 answers, 3 kills" "-DK=3" "-O2 -DSAFETY" "-w24"
}

broken_all() {
    other="a successor is told something else"
    broken NOT_STORED "" "$other"
    broken ANSWERED_FIRST "" "$other"
    broken MATCH_FIRST "" "a receive has another message"
    broken MATCH_INSIDE "" "$other"
    broken PUBLISHED_SKIPPED "" "$other"
    broken GOES_ON "" "$other"
    broken STAYS_OPEN "" "a record says nothing"
    broken NOT_SUBTRACTED "" "$other"
    broken SAID_KEPT "" "more was said than is in the log"
    broken SAID_STAYS "" "more was said than is in the log"
}

check_all "$@"
