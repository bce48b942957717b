#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of a rank's threads (threads.pml, docs/models.md) exhaustively, as release.sh does with its own. With arguments: only the
# broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=threads
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

between="-DPROGRAM=1"
within="-DPROGRAM=2"
descriptors="-DPROGRAM=3"

sound_all() {
    sound "calls between critical sections" "$between" "-O1 -DSAFETY" "-w20"
    sound "three threads, calls in critical sections" "$within" "-O1 -DSAFETY" "-w20"
    sound "descriptors" "$descriptors" "-O1 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a lock waits for another thread's operation" "$between"
    seen 2 "a call under way" "$between"
    seen 3 "a stray is claimed" "$descriptors"
    seen 4 "all have been given all" "$between"
    seen 5 "the rank is killed in the replay" "$between"
    sound "calls between critical sections, 3 kills" "$between -DK=3" "-O1 -DSAFETY" "-w22"
    sound "calls in critical sections, and no run without end" "$within" "-O1 -DNP" "-l -w22"
    sound "descriptors, 3 kills" "$descriptors -DK=3" "-O1 -DSAFETY" "-w22"
}

broken_all() {
    other="a replay says something else"
    opened="a descriptor that is open is opened"
    closed="another thread's descriptor is closed"
    # locks
    broken NO_LOCKS "$between" "$other"
    broken PUBLISH_FIRST "$between" "$other"
    broken PUBLISH_LATE "$between" "$other"
    broken KNOWN_TOO_MUCH "$between" "$other"
    broken LIVE_EARLY "$between" "$other"
    broken NO_LOCKS "$within" hang
    # calls
    broken NUMBER_EARLY "$between" hang
    broken NO_TURN "$descriptors" "$opened"
    broken OPEN_FIRST "$descriptors" "$opened"
    broken SWEEP_ANY "$descriptors" "$closed"
    broken WAITS_ALL "$descriptors" "$opened"
    broken SWEEP_EARLY "$descriptors" "$closed"
    broken CLOSE_BY_NUMBER "$descriptors" "$closed"
}

check_all "$@"
