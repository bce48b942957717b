#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --events of jobs over hosts that are lost, cut off, or lose the process that runs the ranks: each event once, and those that the report has.
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
own_jobs
lab boot h1 h2 h3
events=$tmp/events
keeps() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$top_srcdir/compat-tests/control/events.py" "$top_srcdir/docs/events.schema.json" "$events" "$tmp/report" >"$tmp/said" 2>&1 ||
        { fail "$what: $(cat "$tmp/said")"; head -c 6000 "$events"; }
}
happens() { grep -c "\"event\":\"$1\".*${2-}" "$events"; }
has_happened() { [ "$(happens "$@")" -ge 1 ] 2>/dev/null; }
mixed="$top_builddir/compat-tests/chaos/mixed -n 600 -m 2000 -b 0 -w 3000"

# A rank is killed, then the agent of its host, then another host is lost; and the first one is cut off.
begin -n 3 --host h1,h2,h3:2 --map-by node --lease 2 --events "$events" --report "$tmp/report" $mixed
wait_for has_happened rank_started '"rank":2'
killed 0 h1
wait_for has_happened rank_back '"rank":0'
pid=$("$ftrun" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["per_rank"][0]["pid"])')
lab in h1 sh -c 'cd /proc && kill -KILL "$(awk "/^PPid/ { print \$2 }" "$1/status")"' - "$pid" || fail "cannot kill the agent"
lab lose h2
wait_for has_happened node_replaced '"host":"h2"'
killed 0 h1
ended 120
expect_code 0
keeps
[ "$(happens node_lost '"host":"h2"')$(happens node_replaced '"host":"h2","replaced_by":"h3"')$(happens rank_died '"rank":1.*"host_lost":true')$(happens all_ranks_restart)" = 1110 ] ||
    { fail "$what:"; cat "$events"; }
[ "$(happens rank_died '"rank":0')" -ge 2 ] || { fail "$what: the deaths of rank 0"; cat "$events"; }

# All nodes are lost at once, and the log with them.
rm "$events"
lab boot h2
lab heal h2
begin -n 2 --host h1,h2,h3:2 --map-by node --spares 1 --lease 1.5 --events "$events" --report "$tmp/report" $mixed
wait_for has_happened rank_started '"rank":1'
lab cut h1 h2
wait_for has_happened node_replaced
ended 120
expect_code 0
keeps
[ "$(happens all_ranks_restart)$(happens node_lost '"all_ranks":true')" = 11 ] && [ "$(happens rank_died '"host_lost":true')" -ge 2 ] || { fail "$what:"; cat "$events"; }
lab heal h1 h2
nothing_on h1 h2 h3
finish
