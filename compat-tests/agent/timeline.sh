#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeline: a picture of what happened (how it is recorded and bounded is tested in timeline_test).
. "$(dirname "$0")/../lib/test.sh"
waits=$top_builddir/compat-tests/control/waits
needs python3
pic=$tmp/picture.svg
cat >"$tmp/look.py" <<'END'
"""look.py PICTURE RANKS DEATHS [RANK:BAND...] [=TEXT...]: the picture has so many rows and marks of deaths, these bands and these texts."""
import sys
import xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
rows = root.findall(f".//{svg}g[@class='row']")
marks = [m for m in root.iter(f"{svg}use") if m.find(f"{svg}title") is not None]
texts = [t.text or "" for t in [*root.iter(f"{svg}text"), *root.iter(f"{svg}title")]]
width, height = float(root.get("width")), float(root.get("height"))
wrong = []
if root.tag != svg + "svg" or len(rows) != int(sys.argv[2]):
    wrong.append(f"{len(rows)} rows, not {sys.argv[2]}")
if len(marks) != int(sys.argv[3]):
    wrong.append(f"{len(marks)} deaths, not {sys.argv[3]}")
for mark in marks:
    if not (0 < float(mark.get("x")) < width and 0 < float(mark.get("y")) < height):
        wrong.append("a mark outside the picture")
for word in sys.argv[4:]:
    if word[0] == "=":
        if not any(word[1:] in text for text in texts):
            wrong.append(f"no text {word[1:]}")
    else:
        rank, band = word.split(":")
        if not rows[int(rank)].findall(f".//{svg}path[@class='{band}']"):
            wrong.append(f"rank {rank} has no band {band}")
print("\n".join(wrong))
if wrong:
    print("\n".join(texts))
sys.exit(bool(wrong))
END
look() { python3 "$tmp/look.py" "$pic" "$@" || fail "$what: see above"; }

# Computing, in MPI, replaying: one rank keeps the others waiting, once because it replays slowly (from the beginning: its program goes by
# FTMPI_INCARNATION as it was at its start).
run -q --timeline "$pic" --snapshot off -n 3 "$waits" slow 1 100
expect_code 0
look 3 1 0:m 1:r 2:m '=rank 1 died of signal 9 SIGKILL' '=it was started again' '=1 restart' '=exit code 0' '=3 ranks on' '=replaying'

# Snapshots: as many as the report has, below the rows of the ranks that took some. Rank 1 dies with its own, so all start again. (Where nobody
# has one it dies alone.)
cd "$tmp" || exit 99
if records; then death=x400; else death=k400; fi
run -q --timeline "$pic" --report "$tmp/report" --snapshot 0.02 -n 3 "$built/again" 600 1.0:$death
expect_code 0
set -- $(python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
n = report["snapshots"]["taken"]
ways = {"snapshot": "its snapshot went on", "start": "it was started again", "all": "all were started again"}
print(len(report["restarts"]), f"={n}_snapshot" if n else "=exit_code", "=" + ways[report["restarts"][0]["way_back"]].replace(" ", "_"),
      *(f"{r}:t" for r in range(3) if report["per_rank"][r]["snapshots"]["taken"]))' "$tmp/report")
deaths=$1 counted=$(echo "$2" | tr _ ' ') way=$(echo "$3" | tr _ ' ')
shift 3
look 3 "$deaths" "$counted" "$way" "$@"

# A program that never calls MPI; a name that is not fit for XML; a job that fails, and by whom.
printf '#!/bin/sh\n[ $FTMPI_RANK = 0 ] || exit 9\nsleep 10\n' >"$tmp/a<&>"
chmod +x "$tmp/a<&>"
run -q --timeline "$pic" -n 2 "$tmp/a<&>" "$(printf 'bad \377')"
expect_code 9
look 2 1 0:s "=$tmp/a<&> ?" '=exit code 9' '=rank 1 left with code 9'

# Many ranks in thin rows.
run -q --timeline "$pic" -n 150 sh -c '[ $FTMPI_RANK.$FTMPI_INCARNATION != 77.0 ] || kill -9 $$'
expect_code 0
look 150 1 '=rank 77 died of signal 9'

# The agent is killed, then a rank: what was seen before is there, and what happened afterwards, too.
what="ftrun whose agent is killed"
timeout -k 5 120 "$ftrun" --timeline "$pic" -n 2 "$waits" file 1 "$tmp/go" 10 >"$tmp/out" 2>"$tmp/err" &
pid=$!
front=
started() { front=$(tr -d ' ' <"/proc/$pid/task/$pid/children") && [ -n "$front" ] && [ "$(grep -c 'in MPI' "$tmp/status")" = 1 ]; }
asked() { "$ftrun" status "$front" >"$tmp/status" 2>/dev/null; started; }
wait_for asked
has_second() { second=$(other_process "$front") && [ -n "$second" ]; } # once in 10 runs beside restart_all.sh it was not there at first
wait_for has_second
kill -9 "$second"
wait_for grep -q 'goes on with it' "$tmp/err"
victim= # the successor may not answer yet
found() { victim=$("$ftrun" status --json "$front" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["per_rank"][0]["pid"])' 2>/dev/null); }
wait_for found
kill -9 "$victim"
wait_for grep -q 'rank 0 .* restarted' "$tmp/err"
touch "$tmp/go"
wait $pid || fail "$what: exit code $?"
look 2 1 0:m 1:c '=rank 0 died of signal 9' '=1 restart'

run --timeline "$tmp/no/picture" -n 1 true
expect_code 2
expect_err '^ftrun: --timeline .*/no/picture: No such file or directory$'
expect_err_lines 1
run --timeline /dev/full -n 1 true
expect_code 1
expect_err '^ftrun: --timeline: the picture could not be written: No space left on device$'
expect_err_lines 1
run -q --timeline /dev/stdout -n 1 true
expect_code 0
grep -q '^</svg>' "$tmp/out" || fail "$what: no picture"
FTMPI_TIMELINE=$pic run -q -n 1 true
expect_code 0
look 1 0
finish
