#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --events: what happens to a job, as it happens, each event once: on one host and on several, across deaths of ranks, of ftrun's processes and of nodes. Neither a
# full disk nor a reader holds up the job. (launcher/events/told_test.c kills who tells at any moment.)
# shellcheck disable=SC2154 # what is not assigned here is by: uses hosts
. "$(dirname "$0")/../lib/test.sh"
uses hosts
needs python3
own_jobs
sanitizers detect_leaks=0 handle_segv=0 # killat.sh
cd "$tmp" || exit 99
waits=$built/waits
killat=$top_builddir/compat-tests/agent/killat
schema=$top_srcdir/docs/events.schema.json
# keeps [FILE [REPORT]]: these are the events of a job.
keeps() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$here/events.py" "$schema" "$@" >said 2>&1 || { fail "$what: $(cat said)"; head -c 4000 "$1"; }
}
happens() { grep -c "\"event\":\"$1\".*${2-}" events; }
has_happened() { [ "$(happens "$@")" -ge 1 ] 2>/dev/null; }

# ---- what cannot be written is said before anything starts ----
touch nodir
for bad in "nodir/x: Not a directory" "$tmp: Is a directory"; do
    run --events "${bad%%:*}" -n 1 touch started
    expect_code 2
    expect_err "^ftrun: --events: cannot write $bad$"
done
run --events unix:nosuch -n 1 touch started
expect_code 2
expect_err '^ftrun: --events: cannot connect to the socket nosuch: No such file or directory$'
touch file
run --events unix:file -n 1 touch started
expect_code 2
expect_err 'cannot connect to the socket file: Connection refused$'
for name in '' "$(printf '%0200d' 0)"; do
    run --events "unix:$name" -n 1 touch started
    expect_code 2
    expect_err 'not the name of a socket (it is empty, or too long)$'
done
mkfifo fifo
run --events fifo -n 1 touch started
expect_code 2
expect_err '^ftrun: --events: nobody reads fifo$'
run --events same --report same -n 1 touch started
expect_code 2
expect_err '^ftrun: --events same is the file of --report or --timeline: each needs its own$'
hosts a,b --events nodir/x touch started
expect_code 2
expect_err '^ftrun: --events: cannot write nodir/x: Not a directory$'
[ ! -e started ] || fail "something was started"

# ---- one host: a rank dies and comes back; what is there already stays ----
echo '{"before": 1}' >events
begin --snapshot off --events events --report report --job-name told -n 3 "$waits" file 2 "$tmp/ready" 7
wait_for has_happened rank_started '"rank":2'
"$ftrun" status --json >"$tmp/status"
kill -9 "$(python3 -c 'import json; print(json.load(open("status"))["per_rank"][1]["pid"])')"
wait_for has_happened rank_restarted # while the job runs
[ "$(happens job_ended)" = 0 ] || fail "$what: it has ended"
: >ready
ended
expect_code 0
[ "$(head -n 1 events)" = '{"before": 1}' ] || fail "$what: the file was not appended to"
sed -i 1d events
keeps events report
[ "$(happens rank_died '"rank":1.*"signal":9')$(happens rank_restarted '"way_back":"start"')$(happens rank_ended)" = 113 ] || { fail "$what:"; cat events; }
python3 -c 'import json, time
e = [json.loads(line) for line in open("events")]
r = json.load(open("report"))
assert e[0]["name"] == "told" and e[0]["ranks"] == 3 and e[0]["command"] == r["command"] and e[0]["hosts"] == r["hosts"], e[0]
assert abs(e[0]["time"] - r["began_at"]) < 0.001 and all(r["began_at"] - 0.001 <= one["time"] <= time.time() for one in e), e
died, = (one for one in e if one["event"] == "rank_died")
assert abs(died["time"] - r["began_at"] - r["restarts"][0]["at_seconds"]) < 0.001' || fail "$what: what the report has as well"

