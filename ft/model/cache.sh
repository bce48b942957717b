#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of the bootstrap cache with keys by call site (cache.pml, docs/models.md) exhaustively, as release.sh does with
# its own. With arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=cache
broken_base="-DR=2"
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

sound_all() {
    sound "2 ranks, 3 kills, no run without end" "-DR=2" "-O0 -DNP" "-l -w20"
    sound "... a call that recurs" "-DR=2 -DRECURRING" "-O0 -DNP" "-l -w20"
    sound "2 nodes" "-DR=2 -DNODES" "-O0 -DNP" "-l -w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "evidence for the log"
    seen 2 "evidence for the cache"
    seen 3 "everybody is in doubt"
    seen 4 "a key recurs" "-DR=2 -DRECURRING"
    seen 3 "every node is in doubt" "-DNODES"
    sound "3 ranks, 5 kills" "-DK=5" "-O0 -DSAFETY" "-w20"
    sound "3 nodes" "-DNODES" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != full ] || sound "3 nodes, 5 kills" "-DK=5 -DNODES" "-O0 -DSAFETY" "-w22"
    sound "... a call that recurs" "-DK=5 -DRECURRING" "-O0 -DSAFETY" "-w20"
}

broken_all() {
    broken NO_EVIDENCE "-DRECURRING" "wrong data out of the cache"
    broken ALL_CACHED "-DRECURRING" "wrong data out of the cache"
    broken END_FIRST "" "wrong data out of the cache"
    broken LIVE_ONLY "" "two ranks are in different calls"
    broken MARK_ALL "" "two ranks are in different calls"
    broken NO_UNIT "" "two ranks are in different calls"
    broken ALONE_EVIDENT "" "hang"
    broken OWN_NODE "-DNODES" "two ranks are in different calls"
    broken SILENT_DOUBTS "-DNODES" "two ranks are in different calls"
}

check_all "$@"
