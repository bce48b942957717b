#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun list, status, stop, wait: what a running job says of itself, and what is not a job.
. "$(dirname "$0")/../lib/test.sh"
waits=$built/waits
own_jobs
cd "$tmp" || exit 99

# A job in the background: its own name for output, errors and pid.
begin_named() { # name, arguments
    name=$1
    shift
    timeout -k 5 300 "$ftrun" "$@" >"$name.out" 2>"$name.err" </dev/null &
    echo $! >"$name.pid"
}
ended_named() { # name, code
    wait "$(cat "$1.pid")"
    code=$?
    what="job $1"
    expect_code "$2"
}
jobs_are() { [ "$("$ftrun" list 2>/dev/null | sed 1d | wc -l)" = "$1" ]; }
id_of() { "$ftrun" list | awk -v "what=$1" '$0 ~ what { print $1 }'; } # a word of its command
no_sockets() { [ -z "$(ls run)" ]; }
needs python3
ask_and_see() { "$ftrun" status --json >status.json 2>/dev/null && python3 -c "$1" <status.json; }
check() { # python expression over job and rank, polled
    wait_for ask_and_see "
import json, sys
job = json.load(sys.stdin)
rank = job['per_rank']
sys.exit(not ($1))" || head -c 3000 status.json
}

# Nobody there.
run list
expect_code 0
expect_no_out
expect_err 'no job'
for command in status stop wait attach; do
    run $command
    expect_code 3
    expect_err 'no job'
    expect_err_lines 1
done
run wait nosuch
expect_code 3
expect_err 'no job nosuch'
run status --xml
expect_code 2
expect_err '--xml'
run list more
expect_code 2
run stop --help
expect_code 0

# Every second, until the job is over: it has been shown twice when it may end.
begin_named watched -n 1 sh -c "while [ ! -e '$tmp/watched.go' ]; do sleep 0.1; done"
wait_for jobs_are 1
timeout 60 "$ftrun" status --watch >watch.out 2>&1 &
watcher=$!
shown_twice() { [ "$(grep -c '^job ' watch.out)" -ge 2 ]; }
wait_for shown_twice || fail "--watch shows it once: $(cat watch.out)"
: >watched.go
ended_named watched 0
wait $watcher || fail "--watch ended with $?: $(tail -n 3 watch.out)"

# Rank 2 keeps the others waiting, and every one of them says so.
begin_named a -n 4 "$waits" file 2 "$tmp/go" 7
check "job['ranks'] == 4 and rank[2]['state'] == 'outside MPI' and rank[2]['units'] == 7 and all(rank[r]['state'] == 'in MPI' and
    rank[r]['waits_for'] == [2] and rank[r]['unit'] == 7 and rank[r]['call'] == 'MPI_Allreduce' and rank[r]['count'] == 1 and
    rank[r]['type'] == 'double' and rank[r]['reduction'] == 'sum' and rank[r]['site'].startswith('waits+0x') for r in (0, 1, 3))"
check "all(r['seconds'] > 0.5 for r in rank)"
what="ftrun status"
"$ftrun" status >out 2>err || fail "$what fails"
grep -q '^0-1,3 .*in MPI .*unit 7: MPI_Allreduce(sum, 1 x double) at waits+0x[0-9a-f]*; pids [0-9,-]* *2$' out ||
    { fail "$what: no line for ranks 0-1,3"; cat out; }
grep -q '^2 .*outside MPI .*7 units done; pid [0-9]*$' out || { fail "$what: no line for rank 2"; cat out; }

# A stopped rank is shown as that, and nothing is done about it.
pid=$(python3 -c 'import json; print(json.load(open("status.json"))["per_rank"][2]["pid"])')
kill -STOP "$pid"
check "rank[2]['stopped'] and not rank[1]['stopped'] and rank[2]['incarnation'] == 0"
"$ftrun" status | grep -q '^2 .*outside MPI, stopped' || fail "$what: rank 2 is not shown as stopped"
kill -CONT "$pid"
check "not rank[2]['stopped']"

# What has come, what is waited for: who says so for itself.
begin_named m -n 4 --report m.json "$waits" messages 1 "$tmp/m.go"
check_m() {
    wait_for ask_m "
import json, sys
job = json.load(sys.stdin)
rank = job['per_rank']
sys.exit(not ($1))" || head -c 5000 status.json
}
ask_m() { "$ftrun" status "$(id_of 'messages 1')" --json >status.json 2>/dev/null && python3 -c "$1" <status.json; }
check_m "rank[0]['waits_for'] == [1] and rank[0]['waits_for_requests'] == {'receives': 2, 'sends': 1, 'one': False} and rank[0]['queue'] ==
    {'unexpected': 3, 'unexpected_bytes': 3000, 'oldest_source': 1, 'oldest_tag': 7, 'receives': 2, 'requests': 3, 'unseen': 0}"