# ---- stopped; a verdict; a checkpoint ----
rm -f events
begin --events events -n 2 sleep 1000
wait_for has_happened rank_started '"rank":1'
run stop
ended
expect_code 143
keeps events
[ "$(happens job_stopped '"signal":15')$(happens rank_ended '"signal":15')" = 12 ] || { fail "$what:"; cat events; }
rm -f events
run --events events -n 2 sh -c 'sleep $FTMPI_RANK; exit $((FTMPI_RANK + 3))'
expect_code 3
keeps events
[ "$(happens rank_ended '"rank":0.*"exit_code":3')$(happens job_ended '"exit_code":3')" = 11 ] || { fail "$what:"; cat events; }
rm -f events
begin --events events --ckpt-dir ckpt -n 2 "$top_builddir/compat-tests/checkpoint/resumejob" 100000 800 20
wait_for has_happened checkpoint_written
run stop
ended
keeps events

# ---- ftrun's processes are killed at any of their system calls ----
cat >job <<'E'
[ "$FTMPI_RANK.$FTMPI_INCARNATION" != 1.0 ] || kill -9 $$
echo "rank $FTMPI_RANK"
E
timeout -k 5 60 "$killat" agent:0 self "$ftrun" -q --events calm -n 2 sh job >out 2>err 9>stops
stops=$(sed -n 's/^agent //p' stops)
every=${FT_EVERY:-67}
seeded
random "$every"
n=$((1 + drawn)) runs=0
while [ $n -le "$stops" ]; do
    rm -f events report
    what="killed at stop $n of $stops"
    timeout -k 5 60 "$killat" "agent:$n" self "$ftrun" -q --events events --report report -n 2 sh job >out 2>err 9>stops
    code=$?
    expect_code 0
    keeps events report
    n=$((n + every)) runs=$((runs + 1))
done
[ "$runs" -ge 5 ] || fail "only $runs of $stops stops were tried"

# ---- all ranks start again, since what one needs of the log is gone ----
rm -f events
run --events events --report report --snapshot off --log-full forget --log-limit 16M -n 3 "$top_builddir/compat-tests/agent/again" 600 1.0:k550
expect_code 0
keeps events report
[ "$(happens all_ranks_restart)$(happens rank_back '"way_back":"all"')" = 13 ] || { fail "$what:"; cat events; }

# ---- a disk that is full, a reader that goes away ----
run --events /dev/full -n 2 true
expect_code 0
expect_err '^ftrun: --events: cannot write /dev/full: No space left on device; it is tried again, and the job goes on$'
expect_err '^ftrun: --events: the last events could not be written to /dev/full$'
expect_err_lines 2
cat >listen.py <<'E'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind('socket')
s.listen(1)
print('listens', flush=True)
c = s.accept()[0]
got = b''
while len(sys.argv) == 1 or b'rank_started' not in got:
    more = c.recv(65536)
    got += more
    if not more:
        break
open('events', 'wb').write(got)
E
listen() {
    rm -f socket events listening
    bounded 120 python3 listen.py "$@" >listening &
    listener=$!
    wait_for grep -q listens listening
}
listen
run --events unix:socket --report report -n 2 sh job
expect_code 0
wait $listener
keeps events report
listen once
begin --events unix:socket -n 2 sh -c 'until [ -e "$0" ]; do sleep 0.05; done; [ "$FTMPI_INCARNATION" = 1 ] || kill -9 $$' "$tmp/go.on"
wait $listener
has_happened rank_started || fail "$what: not told"
: >go.on
ended
expect_code 0
expect_err '^ftrun: --events: nobody reads unix:socket any more; no more events are written$'

# ---- several hosts: one of them is lost, a rank of another one dies ----
cat >job <<'E'
echo $$ >"$tmp/rank.$FTMPI_RANK.new"
mv "$tmp/rank.$FTMPI_RANK.new" "$tmp/rank.$FTMPI_RANK"
until [ -e "$tmp/over" ]; do sleep 0.05; done
E
rm -f events
begin --events events --report report --lease 1.5 --launcher "exec:$go" -H a,b:2,c --spares 1 sh job
for r in 0 1 2; do wait_for test -s "rank.$r"; done
kill -9 "$(cat rank.0)"
wait_for has_happened rank_back '"rank":0'
rm rank.1
"$ftrun" status --json >"$tmp/status"
lose 2 || fail "cannot lose a node"
wait_for has_happened node_replaced
wait_for test -s rank.1
: >over
ended
expect_code 0
keeps events report
[ "$(happens node_started)$(happens node_up)$(happens node_lost '"node":1,"host":"b"')$(happens rank_died '"host_lost":true')$(happens rank_died '"signal":9')" = 33121 ] ||
    { fail "$what:"; cat events; }
finish
