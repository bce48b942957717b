#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of a channel (channel.pml, docs/models.md) exhaustively, as release.sh does with its own. With arguments: only the broken
# variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=channel
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "4 messages, 2 slots, 1 kill" "-DK=1" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    sound "... 2 kills" "" "-O1 -DSAFETY" "-w22"
    seen 1 "a small message is logged out of its slot"
    seen 2 "a long message is published, and not said to be logged"
    seen 3 "the sender is killed after a snapshot"
    seen 4 "a slot without number is passed by"
    seen 5 "a message is read out of the log, as its slot has another"
    seen 6 "a slot changes while it is read"
    seen 7 "the receiver is ahead of the log"
    seen 8 "the receiver is killed, and its snapshot has kept a message"
    seen 9 "one that is kept is read again before it is logged"
    sound "1 kill, and no run without end" "-DK=1" "-O1 -DNP" "-l -w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "3 kills" "-DK=3" "-O2 -DSAFETY" "-w24"
}

broken_all() {
    broken REFILLED "" "a record is read that is not there"
    broken NO_RECHECK "" "half a message is read"
    broken REWRITTEN "" "half a message is read"
    broken SKIPPED "" "a record is read that is not there"
    broken SNAP_PUBLISHED "" "a record is read that is not there"
    broken BY_TAKEN "" "what somebody still needs is released"
    broken CUT_NEWEST "" "what somebody still needs is released"
    broken CUT_OF_RECEIVER "" "what somebody still needs is released"
    broken LONG_SLOT_FIRST "" "a record is read that is not there"
    broken LONG_REWRITTEN "" "half a message is read"
    broken KEPT_IN_LOG "" "a record is read that is not there"
    broken DONE_FIRST "" "half a message is read"
    broken NOT_ZEROED "" "half a message is read"
    broken NO_RESUME "" "a record is written where memory has been given away"
    broken END_OF_BOTH "" "a record is written where memory has been given away"
}

check_all "$@"
