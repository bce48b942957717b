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
        "seconds": 3725.0, "started": 0, "command": ["./prog", "a\x1b[31mb", "x" * 500]}
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
cache = {"results": 5, "bytes": 1234, "answers": 3, "complete": False}
ways.append(rank(4, "outside MPI", ways_back=["all"], no_snapshot="it has more than one thread"))
replies = {"ways": {**info, "rank": ways}, "few": {**info, "rank": few}, "many": {**info, "rank": many}, "crowd": {**info, "rank": crowd}, "stored": {**info, "rank": stored, "bootstrap_cache": cache}, "other": {"error": "not here"},
           "garbage": b"hello\n", "nothing": b"", "cut": b'{"job": "fa'}
s = socket.socket(socket.AF_UNIX)
s.bind("run/fake0001.sock")
s.listen()
open("up", "w").close()
while True:
    c = s.accept()[0]
    request = json.loads(c.makefile().readline())["request"]
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
line '^4-5 .*outside MPI .*1 d 01 h .*5 units done$'
line '^9 .*5 units done; 2 restarts; pid 1009$'
[ "$(wc -l <out)" = 6 ] || fail "$what: not 6 lines"
grep -q "$(printf '\033')" out && fail "$what: passes an escape character on"
over

answer ways
run status
line '^RANKS  WAYS BACK  *SNAPSHOT.S AGE'
line '^0-3  *snapshot, all  0\.5 s to 3\.5 s$'
line '^4  *all  *it has more than one thread$'
over

answer stored
run status
line '^0 .*in MPI .*unit 7: MPIX_Checkpoint(8 x byte) at prog+0x1.* the disk (--ckpt-dir)$'
line '^bootstrap cache: 5 results, 1234 bytes (not all: there was no memory); 3 calls answered from it$'
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
expect_err 'job fake0001 is gone, and nobody is left to tell its exit code'
expect_err_lines 1
over
finish
