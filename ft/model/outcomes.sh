#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of outcomes and copies (outcomes.pml, docs/models.md) exhaustively, as release.sh does with its own. With
# arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=outcomes
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

files=-DPROGRAM=1
names=-DPROGRAM=2
mapping=-DPROGRAM=3
descriptors=-DPROGRAM=4
exec=-DPROGRAM=5

sound_all() {
    sound "files, 2 kills" "$files" "-O1 -DSAFETY" "-w22"
    sound "names" "$names" "-O0 -DSAFETY" "-w20"
    sound "a mapping" "$mapping" "-O0 -DSAFETY" "-w20"
    sound "descriptors, and functions that are executed again" "$descriptors" "-O0 -DSAFETY" "-w20"
    sound "a lock and exec" "$exec" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a torn append goes on" "$files"
    seen 2 "zero is woken" "$files"
    seen 3 "the rank is killed in the replay" "$files"
    seen 4 "a stray descriptor is claimed" "$descriptors"
    seen 5 "the log's memory is used again" "$files"
    seen 6 "a torn append cannot go on" "$files"
    seen 7 "the switch stores something" "$mapping"
    seen 8 "the named copy is woken" "$files"
    seen 9 "the rank is started from its beginning" "$files"
    seen 10 "the rank is killed when it has no copies since it is about to exec" "$exec"
    sound "names, 3 kills" "$names -DK=3 -DCUTS=2" "-O0 -DSAFETY" "-w20"
    sound "a mapping, 3 kills" "$mapping -DK=3 -DCUTS=2" "-O0 -DSAFETY" "-w20"
    sound "descriptors, 3 kills" "$descriptors -DK=3 -DCUTS=2" "-O0 -DSAFETY" "-w20"
    sound "a lock and exec, 3 kills" "$exec -DK=3 -DCUTS=2" "-O0 -DSAFETY" "-w20"
    sound "... and no run without end" "$exec" "-O0 -DNP" "-l -w20"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "files, 3 kills, 2 cuts" "$files -DK=3 -DCUTS=2" "-O2 -DSAFETY" "-w24"
    sound "... and no run without end" "$files" "-O1 -DNP" "-l -w22"
    sound "a mapping, and no run without end" "$mapping" "-O1 -DNP" "-l -w20"
}

broken_all() {
    twice="a unit is appended twice"
    parts="an append is in two parts"
    renamed="another file is renamed, or none"
    sees="a survivor sees another world than the rank"
    stays="a descriptor that nobody knows stays open"
    no_copy="no copy is left, and none was killed"
    # the order of record and call
    broken NO_INTENT "$files" "$twice"
    broken OUTCOME_FIRST "$files" "an append is missing"
    broken CUT_INSIDE "$exec" "$twice"
    # how a call under way is resolved
    broken NO_CHECK "$files" "$twice"
    broken SENTINEL_LATE "$files" "nothing is found of an append that was begun"
    broken NO_SIZE "$files" "half of an append is missing"
    broken TORN_AGAIN "$files" "$twice"
    broken NO_VERIFY "$files" "$parts"
    broken MAILBOX "$files" "what others wrote in answer is overwritten"
    broken NO_IDENTITY "$names" "$renamed"
    broken TARGET "$names" "$renamed"
    broken NO_HOLD "$names" "$renamed"
    broken NUMBER_ONLY "$descriptors" "a descriptor in use is closed"
    # the switch
    broken NO_SWITCH_MSG "$mapping" "$sees"
    broken NO_SWITCH_EXIT "$mapping" "a store is missing"
    broken EARLY_SWITCH "$mapping" "the world is set back"
    broken MAP_NOW "$mapping" "$sees"
    broken IMAGE_LATE "$mapping" "$sees"
    broken NO_SWEEP "$descriptors" "$stays"
    broken SWEEP_NUMBER "$descriptors" "$stays"
    broken SWEEP_ALL "$descriptors" "a descriptor has been lost"
    broken UNAUDITED "$descriptors" "a function that is executed again closes the program's descriptor"
    # copies
    broken PLAIN_FORK "$descriptors" "a descriptor has been lost"
    [ "${FT_TIER:-normal}" = quick ] || broken PLAIN_FORK "$exec" "the rank has lost its lock"
    broken ZERO_STAYS "$exec" "the rank has lost its lock"
    broken OUTLIVE "$exec" "hang"
    broken BECOMES "$files" "$no_copy"
    broken END_FIRST "$files" "$no_copy"
    broken ZERO_UNAWAITED "$exec" "$no_copy"
    broken NO_CLAIM "$files" "two incarnations of the rank run"
    broken UNKNOWN_CHILD "$files" "hang"
    broken OLD_FORGOTTEN "$files" "hang"
    broken START_ANEW "$files" "another contribution than before"
    # the log
    broken NEWEST "$files" "what a copy needs is released"
    broken LATE_COPY "$files" "what a replay needs is released"
    broken LIMIT_LARGE "$files" "hang"
}

check_all "$@"
