#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Mixed collectives over hosts that are broken at random, by seed: ranks, representatives, launcher processes, cables, connections, whole hosts.
# The output must be that of an undisturbed run over as many nodes, byte for byte. FT_SECONDS (of each kind) and FT_NODES: for hunts.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
small="-n 400 -m 60000 -b 200 -w 2000"
lab boot h1 h2 h3 h4

# breaks NODES PER-NODE SPARES EVENTS KINDS OPTION...
breaks() {
    local nodes=$1 per_node=$2 spares=$3 events=$4 kinds=$5
    shift 5
    python3 "$here/break.py" --ftrun "$ftrun" --nodes "$nodes" --per-node "$per_node" --spares "$spares" --events "$events" --kinds "$kinds" \
        "$@" -- "$top_builddir/compat-tests/chaos/mixed" $small -s '{seed}' -p '{dir}' || failed=1
}
# Nobody is replaced, so a node must not be given up: cuts are for 1.35 s at most, and TCP sends again 1.4 s after a cut began if it knew round trips to be short, but 2.1 s and
# more if the machine had stood still before (found by CI: not heard of for 2 s, two thirds of a lease of 3).
unreplaced='--max-restarts 0 --lease 9'
short=rank,rep,all,agent,reset,blip,mute,deaf,freeze,unplug
if full; then
    lab boot h5 h6 h7 h8 h9 h10 h11 h12
    each=${FT_SECONDS:-120}
    for nodes in ${FT_NODES:-2 3 5 8}; do
        breaks "$nodes" 2 0 5 $short,lossy --seconds "$each" --seeds 10000 --timeout 120
        breaks "$nodes" 2 4 4 rank,rep,agent,reset,kill,lose,stale,asleep,two --seconds "$each" --seeds 10000 --timeout 180 --ftrun-args '--survive host'
        breaks "$nodes" 2 0 5 reset,blip,mute,deaf,lossy --seconds "$each" --seeds 10000 --timeout 120 --ftrun-args "$unreplaced"
        breaks "$nodes" 1 4 2 half,two,kill,lose --seconds "$each" --seeds 10000 --timeout 180
    done
else
    breaks 2 2 0 4 $short
    breaks 2 2 0 3 reset,blip,mute,deaf --ftrun-args "$unreplaced" # the log is released behind the ranks, and what a link lacks must still be there
    breaks 3 1 1 2 rank,rep,kill
    lab boot h5 h6
    breaks 4 1 2 1 two
    breaks 4 1 2 1 half
fi
finish
