#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of copies of a rank with threads (cuts.pml, docs/models.md) exhaustively, as release.sh does with its own. With arguments:
# only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=cuts
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "two threads, 2 copies, 2 kills" "" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a thread that is led back finds its record done" ""
    seen 2 "a thread that is led back finds its call made, and no outcome" ""
    seen 3 "the rank is killed while a copy is made" ""
    seen 4 "a copy is made in a life that has come of one" ""
    sound "two threads, and no run without end" "-DK=1" "-O1 -DNP" "-l -w22"
}

broken_all() {
    broken SIGNALS_ALL "" "a wait is interrupted"
    broken DEKKER_SWAPPED "" "a wait is interrupted"
    broken NOT_LOOKED "" "a wait is interrupted"
    broken BUSY_STOPPED "" "an outcome is recorded twice"
    broken HELD_GOES "" "a thread moves while its memory is copied"
    broken NOT_LED "" "a call is made twice"
    broken OWED_RELEASED "" "a record is needed that is released"
}

check_all "$@"
