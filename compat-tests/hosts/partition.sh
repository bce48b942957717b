#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A cable that is cut for less than the lease, and for longer: the first disturbs nobody; of the second, the ranks on the far side are dead before
# others take their place, whoever is right about who is cut off, and the output stays that of an undisturbed run.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
lab boot h1 h2 h3
small="-n 300 -m 20000 -b 0 -w 5000"
breaks() {
    python3 "$here/break.py" --ftrun "$ftrun" "$@" -- "$top_builddir/compat-tests/chaos/mixed" $small -s '{seed}' -p '{dir}' || failed=1
}
breaks --nodes 2 --per-node 1 --events 1 --kinds blip --lease 2
breaks --nodes 2 --per-node 1 --spares 1 --events 1 --kinds stale --lease 1.5
if full; then
    breaks --nodes 2 --per-node 2 --events 3 --seeds 5 --kinds blip,mute,deaf,unplug --lease 3
    breaks --nodes 2 --per-node 2 --spares 1 --events 1 --seeds 5 --kinds stale,asleep --lease 3
fi

# Cut off for good, and no host to take its place: everything ends, also on the far side, and nobody was told but by the clock.
begin -n 2 --host h1,h2 --lease 1.5 "$top_builddir/compat-tests/chaos/mixed" -v -n 100000 -b 0 -m 1000 -w 10000
until_true 120 grep -q '^1 op' "$tmp/out" || fail "no output"
lab cut h2
ended 120
[ "$code" != 0 ] || fail "the job goes on without a host"
expect_err 'h2.*the job is ended'
nothing_on h1 h2
lab heal h2
finish
