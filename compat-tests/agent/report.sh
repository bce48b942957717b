#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --report: JSON with what happened (ftrun.1, THE REPORT; what each time means is tested in report_test).
. "$(dirname "$0")/../lib/test.sh"
r=$tmp/report.json
has() { grep -q -e "$1" "$r" || fail "$what: the report does not say $1"; }

run -q --report "$r" -n 2 sh -c '[ $FTMPI_RANK.$FTMPI_INCARNATION = 1.0 ] && kill -9 $$; [ $FTMPI_RANK.$FTMPI_INCARNATION = 1.1 ] && exit 139; sleep 0.25'
expect_code 0
has '"ranks": 2'
has '"exit_code": 0'
has '"signal": 9'
has '"exit_code": 139'
has '"way_back": "start"'
has '"respawn_seconds": [0-9]'
has '"lost_seconds": [0-9]'
! records || has '"recover_seconds": [0-9]' # without MPI, too
has '"peak_memory_bytes": [1-9]'
has '"restarts": 2'
[ "$(grep -c respawn_seconds "$r")" = 2 ] || fail "not two restarts"
run --report "$r" -n 1 sh -c 'exit 4'
expect_code 4
has '"exit_code": 4'
run --report "$r" -n 1 true # over before anybody would look again
expect_code 0
has '"peak_memory_bytes": [1-9]'

run --report "$tmp" -n 1 true
expect_code 2
expect_err '^ftrun: --report .*: Is a directory$'
expect_err_lines 1

# The agent is killed while a rank is dead: its successor knows of the death, and of what came before.
command -v python3 >/dev/null || { echo "no python3: the report as a whole is not looked at"; finish; }
cat >"$tmp/program" <<'END'
#!/bin/sh
echo $$ >"$D/$FTMPI_RANK.$FTMPI_INCARNATION"
while [ ! -e "$D/go" ]; do sleep 0.02; done
END
chmod +x "$tmp/program"
what="ftrun whose agent is killed"
D=$tmp timeout -k 5 120 "$ftrun" -q --snapshot off --report "$r" -n 2 "$tmp/program" 2>"$tmp/err" &
launcher=$!
wait_for test -s "$tmp/0.0"
wait_for test -s "$tmp/1.0"
front=$(tr -d ' ' <"/proc/$launcher/task/$launcher/children") # below timeout
kill -9 "$(cat "$tmp/1.0")"
wait_for test -s "$tmp/1.1"
kill -9 "$(other_process "$front")"
kill -9 "$(cat "$tmp/0.0")"
wait_for test -s "$tmp/0.1"
touch "$tmp/go"
wait $launcher || fail "$what: exit code $?"
python3 - "$r" <<'END' || fail "$what: see above"
import json, sys
report = json.load(open(sys.argv[1]))
def expect(ok, what):
    if not ok:
        sys.exit(f"{what}\n{json.dumps(report, indent=1)}")
deaths = report["restarts"]
expect({d["rank"] for d in deaths} == {0, 1}, "both ranks were restarted")
for d in deaths:
    expect(d["host"] == report["host"] and d["pid"] > 0, "who it was")
    expect(d.get("signal") == 9 or d.get("exit_code", 0) is None, "of what it died, or that nobody knows")
    expect(0 < d["at_seconds"] < report["wall_seconds"], "deaths are within the job")
    expect(d["detect_seconds_at_most"] >= 0 and d["respawn_seconds"] >= 0 and d["lost_seconds"] > 0, "times")
    expect(d["lost_seconds"] <= d["at_seconds"], "no more is lost than there was")
    expect(d["recover_seconds"] is None and d["replay_seconds"] is None, "nothing is replayed that was not recorded")
for r in report["per_rank"]:
    expect(r["exit_code"] == 0 and r["restarts"] >= 1 and 0 < r["ended_at_seconds"] <= report["wall_seconds"], "the ends")
END
finish
