#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts, all of which are this one: what --report, --timeline and --output-filename tell of ranks that die and of a host that is lost;
# --die-with-launcher.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
needs python3
waits=$top_builddir/compat-tests/control/waits
export waits

# Rank 1 dies, then its host is lost. (Without snapshots: the first is taken after a second, and who is killed later does not begin again.) Each is in the report with its times, the picture names hosts, and every line is once in the rank's file.
what="ftrun, whose rank 1 dies, and then is lost with its host"
timeout -k 5 120 "$ftrun" --job-name "options-$$" --snapshot off --lease 3 --survive host --report "$tmp/report" --timeline "$tmp/picture" --output-filename "$tmp/files" -l --launcher "exec:$tmp/go" -H a,b:2 \
    sh -c 'echo begin; echo $$ >"$tmp/rank.$FTMPI_RANK.new"; mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"; exec "$waits" file 0 "$tmp/end" 20' \
    >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for [ -s "$tmp/rank.1" ]
wait_for grep -q '20 allreduces' "$tmp/out"
# Where ranks are is asked of all hosts: rank 0 stays outside MPI.
where() { "$ftrun" status "options-$$" >"$tmp/status" 2>&1 && [ "$(grep -c '^1-2 .*on b: unit 20: MPI_Allreduce(sum, 1 x double) at waits.*other hosts$' "$tmp/status")" = 1 ]; }
wait_for where || cat "$tmp/status"
grep -q '^0  *outside MPI .*on a: 20 units done' "$tmp/status" || { fail "ftrun status does not say where ranks are"; cat "$tmp/status"; }
first=$(cat "$tmp/rank.1")
kill -9 "$first"
again() { [ "$(cat "$tmp/rank.1")" != "$1" ]; }
wait_for again "$first"
second=$(cat "$tmp/rank.1")
# The controller has been told of the death, and is to draw the new ranks waiting.
knows_second() { "$ftrun" status --json "options-$$" 2>&1 | grep -q "\"pid\": $second,"; }
wait_for knows_second
sleep 3 # since when these ranks live is said with the next beats: once in a lease at least, or their host were lost
lose 1
wait_for again "$second"
wait_for where || cat "$tmp/status"
: >"$tmp/end"
wait $pid
code=$?
expect_code 0
printf '[1,0]<stdout>:%s\n' begin '20 allreduces: 1.000000' '1 allreduces: 1.000000' | cmp -s - "$tmp/files/rank.0/stdout" || fail "rank 0's file: $(cat "$tmp/files/rank.0/stdout")"
for r in 1 2; do
    [ "$(cat "$tmp/files/rank.$r/stdout")" = "[1,$r]<stdout>:begin" ] || fail "rank $r's file: $(cat "$tmp/files/rank.$r/stdout")"
done
[ "$(grep -c begin "$tmp/out")" = 3 ] || fail "the output is not where it was"
python3 - "$tmp/report" "$first" "$second" <<'END_OF_PYTHON' || fail "$what: see above"
import json, sys
report = json.load(open(sys.argv[1]))
first, second = map(int, sys.argv[2:])
def expect(ok, what):
    if not ok:
        sys.exit(f"{what}\n{json.dumps(report, indent=1)}")
deaths, losses = report["restarts"], report["hosts_lost"]
expect(report["hosts"] == ["a", "b"] and report["ranks"] == 3 and report["exit_code"] == 0, "the job")
expect(len(losses) == 1 and losses[0]["host"] == "b" and losses[0]["node"] == 1 and losses[0]["replaced_by"] == "b" and not losses[0]["all_ranks"], "the host that was lost")
expect(2.5 < losses[0]["detect_seconds_at_most"] < 20 and 0 < losses[0]["replace_seconds"] < 20, "how long that took")
expect([d["rank"] for d in deaths] == [1, 1, 2], "who died")
expect([d["host_lost"] for d in deaths] == [False, True, True] and all(d["host"] == "b" for d in deaths), "with its host or not")
expect(deaths[0]["signal"] == 9 and deaths[0]["pid"] == first and deaths[1]["pid"] == second and deaths[1]["exit_code"] is None, "of what")
expect(0 < deaths[0]["at_seconds"] <= deaths[1]["at_seconds"] == losses[0]["at_seconds"] < report["wall_seconds"], "when")
expect(deaths[0]["respawn_seconds"] > 0, "the one that died again before it was back")
for d in deaths[1:]:
    times = [d[name] or 0 for name in ("respawn_seconds", "recover_seconds", "lost_seconds")]
    expect(d["way_back"] == "start" and min(times) > 0 and d["replayed_units"] >= 20, f"how rank {d['rank']} came back")
