#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/report.schema.json: what --report and status --json have, by the same names, on one host and on two; null for what is not there, and
# no name missing.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
needs python3
own_jobs
waits=$built/waits
cd "$tmp" || exit 99
mkdir -m 700 run
schema=$top_srcdir/docs/report.schema.json
keeps_to() { python3 "$here/schema.py" "$schema" "$1" "$2" || { fail "$what: not as the schema has it"; head -c 6000 "$2"; }; }
# says FILE EXPRESSION: of it, as `it`.
says() { python3 -c 'import json, sys; it = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$@"; }
asks() { "$ftrun" status --json >status.new 2>/dev/null && mv status.new status && says status "$1"; }

# On one host, where a rank dies; with a directory for checkpoints, and nothing in it.
begin --snapshot off --report report --ckpt-dir ckpt --job-name schema -n 3 "$waits" file 2 "$tmp/ready" 7
wait_for asks 'it["per_rank"][0]["state"] == "in MPI" and it["per_rank"][2]["state"] == "outside MPI" and it["log_bytes"] > 0'
keeps_to status status
says status 'not it["finished"] and it["exit_code"] is None and it["per_node"] is None and it["name"] == "schema" and it["hosts"] == [it["host"]]' ||
    fail "status of a job on one host"
says status '[it["per_rank"][r]["call"] for r in (0, 2)] == ["MPI_Allreduce", None] and it["per_rank"][2]["snapshot"] is None' ||
    fail "status: of two ranks"
says status 'it["durable"]["last_version"] is None and it["bootstrap_cache"] is None' || fail "status: what there is, and what not"
says status 'all(r["exit_code"] is None and r["signal"] is None and r["ended_at_seconds"] is None for r in it["per_rank"])' || fail "status: who has ended"
kill -9 "$(python3 -c 'import json; print(json.load(open("status"))["per_rank"][1]["pid"])')"
wait_for asks 'len(it["restarts"]) == 1 and it["per_rank"][1]["state"] == "in MPI" and it["restarts"][0]["way_back"] == "start"'
keeps_to status status
says status 'it["restarts"][0]["signal"] == 9 and it["restarts"][0]["exit_code"] is None and it["per_rank"][1]["restarts"] == 1' || fail "status: who has died"
: >ready
ended
expect_code 0
keeps_to report report
says report 'it["finished"] and it["exit_code"] == 0 and it["name"] == "schema" and len(it["restarts"]) == 1' || fail "$what: the report"

# What one has and the other as well has the same name in both: all of a report.
python3 -c 'import json
report, status = json.load(open("report")), json.load(open("status"))
missing = (set(report) - set(status)) | (set(report["per_rank"][0]) - set(status["per_rank"][0]))
assert not missing, missing' || fail "names that only a report has"

# The age of a checkpoint, in memory and on disk: one that was not there when it was last asked is no older than that.
begin --report report --ckpt-dir more -n 2 "$top_builddir/compat-tests/checkpoint/resumejob" 100000 800 20
wait_for asks '(it["per_rank"][0]["checkpoint"] or 0) >= 3 and (it["durable"]["last_version"] or 0) >= 1'
keeps_to status status
cp status before
versions=$(python3 -c 'import json; it = json.load(open("before")); print(it["per_rank"][0]["checkpoint"], it["durable"]["last_version"])')
wait_for asks "it['per_rank'][0]['checkpoint'] > ${versions% *} and it['per_rank'][0]['checkpoint_seconds'] is not None and it['durable']['last_version'] > ${versions#* }"
keeps_to status status
python3 -c 'import json
before, now = (json.load(open(name)) for name in ("before", "status"))
since = now["wall_seconds"] - before["wall_seconds"]
ages = (now["per_rank"][0]["checkpoint_seconds"], now["wall_seconds"] - now["durable"]["last_at_seconds"])
assert 0 <= min(ages) and max(ages) <= since, (since, ages)' || fail "$what: the age of checkpoints"
# Each has its age: one that was made in the very instant of the question had none.
run status
expect_code 0
grep -q '^last checkpoint: version [0-9]*, [0-9.]* s ago$' out && grep -q '^last checkpoint on disk: version [0-9]*, [0-9.]* s ago$' out ||
    { fail "$what: no checkpoints"; cat out; }
run stop
ended
keeps_to report report
says report 'it["durable"]["last_bytes"] > 0 and it["durable"]["resumed_version"] is None' || fail "$what: the report"

# On two hosts.
begin --snapshot off --report report --launcher "exec:$tmp/go" -H a,b:2 "$waits" file 0 "$tmp/end" 20
wait_for asks '[r["state"] for r in it["per_rank"]] == ["outside MPI", "in MPI", "in MPI"]'
keeps_to status status
says status 'it["hosts"] == ["a", "b"] and [r["host"] for r in it["per_rank"]] == ["a", "b", "b"] and it["memory"] is None' || fail "$what: hosts"
# Two nodes and their ftrun are on this host, and each has a socket: that is one job.
[ "$(find run -name '*.sock' | wc -l)" = 3 ] && [ "$("$ftrun" list 2>&1 | grep -c waits)" = 1 ] || fail "$what: ftrun list: $("$ftrun" list 2>&1; ls run)"
says status '[n["state"] for n in it["per_node"]] == ["running"] * 2 and it["standby_pid"] > 0 and it["name"] is None' || fail "$what: nodes"
: >end
ended
expect_code 0
keeps_to report report
says report 'it["hosts"] == ["a", "b"] and it["finished"] and it["durable"] is None' || fail "$what: the report"

# The check finds what is wrong.
for change in 'it.pop("exit_code")' 'it.update(wall_seconds=None)' 'it.update(more=1)' 'it["per_rank"][0].update(units=True)' 'it["per_rank"][0].update(pid="7")' \
    'it.update(ranks=0)' 'it["snapshots"].pop("taken")' 'it.update(format=2)'; do
    python3 -c 'import json, sys; it = json.load(open("report")); eval(sys.argv[1]); json.dump(it, open("bad", "w"))' "$change"
    python3 "$here/schema.py" "$schema" report bad >said && fail "schema.py takes a report after $change"
    [ "$(wc -l <said)" = 1 ] || { fail "schema.py on $change"; cat said; }
done
finish
