#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What ftrun's client makes of answers: jobs of many ranks, answers of another version, none. The job is a script here.
. "$(dirname "$0")/../lib/test.sh"
needs python3
own_jobs
cd "$tmp" || exit 99
mkdir -m 700 run

# Answers each request with the reply of this name in the file's dictionary; bytes as they are.
cat >job.py <<'EOF2'
import json, os, socket, sys
info = {"job": "fake0001", "name": None, "pid": 4711, "agent_pid": 4712, "standby_pid": 0, "host": "h", "version": "0", "ranks": 512,
        "wall_seconds": 3725.0, "began_at": 0, "command": ["./prog", "a\x1b[31mb", "x" * 500]}
call = {"operation": "MPI_Allreduce(sum, 1 x double)", "site": "prog+0x1", "waits_for_memory": False}
def rank(r, state, **more):
    return {"rank": r, "state": state, "pid": 1000 + r, "stopped": False, "incarnation": 0, "restarts": 0, "units": 5, "seconds": 1.0,
            **more}
def waiting(r, unit, on):
    return rank(r, "in MPI", unit=unit, waits_for=on[:16], waits_for_count=len(on), **call)
few = [waiting(r, 7, [3, 4, 5, 9]) for r in range(512)]
for r in (3, 4, 5, 9):
    few[r] = rank(r, "outside MPI", seconds=90000.0)
few[3]["stopped"] = True
few[9]["restarts"] = few[9]["incarnation"] = 2
many = [waiting(r, r, [r ^ 1]) if r % 3 else rank(r, "outside MPI", units=r) for r in range(512)]
crowd = [waiting(r, 7, list(range(100, 200))) for r in range(100)]
ways = [rank(r, "outside MPI", ways_back=["snapshot", "all"], snapshot={"pid": 9, "unit": 3, "seconds": 0.5 + r}) for r in range(4)]
disk = {**call, "operation": "MPIX_Checkpoint(8 x byte)", "waits_for_disk": True}
stored = [rank(0, "in MPI", unit=7, waits_for=[], waits_for_count=0, **disk), rank(1, "outside MPI")]
streams = [rank(0, "in MPI", stream=3, unit=7, waits_for=[1], waits_for_count=1, **call),
           rank(1, "in MPI", stream=3, unit=0, operation="coming in", call=None, site=None, waits_for=[2], waits_for_count=1),
           rank(2, "in MPI", stream=None, unit=7, waits_for=[0], waits_for_count=1, **call)]
saved = [rank(r, "outside MPI", node=None, snapshot=None, ways_back=["checkpoint"], no_start=None, operation=None, to_replay=None, checkpoint=14 + r % 2,
              checkpoint_seconds=2.5 - r % 2) for r in range(2)]
memory = {"limit": 1000, "used": 500, "group": True, "programs": 100, "snapshots": 100, "promised": 7, "log": 100, "slots": 100, "launcher": 100}
cache = {"results": 5, "bytes": 1234, "answers": 3, "complete": False}
ways[3]["snapshot"]["threads"] = 12
ways.append(rank(4, "outside MPI", ways_back=["all"], no_snapshot="a thread of it could not be stopped: 71 (worker), in system call 202"))
replies = {"ways": {**info, "per_rank": ways}, "streams": {**info, "per_rank": streams}, "few": {**info, "per_rank": few}, "many": {**info, "per_rank": many}, "crowd": {**info, "per_rank": crowd}, "stored": {**info, "per_rank": stored, "bootstrap_cache": cache}, "other": {"error": "not here"},
           "whole": {**info, "per_rank": saved, "log_bytes": 5 << 20, "released_bytes": 2 << 20, "spilled_bytes": 3 << 10, "per_node": None,
                     "memory": memory, "durable": {"last_version": 12, "last_at_seconds": 3720.0}},
           "garbage": b"hello\n", "nothing": b"", "cut": b'{"job": "fa'}
s = socket.socket(socket.AF_UNIX)
s.bind("run/fake0001.sock")
s.listen()
open("up", "w").close()
while True:
    c = s.accept()[0]
    line = c.makefile().readline()
    if not line: # it only looks whether there is a job
        c.close()
        continue
    request = json.loads(line)["request"]
    reply = info if request in ("info", "wait") else replies[sys.argv[1]]
    c.sendall(reply if isinstance(reply, bytes) else json.dumps(reply).encode() + b"\n")
    if request == "wait":
        os._exit(0)
    c.close()