check_m "rank[2]['waits_for'] == [0, 1, 3] and rank[2]['waits_for_requests'] == {'receives': 2, 'sends': 0, 'one': True}"
check_m "rank[3]['waits_for_requests'] is None and rank[3]['queue']['unseen'] == 3 and rank[3]['queue']['unexpected'] == 0"
what="ftrun status of messages"
"$ftrun" status "$(id_of 'messages 1')" >out 2>err || fail "$what fails"
kept='3 unexpected messages of 2\.9 KiB, the oldest from rank 1 with tag 7'
grep -q "^0 .*: message from rank 1, tag 9, of 2 receives and 1 send at waits+0x[0-9a-f]*; $kept; 3 open requests, 2 posted receives; pid" out &&
    grep -q "^2 .*: one of 2 receives at waits+0x[0-9a-f]*; $kept; 2 open requests, 2 posted receives; pid" out &&
    grep -q "^3 .*outside MPI .*; 3 messages not looked at; pid" out || { fail "$what: not all there"; cat out; }
: >m.go
ended_named m 0
python3 - m.json <<'PY' || fail "m.json: see above"
import json, sys
of = [r["messages"] for r in json.load(open(sys.argv[1]))["per_rank"]]
assert of[0] == {"sent": 1, "sent_bytes": 1, "received": 5, "received_bytes": 5000, "most_unexpected": 3}, of
assert of[1] == {"sent": 15, "sent_bytes": 15000, "received": 1, "received_bytes": 1, "most_unexpected": of[1]["most_unexpected"]}, of
PY

# Somebody else who gets as far as the socket is not answered.
if [ "$(id -u)" = 0 ]; then
    chmod 711 "$tmp" run
    chmod 666 run/*.sock
    python3 - run/*.sock <<'PY' || fail "another user: see above"
import os, socket, sys
def ask():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(120)
    s.connect(sys.argv[1])
    try:
        s.sendall(b'{"request": "info"}\n')
        return s.recv(1 << 20)
    except (BrokenPipeError, ConnectionResetError):
        return b""
assert ask() != b""
os.setuid(65534)
assert ask() == b"", "answered"
PY
    chmod 700 "$tmp" run
fi

# Two jobs: one must be named: by id, its beginning, a pid.
begin_named b --job-name nightly -n 3 sh -c 'sleep 1000 & wait'
wait_for jobs_are 2
a_id=$(id_of waits)
b_id=$(id_of sleep)
run status
expect_code 3
expect_err 'several jobs'
expect_err "$a_id"
expect_err "$b_id"
run status "$b_id"
expect_code 0
grep -q "^job $b_id .*3 ranks" out || fail "$what: not job b"
b_pid=$("$ftrun" list | awk -v "id=$b_id" '$1 == id { print $2 }')
run status "$b_pid"
grep -q "^job $b_id " out || fail "$what: not found by pid"
run status nightly
grep -q "^job $b_id (nightly, pid" out || fail "$what: not found by its name"
"$ftrun" list | grep -q "^$b_id .* nightly: sh -c" || fail "ftrun list does not show the name"
beginning=$b_id
while [ "${#beginning}" -gt 1 ] && [ "${beginning%?}" != "${a_id%"${a_id#"${beginning%?}"}"}" ]; do beginning=${beginning%?}; done
run status "$beginning"
grep -q "^job $b_id " out || fail "$what: not found by its beginning"

# stop returns when the job is gone; it ends as by SIGTERM.
run stop "$b_id"
expect_code 0
what="after ftrun stop"
jobs_are 1 || fail "$what: the job is still listed"
ended_named b 143

# wait ends with the job's exit code, also when first the one and then the other of its two processes is killed.
begin_named c --job-name ends_c -n 2 sh -c 'while [ ! -e '"$tmp"'/end ]; do sleep 0.05; done; exit 7'
wait_for jobs_are 2
c_id=$(id_of ends_c)
pid_of() { # job or nothing
    "$ftrun" status --json ${1:+"$1"} 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"
}
has_two() { [ "$(pid_of "$1" standby_pid)" -gt 0 ] 2>/dev/null; }
# Connections that the job has accepted: their state is 03.
has_clients() { [ "$(grep -c " 03 .*/$2\\.sock\$" /proc/net/unix)" = "$1" ]; }
# And those of them that wait for the job's end: `ftrun wait` connects once before, to find the job. (A test that took the one for the
# other stopped the agent before the client had asked to wait.)
is_waited_for() { [ "$(pid_of "$1" waiting)" = 1 ]; }
timeout 300 "$ftrun" wait "$c_id" 2>wait.err &
waiting=$!
wait_for is_waited_for "$c_id"
for victim in agent_pid pid; do
    wait_for has_two "$c_id"
    kill -9 "$(pid_of "$c_id" $victim)"
