#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of a stream (stream.pml, docs/models.md) exhaustively, as release.sh does with its own. With arguments: only the
# broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=stream
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

asked="-DPROGRAM=1"
shut="-DPROGRAM=2"

sound_all() {
    sound "the rank ends first" "$asked -DK=1" "-O1 -DSAFETY" "-w20"
    sound "the peer ends first" "$shut -DK=1" "-O1 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a call that was under way" "$asked"
    seen 2 "an error that is owed" "$shut"
    seen 3 "the counts change while they are read" "$asked"
    seen 4 "a reset that the killed call was told" "$asked"
    seen 5 "a torn call that sends" "$asked"
    seen 6 "a call that cannot be told" "$asked"
    seen 7 "an error in the rest of a call" "$shut"
    seen 8 "a byte is lost on the wire" "$asked"
    sound "the rank ends first, 2 kills" "$asked" "-O1 -DSAFETY" "-w22"
    sound "the peer ends first, 2 kills" "$shut" "-O1 -DSAFETY" "-w22"
    sound "... and no run without end" "$asked -DK=1" "-O1 -DNP" "-l -w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "the rank ends first, 3 kills" "$asked -DK=3" "-O2 -DSAFETY" "-w24"
    sound "the peer ends first, 3 kills" "$shut -DK=3" "-O2 -DSAFETY" "-w24"
}

broken_all() {
    twice="the peer gets a byte twice, or lacks one"
    other="the program is told other bytes"
    sensible="a call has done less than nothing, or more than it could"
    no_end="an end is told where a reset came"
    lost="bytes that were received are lost"
    # what is recorded
    broken NO_COUNT "$asked -DD=0" "$other"
    broken ELSEWHERE "$asked" "$other"
    # the counts
    broken NO_FIN "$shut -DD=0" "$other"
    broken LOOK_ONCE "$asked -DD=0" "$sensible"
    broken ACKED_ONLY "$asked -DD=0" "$twice"
    broken NO_RETRANS "$asked -DD=0" "$sensible"
    broken WAITS_ON "$asked -DD=0" hang
    # errors
    broken RESET_IS_END "$asked" "$lost"
    broken ERROR_TAKEN "$asked" "$no_end"
    broken OWED_IN_MEMORY "$asked" "$no_end"
    broken TOLD_AGAIN "$asked" "the first error is told as a later one is"
    broken COUNTS_ON "$asked" "a reset is told twice"
}

check_all "$@"