expect([r["host"] for r in report["per_rank"]] == ["a", "b", "b"] and [r["restarts"] for r in report["per_rank"]] == [0, 2, 1], "the ranks")
expect(all(r["exit_code"] == 0 and r["units"] > 20 and 0 < r["ended_at_seconds"] <= report["wall_seconds"] for r in report["per_rank"]), "their ends")
expect(report["log_bytes"] > 0 and report["peak_memory_bytes"] > 0, "the sums")
END_OF_PYTHON
python3 - "$tmp/picture" <<'END_OF_PYTHON' || fail "$what: the picture: see above"
import sys
import xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
rows = root.findall(f".//{svg}g[@class='row']")
texts = [t.text or "" for t in [*root.iter(f"{svg}text"), *root.iter(f"{svg}title")]]
wrong = [f"no text {want}" for want in ("rank 0 · a", "rank 1 · b", "3 ranks on a, b ·", "1 lost host · 3 restarts", "rank 1 died of signal 9", "rank 2 was lost with host b")
         if not any(want in text for text in texts)]
wrong += [f"rank {r} has no band {b}" for r, b in ((0, "c"), (1, "m"), (1, "d"), (2, "d")) if not rows[r].findall(f".//{svg}path[@class='{b}']")]
print("\n".join(wrong + texts if wrong else []))
sys.exit(bool(wrong))
END_OF_PYTHON

# ftrun's own lines, whichever of its processes says them.
hosts a,b --timestamp-output --output-filename "$tmp/own" sh -c '[ $FTMPI_INCARNATION = 0 ] && kill -9 $$; true'
expect_code 0
[ "$(grep -vc 'is back where it was' "$tmp/err")" = 3 ] || fail "$what: not three lines"
! grep -qv '^[A-Z][a-z][a-z] [A-Z][a-z][a-z] .[0-9] ..:..:.. 20[0-9][0-9]<stderr>:ftrun: ' "$tmp/err" || fail "$what: ftrun's lines have no time"
cmp "$tmp/err" "$tmp/own/ftrun.stderr" || fail "$what: ftrun's lines are not in its file"

# Only into files; a directory that cannot be made, and files that cannot be.
hosts a,b --output-filename "$tmp/only:nocopy" --merge-stderr-to-stdout sh -c 'echo out; echo err >&2'
expect_code 0
expect_no_out
[ "$(sort "$tmp/only/rank.1/stdout" | tr '\n' ' ')" = 'err out ' ] && [ ! -e "$tmp/only/rank.1/stderr" ] || fail "$what: not in the file"
hosts a,b --output-filename "$tmp/go/no" true
expect_code 2
expect_err '^ftrun: --output-filename: cannot make .*: Not a directory$'
expect_err_lines 1
hosts a,b --report "$tmp/no/report" true
expect_code 2
expect_err '^ftrun: --report .*: No such file or directory$'
expect_err_lines 1

# Any of ftrun's processes, anywhere.
rm -f "$tmp"/rank.*
what="ftrun --die-with-launcher, of which one process on b is killed"
timeout -k 5 120 "$ftrun" --die-with-launcher --launcher "exec:$tmp/go" -H a,b sh -c 'echo $$ >"$tmp/rank.$FTMPI_RANK"; sleep 50' >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for [ -s "$tmp/rank.1" ] && wait_for [ -s "$tmp/rank.0" ]
kill -9 "$(awk '/^PPid/ { print $2 }' "/proc/$(cat "$tmp/rank.1")/status")"
wait $pid
code=$?
expect_code 1
expect_err '^ftrun: a process of ftrun was killed; the job is ended (--die-with-launcher)$'
all_gone "$tmp"/rank.* || fail "$what: ranks live on"
finish