done
wait_for has_two "$c_id"
: >end
wait $waiting
code=$? what="ftrun wait $c_id"
expect_code 7
[ ! -s wait.err ] || fail "$what says: $(cat wait.err)"
wait "$(cat c.pid)" # killed
: >go
ended_named a 0
wait_for no_sockets

# A successor that has nothing left to do but to end: who waits still learns how. (`ftrun wait` said that the job is gone.)
begin_named i --job-name ends_i -n 2 sh -c 'while [ ! -e '"$tmp"'/end_i ]; do sleep 0.05; done; exit 9'
wait_for has_two ""
ranks=$(ask_and_see "import json, sys; print(*(r['pid'] for r in json.load(sys.stdin)['per_rank']))")
i_agent=$(pid_of "" agent_pid)
i_id=$(id_of ends_i)
wait_for has_clients 0 "$i_id"
timeout 300 "$ftrun" wait 2>wait.err &
waiting=$!
wait_for is_waited_for "$i_id"
kill -STOP "$i_agent"
: >end_i
zombies() { for pid in $ranks; do is_gone "$pid" || return 1; done; }
wait_for zombies
kill -9 "$i_agent"
wait $waiting
code=$? what="ftrun wait, of a job that ends with the takeover"
expect_code 9
[ ! -s wait.err ] || fail "$what says: $(cat wait.err)"
ended_named i 9
wait_for no_sockets

# Nor if the successor has accepted the connection, and is at its end before the question comes. (It came to nobody: on a busy machine the
# test above failed for that.)
cat >late.py <<'END'
import json, os, socket, sys, time
path, agent, ranks, end = sys.argv[1], int(sys.argv[2]), [int(p) for p in sys.argv[3].split()], sys.argv[4]
def connected():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    return s
def ask(s): s.sendall(b'{"request":"wait"}\n')
def state(pid):
    try:
        return open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return 'Z'
first = connected()
ask(first)
assert first.recv(1) # it is waited for
os.kill(agent, 19)
while state(agent) != 'T':
    time.sleep(0.01)
open(end, 'w')
while any(state(p) != 'Z' for p in ranks):
    time.sleep(0.01)
second = connected()
os.kill(agent, 9)
time.sleep(1)
ask(second)
for line in second.makefile():
    if 'end' in json.loads(line):
        sys.exit(json.loads(line)['end'])
sys.exit('not told how the job has ended')
END
begin_named k --job-name ends_k -n 2 sh -c 'while [ ! -e '"$tmp"'/end_k ]; do sleep 0.05; done; exit 9'
wait_for has_two ""
ranks=$(ask_and_see "import json, sys; print(*(r['pid'] for r in json.load(sys.stdin)['per_rank']))")
k_agent=$(pid_of "" agent_pid)
call python3 late.py "run/$(id_of ends_k).sock" "$k_agent" "$ranks" end_k
expect_code 9
expect_err_lines 0
ended_named k 9
wait_for no_sockets

# Nobody has to ask twice after a takeover. (There was no socket until the successor had made one.)
begin_named j -n 2 sleep 1000
wait_for has_two ""
for i in 1 2 3; do
    run status --json
    expect_code 0
    kill -9 "$(sed -n 's/^ "agent_pid": \([0-9]*\),*$/\1/p' "$tmp/out")"
    run status
    expect_code 0
    wait_for has_two ""
done
run stop
ended_named j 137 # the process that the shell started was killed

# A rank that replays says how far it is, and that others wait for it.
begin_named g --snapshot off -n 3 "$waits" slow 1 5000
check "rank[1]['state'] == 'replaying' and 0 < rank[1]['replayed'] < rank[1]['to_replay'] == 5000 and rank[1]['incarnation'] == 1 and
    rank[1]['restarts'] == 1 and rank[0]['state'] == 'in MPI' and rank[0]['waits_for'] == [1]"
run stop
expect_code 0
ended_named g 143

