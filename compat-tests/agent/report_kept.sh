#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --report and --timeline are there however a job ends, and what is in their place is whole at any time. (They were emptied when a job began and
# written when it ended: who killed ftrun had an empty file, and nothing of the run before.)
. "$(dirname "$0")/../lib/test.sh"
uses hosts
needs python3
own_jobs
ends=$built/ends waits=$top_builddir/compat-tests/control/waits
cd "$tmp" || exit 99
mkdir -m 700 run
r=kept/report p=kept/picture
says() { python3 -c 'import json, sys; it = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' $r "$1"; }
so() { says "$1" || { fail "$what: the report is not so: $1"; head -c 1500 $r; }; }
drawn() { grep -q "$1" $p && tail -n 1 $p | grep -q '</svg>' || fail "$what: no picture with: $1"; }
older() {
    rm -rf kept
    mkdir kept
    echo '{"older": true}' >$r
    echo '<older></svg>' >$p
}
# Nothing else stays there.
clean() { [ "$(ls -A kept | tr '\n' ' ')" = 'picture report ' ] || fail "$what: left there: $(ls -A kept)"; }
# begins ARGUMENT...: until rank 0 is outside MPI and the others wait for it.
begins() {
    rm -f end
    begin --snapshot off --report $r --timeline $p "$@" "$waits" file 0 "$tmp/end" 5
    wait_for grep -q '5 allreduces' "$tmp/out"
    says '"older" in it or it["finished"] is False' || fail "$what: what was there before is gone"
}
is_begun() { says 'it.get("finished") is False and it["exit_code"] is None'; }
is_drawn() { grep -q 'unfinished when this was drawn' $p; }

# Both processes of ftrun are killed.
older
begins -n 2
wait_for is_begun
wait_for is_drawn
second=$(other_process "$front")
kill -STOP "$front" "$second"
kill -KILL "$front" "$second"
ended
so 'it["ranks"] == 2 and it["per_rank"][1]["units"] == 5 and it["per_rank"][1]["exit_code"] is None and 0 < it["wall_seconds"] < 300'
drawn 'unfinished'

# One of them, and the other one, which goes on; a rank has died by then.
older
begins -n 2
second=$(other_process "$front")
kill -9 "$second"
has_another() { third=$(other_process "$front") && [ -n "$third" ]; }
wait_for has_another
victim() { pid=$("$ftrun" status --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["per_rank"][1]["pid"])' 2>/dev/null); }
wait_for victim
kill -9 "$pid"
knows_death() { is_begun && says 'len(it["restarts"]) == 1'; }
wait_for knows_death
kill -9 "$front"
: >end
nobody() { ! "$ftrun" status >/dev/null 2>&1; }
ended
wait_for nobody
so 'it["finished"] and it["exit_code"] == 0 and len(it["restarts"]) == 1 and it["restarts"][0]["signal"] == 9'
drawn 'exit code 0'
clean

printf '#!/bin/sh\nkill -9 $$\n' >dies
chmod +x dies

# Ctrl-C, MPI_Abort, given up, the time is up.
older
begins -n 2
kill -INT "$front"
ended
so 'it["finished"] and it["exit_code"] == 130 and all(r["signal"] or r["exit_code"] for r in it["per_rank"])'
drawn 'exit code 130'
clean
while read -r wanted arguments; do
    older
    # shellcheck disable=SC2086
    run --report $r --timeline $p -n 2 $arguments
    expect_code "$wanted"
    so "it['finished'] and it['exit_code'] == $wanted"
    drawn 'exit code'
    clean
done <<END
110 --timeout 0.3 sleep 1000
7 $ends abort
137 $tmp/dies
END

# Over hosts: both processes of ftrun are killed; a host is lost, and no other one is there; Ctrl-C.
older
begins --launcher "exec:$tmp/go" -H a,b
wait_for is_begun
wait_for is_drawn
kill_both "$front"
ended
so 'it["hosts"] == ["a", "b"] and it["per_rank"][1]["host"] == "b"'
gone_from() { ! pgrep -f "$waits file 0 $tmp/end" >/dev/null; }
wait_for gone_from
older
begin --snapshot off --lease 1 --report $r --timeline $p --launcher "exec:$tmp/go" -H a,gone-b -n 2 \
    sh -c 'echo $$ >"$tmp/rank.$FTMPI_RANK.new"; mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"; exec "$@"' sh "$waits" file 0 "$tmp/end" 5
wait_for grep -q '5 allreduces' "$tmp/out"
wait_for test -s rank.1
: >lost
lose 1
ended
so 'it["finished"] and it["exit_code"] == '$code' != 0 and len(it["hosts_lost"]) == 1 and it["hosts_lost"][0]["replaced_by"] is None'
drawn 'lost host'
clean
older
begins --launcher "exec:$tmp/go" -H a,b
kill -INT "$front"
ended
so 'it["finished"] and it["exit_code"] == 130'
drawn 'exit code 130'
clean

# A directory that nothing can be written into: told at once.
uid=$((60000 + $$ % 5000))
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid=$uid --clear-groups"
older
chmod 755 "$tmp" kept
chmod 666 $r $p
if [ "$(id -u)" != 0 ] || { command -v setpriv >/dev/null && $as test -x "$ftrun"; }; then
    [ "$(id -u)" = 0 ] || chmod 555 kept
    for option in report timeline; do
        # shellcheck disable=SC2086
        call $as "$ftrun" --$option "kept/$option.new" -n 1 sh -c 'echo started'
        expect_code 2
        expect_no_out
        expect_err "^ftrun: --$option kept/$option.new: Permission denied\$"
        expect_err_lines 1
    done
    # shellcheck disable=SC2086
    call $as "$ftrun" --report $r -n 1 sh -c 'echo started' # another one could not be put in its place
    expect_code 2
    so '"older" in it'
    chmod 755 kept
fi
finish