EOF2
answer() { # which
    rm -f up run/*
    python3 job.py "$1" &
    fake=$!
    wait_for [ -e up ]
}
over() {
    kill $fake 2>/dev/null
    wait $fake 2>/dev/null
}
line() { grep -q -e "$1" out || { fail "$what: no line $1"; cat out; }; }

answer few
run list
line '^fake0001 *4711 *512  1 h 02 min *\./prog a?\[31mb x*\.\.\.$'
run status
expect_code 0
line '^0-2,6-8,10-511  in MPI .* 1\.0 s .* unit 7: MPI_Allreduce(sum, 1 x double) at prog+0x1  *3-5,9$'
line '^3 .*outside MPI, stopped .*pid 1003$'
line '^4-5 .*outside MPI .*1 d 01 h .*5 units done; pids 1004-1005$'
line '^9 .*5 units done; 2 restarts; pid 1009$'
[ "$(wc -l <out)" = 6 ] || fail "$what: not 6 lines"
grep -q "$(printf '\033')" out && fail "$what: passes an escape character on"
over

answer ways
run status
line '^RANKS  WAYS BACK  *SNAPSHOT.S AGE'
line '^0-2  *snapshot, all  *0\.5 s to 2\.5 s$'
line '^3  *snapshot of 12 threads, all  3\.5 s$'
line '^4  *all  *a thread of it could not be stopped: 71 (worker), in system call 202$'
over

answer streams
run status
line '^0 .*in MPI .* stream 3, unit 7: MPI_Allreduce(sum, 1 x double) at prog+0x1; pid 1000 *1$'
line '^1 .*in MPI .* stream 3, coming in; pid 1001 *2$'
line '^2 .*in MPI .* unit 7: MPI_Allreduce(sum, 1 x double) at prog+0x1; pid 1002 *0$'
grep -q '^2 .*stream' out && fail "$what: says which stream the world's is"
over

answer stored
run status
line '^0 .*in MPI .*unit 7: MPIX_Checkpoint(8 x byte) at prog+0x1.* the disk (--ckpt-dir)$'
line '^bootstrap cache: 5 results, 1234 bytes (not all: there was no memory); 3 calls answered from it$'
over

# What has been saved, and where. What is null is not there.
answer whole
run status
line '^log: 3\.0 MiB held, of 5\.0 MiB in all; 3\.0 KiB of it went to disk$'
line '^memory: 500 of 1000 MiB used in the control group (programs 100, .*); 7 promised to snapshots$'
line '^last checkpoint: version 15, 1\.5 s ago$'
line '^last checkpoint on disk: version 12, 5\.0 s ago$'
line '^0-1 *outside MPI  1\.0 s  5 units done; pids 1000-1001$'
line '^0-1 *checkpoint$'
over

# On a terminal, as wide as that is, and with --watch as high; all of the words are there. Elsewhere no line is broken.
cat >terminal.py <<'EOF2'
import fcntl, os, pty, re, struct, sys, termios
columns, rows, given, *command = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
    os.environ.pop("COLUMNS", None)
    if given:
        os.environ["COLUMNS"] = given
    os.execv(command[0], command)
text = b""
try:
    while chunk := os.read(fd, 65536):
        text += chunk
        if "--watch" in command and text.count(b"more lines)") >= 2:
            os.kill(pid, 15)
            break
except OSError:
    pass
os.waitpid(pid, 0)
print(text.decode().replace("\r", ""), end="")
EOF2
on_terminal() { timeout -k 5 120 python3 terminal.py "$@" >out; }
widest() { awk '{ if (length > n) n = length } END { print n }' out; }
answer few
for size in '72 50 ' '200 50 72'; do
    IFS=' ' read -r columns rows given <<END
$size
END
    what="ftrun status on a terminal of $size"
    on_terminal "$columns" "$rows" "$given" "$ftrun" status
    [ "$(widest)" -le 72 ] && [ "$(widest)" -gt 40 ] || { fail "$what: lines of $(widest) columns"; cat out; }
    for word in 'MPI_Allreduce(sum,' 10-511 'outside MPI' 1003 1009 'running for'; do
        grep -q -e "$word" out || { fail "$what: not all there: $word"; cat out; }
    done
done
what="ftrun status on a terminal of 40 columns"
on_terminal 40 50 '' "$ftrun" status
[ "$(widest)" -le 40 ] || { fail "$what: lines of $(widest) columns"; cat out; }
what="ftrun status --watch"
on_terminal 60 8 '' "$ftrun" status --watch
[ "$(grep -c 'job fake0001' out)" -ge 2 ] || { fail "$what: shown once"; cat out; }
awk '/job fake0001/ { n = 0 } { n++ } n > 7 { bad = 1 } END { exit bad }' out || { fail "$what: more lines than the terminal has"; cat out; }
# COLUMNS was not heeded where there is no terminal.
unset COLUMNS
run status
[ "$(widest)" -gt 60 ] || fail "$what: broken into lines where there is no terminal"
COLUMNS=60
export COLUMNS
run status
unset COLUMNS
[ "$(widest)" -le 60 ] || fail "$what: COLUMNS=60, and lines of $(widest) columns"
over

# Every rank in a place of its own: then places are told apart less.
answer many
run status
[ "$(wc -l <out)" -le 4 ] || { fail "$what: 512 ranks take $(wc -l <out) lines"; head out; }
line 'in MPI .*MPI_Allreduce(sum, 1 x double)'
line 'outside MPI'
over
answer crowd
run status
line '^0-99 .* 100-115 and 84 more$'
over

# Answers that are none.
answer other
run status
expect_code 3
expect_err 'job fake0001: not here'
expect_err_lines 1
over
for none in garbage nothing cut; do
    answer $none
    run status
    expect_code 3
    expect_err 'job fake0001'
    expect_err_lines 1
    over
done

# Gone for good while somebody waits.
answer nothing
run wait fake0001
expect_code 1
expect_err 'job fake0001 is gone, and its exit code is not known'
expect_err_lines 1
over
finish