# Ranks that are done, and those that have not called MPI_Init.
begin_named h -n 3 sh -c '[ $FTMPI_RANK = 2 ] || exec sleep 1000'
check "[r['state'] for r in rank] == ['running', 'running', 'done'] and rank[2]['pid'] is None and rank[0]['pid'] > 0"
run stop
ended_named h 143

# stop reaches a job whose first agent was killed.
begin_named f -n 2 sleep 1000
wait_for jobs_are 1
wait_for has_two ""
agent=$(pid_of "" agent_pid)
kill -STOP "$agent"
"$ftrun" list | grep -q 'does not answer' || fail "ftrun list does not show a job whose ftrun is stopped"
kill -9 "$agent"
wait_for has_two ""
run stop
expect_code 0
ended_named f 143
wait_for no_sockets

# A job killed so that nobody could clean up leaves a socket; list removes it, and nothing else.
begin_named d -n 1 sleep 1000
wait_for jobs_are 1
wait_for has_two ""
kill -9 "$(pid_of "" pid)" "$(pid_of "" agent_pid)"
wait "$(cat d.pid)"
[ -n "$(ls run)" ] || fail "no stale socket to begin with"
: >run/mine
wait_for jobs_are 0
[ "$(ls run)" = mine ] || fail "after list there is not only what is no socket: $(ls run)"
rm run/mine

# Strangers' requests: garbage, too much, nothing at all, an unknown one. The job goes on and answers others.
begin_named e -n 2 "$waits" file 0 "$tmp/go2" 1
wait_for jobs_are 1
python3 - run <<'PY' || fail "garbage: see above"
import json, os, socket, sys
path = sys.argv[1] + "/" + os.listdir(sys.argv[1])[0]
def ask(data):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(120)
    s.connect(path)
    try:
        s.sendall(data)
        return s.recv(1 << 20)
    except (BrokenPipeError, ConnectionResetError):
        return b""
silent = [socket.socket(socket.AF_UNIX) for _ in range(5)]
for s in silent:
    s.connect(path)
for garbage in (b"hello\n", b"\0" * 100000, b"{}\n", b'{"request": 5}\n', b'[' * 4000 + b"\n", b'{"request": "info"'):
    if not garbage.endswith(b'"'):
        assert ask(garbage) == b"", garbage[:20]
assert "error" in json.loads(ask(b'{"request": "dance"}\n'))
assert json.loads(ask(b'{"request": "info"}\n'))["ranks"] == 2
assert oct(os.stat(path).st_mode & 0o777) == "0o600" and oct(os.stat(sys.argv[1]).st_mode & 0o777) == "0o700"
PY

# Who asks for one job by its id does not ask another one. (All were asked, and each that was stopped took three seconds.)
python3 - run "$ftrun" <<'PY' || fail "ftrun status ID: see above"
import os, socket, subprocess, sys
run, ftrun = sys.argv[1:]
job = os.listdir(run)[0].removesuffix(".sock")
other = socket.socket(socket.AF_UNIX)
other.bind(run + "/" + "z" * len(job) + ".sock")
other.listen()
other.setblocking(False)
assert job in subprocess.run([ftrun, "status", job], capture_output=True, text=True, check=True).stdout
try:
    other.accept()
    sys.exit("it has asked the other job, too")
except BlockingIOError:
    pass
other.close()
os.unlink(run + "/" + "z" * len(job) + ".sock")
PY
: >go2
ended_named e 0

# A directory that is not ours alone is not used; the job runs.
mkdir -m 700 real
mkdir -m 755 open
ln -s real link
for dir in link open; do
    FTMPI_RUN_DIR=$tmp/$dir run -n 1 echo hello
    expect_code 0
    expect_out hello
    expect_err "$tmp/$dir .*ftrun list.* do not find this job"
    expect_err_lines 1
    [ -z "$(ls $dir)" ] || fail "$what: something is left in $dir"
    FTMPI_RUN_DIR=$tmp/$dir run list
    expect_code 3
    expect_err "$tmp/$dir"
done
if [ "$(id -u)" = 0 ]; then
    mkdir -m 700 foreign
    chown 65534 foreign
    FTMPI_RUN_DIR=$tmp/foreign run -n 1 echo hello
    expect_code 0
    expect_err 'another user (uid 65534): not permitted'
    FTMPI_RUN_DIR=$tmp/foreign run list
    expect_code 3
    expect_err 'not permitted'
fi

# Those words are programs where they are not the first.
mkdir bin
printf '#!/bin/sh\necho my own list\n' >bin/list
chmod +x bin/list
PATH=$tmp/bin:$PATH run -n 1 list
expect_code 0
expect_out 'my own list'
run "$tmp/bin/list"
expect_out 'my own list'
finish
