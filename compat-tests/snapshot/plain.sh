#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that never call MPI: they get newer snapshots, too, about one a second, at any call that is recorded. (They had the one of before main
# for as long as they ran, and their log grew with the job. And `ftrun status` said that they were starting.)
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib/test.sh"
own_jobs

status() { "$ftrun" status --json 2>/dev/null | tr -d '\n '; }
pid_of() { status | sed 's/.*"rank":'"$1"',"host":"[^"]*","pid":\([0-9]*\).*/\1/'; }
has_newer() { [ "$(status | grep -o '"snapshot":{"pid"' | wc -l)" = "$1" ]; }

begin --report "$tmp/report" -n 2 sh -c 'i=0
    while [ ! -e "$1/stop" ]; do i=$((i + 1)); echo $i; done >"$1/lines.$FTMPI_RANK"
    echo "$FTMPI_RANK: $i"' _ "$tmp"
wait_for has_newer 2
"$ftrun" status >"$tmp/status"
grep -q '^0-1 *running ' "$tmp/status" || { fail "ftrun status does not say that they run"; cat "$tmp/status"; }
kill -KILL "$(pid_of 1)"
wait_for told 'rank 1 .*killed by signal 9 (SIGKILL); restarted from its snapshot, restart 1'
: >"$tmp/stop"
ended
expect_code 0
for rank in 0 1; do
    last=$(sed -n "s/^$rank: //p" "$tmp/out")
    [ "$last" -gt 0 ] && seq "$last" | cmp - "$tmp/lines.$rank" || fail "rank $rank: its lines are not those that it has written"
done
grep -q '"way_back": "snapshot"' "$tmp/report" || fail "$what: $(grep way_back "$tmp/report")"

# And with a second thread, if that is not wanted.
rm "$tmp/stop"
begin --snapshot-threads off --snapshot 0.05 -n 1 /usr/bin/python3 -c 'import os, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
while not os.path.exists(sys.argv[1]): print(len(open("/proc/self/stat").read()), file=open(os.devnull, "w"))' "$tmp/stop"
off() { status | grep -q '"no_snapshot":"ithasmorethanonethread(--snapshot-threadsoff)"'; }
wait_for off
: >"$tmp/stop"
ended
expect_code 0
finish
