#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of followed children (children.pml, docs/models.md) exhaustively, as release.sh does with its own. With
# arguments: only the broken variants named, with the story of how each goes wrong.
# shellcheck disable=SC2034
model=children
broken_base=
# shellcheck source=SCRIPTDIR/search.sh
. "$(dirname "$0")/search.sh"

paused="-DPROGRAM=1 -DK=1 -DA=0"
in_turn="-DPROGRAM=2 -DK=1 -DA=0"
at_once="-DPROGRAM=3 -DK=1 -DA=0"
paused_agent="-DPROGRAM=1 -DK=1 -DA=1"
paused_twice="-DPROGRAM=1 -DK=2 -DA=0"

sound_all() {
    sound "a child, a pause, a wait; the agent dies, too" "$paused_agent" "-O0 -DSAFETY" "-w20"
    sound "a child and a wait in turn" "$in_turn" "-O0 -DSAFETY" "-w20"
    [ "${FT_TIER:-normal}" != quick ] || return
    seen 1 "a fork is taken back" "$in_turn"
    seen 2 "a child has claimed a fork under way" "$in_turn"
    seen 3 "what a wait has noted is taken" "$in_turn"
    seen 4 "it is among the strays" "$in_turn"
    seen 5 "a claim's word is used again" "$in_turn"
    seen 6 "the rank is killed in the replay" "$paused_twice"
    seen 7 "a child finds that its parent has claimed in its place" "$in_turn"
    seen 8 "a child finds its word used again" "-DPROGRAM=3 -DK=0 -DA=0"
    seen 9 "a stray is named when the agent looks again" "$in_turn"
    sound "a pause, 2 kills" "$paused_twice" "-O1 -DSAFETY" "-w22"
    sound "in turn, 2 kills" "-DPROGRAM=2 -DK=2 -DA=0" "-O1 -DSAFETY" "-w24"
    sound "in turn; the agent dies, too" "-DPROGRAM=2 -DK=1 -DA=1" "-O1 -DSAFETY" "-w22"
    sound "two at once" "$at_once" "-O1 -DSAFETY" "-w22"
    [ "${FT_TIER:-normal}" = full ] || return
    sound "two at once; the agent dies, too" "-DPROGRAM=3 -DK=1 -DA=1" "-O2 -DSAFETY" "-w25"
    sound "two at once; a parent does not claim in its child's place" "$at_once -DPARENT_SILENT" "-O1 -DSAFETY" "-w22"
}

broken_all() {
    two="a fork makes two children"
    # the fork
    broken NO_CLAIM "$in_turn" "$two"
    broken NO_REVOKE "$in_turn" "$two"
    broken REUSED "$in_turn" "$two"
    broken LATE_ENDS "-DPROGRAM=3 -DK=0 -DA=0" "the child that is waited for has not run"
    broken FORGET_FIRST "$in_turn" hang
    # its end
    broken TAKE_FIRST "$in_turn" hang
    broken REAP_FIRST "$paused_agent" hang
    broken NO_STRAYS "$in_turn" hang
    broken LOOKS_ONCE "$in_turn" hang
    # SIGCHLD
    broken SIGNAL_LATE "$paused" hang
    broken NO_SELF "$paused" hang
    broken NO_EXCHANGE "$paused" "SIGCHLD of one child comes from two"
    broken SENT_UNSAID "$paused_agent" hang
    broken UNTOLD "$paused_twice" "SIGCHLD of a child has not come"
}

check_all "$@"
