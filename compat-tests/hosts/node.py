#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A node (`ftrun --node`, launcher/node/node.h) against a controller that is this script, which can cut connections, fall silent and lie.

    node.py FTRUN [TEST...]"""

import contextlib
import hashlib
import hmac
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ftmpitest import children, first_seed, lives, state  # noqa: E402

SECRET = bytes(range(32))
MAGIC = b"ftmpi1\0\0"
CONTROL = 1
HELLO, STATE, OUT, BEAT, TABLE, JOB, GOT, SIGNAL, INPUT, REPORT = range(1, 11)
STARTING, RUNNING, DONE, ENDED, STRANDED, LEFT = range(6)
RUN, END, FINISH = range(3)
PATIENCE = 120
ftrun = os.path.abspath(sys.argv[1])
version = subprocess.run([ftrun, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().split()[-1]


def frame(kind, payload=b""):
    return struct.pack("<II", len(payload), kind) + payload


class Gone(Exception):
    """The node has closed the connection."""


class Node:
    """One node of a job, its controller, and what that knows of it."""

    def __init__(self, program, world=1, first=None, rank_at=None, node=0, incarnation=0, stdin=-1, beats=True, **settings):
        first = first or [0, world]
        settings.setdefault("lease", "30")  # we may wait long for a processor, too
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(8)
        self.first, self.node, self.incarnation = first, node, incarnation
        n = first[node + 1] - first[node]
        self.description = {
            "ftmpi": version, "job": "testtest", "node": node, "nodes": len(first) - 1, "world": world, "incarnation": incarnation,
            "epoch": 0, "first": first, "rank_at": rank_at or list(range(world)), "incarnations": [3 * incarnation] * n,
            "secret": SECRET.hex(), "controllers": ["127.0.0.1"], "port": self.listener.getsockname()[1], "host": "thathost", "master": "thathost",
            "cwd": os.getcwd(), "env": [f"PATH={os.environ['PATH']}"],
            "contexts": [{"number": 0, "ranks": n, "argv": program, "exports": [], "bare": False}], "settings": settings, "stdin": stdin}
        self.process = subprocess.Popen([ftrun, "--node"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.process.stdin.write(json.dumps(self.description).encode() + b"\n")
        self.process.stdin.flush()
        self.socket = None
        self.buffer = b""
        self.state = None
        self.hellos = 0
        self.pid = 0                # of the agent
        self.have = 0               # of the spool
        self.printed = {}           # (rank, stream): bytes
        self.pieces = {}
        self.lines = ""             # of the agent
        self.acknowledges = True
        self.job = (RUN, 0)
        self.beats = beats          # else it is silent

    def connect(self, silent=False):
        """Accepts, proves, and says TABLE and JOB; silent: says nothing."""
        self.listener.settimeout(0.2)
        for _ in range(5 * PATIENCE):
            try:
                s, _ = self.listener.accept()
                break
            except socket.timeout:
                assert self.process.poll() is None or lives(self.pid), self.process.stderr.read().decode()
        else:
            raise AssertionError("no node has connected")
        s.settimeout(PATIENCE)
        caller = self.exactly(s, 64)
        assert caller[:9] == MAGIC + bytes([CONTROL]), caller
        answerer = MAGIC + bytes([CONTROL]) + bytes(23) + os.urandom(32)
        s.sendall(answerer)

        def proof(role):
            text = role.ljust(16, b"\0") + bytes([CONTROL]) + caller[32:] + answerer[32:]
            return hmac.new(SECRET, text, hashlib.sha256).digest()

        assert self.exactly(s, 32) == proof(b"caller")
        s.sendall(proof(b"answerer"))
        self.socket, self.buffer, self.state = s, b"", None
        if not silent:
            self.say_table()
            self.say_job()
        return self

    @staticmethod
    def exactly(s, n):
        data = b""
        while len(data) < n:
            more = s.recv(n - len(data))
            if not more:
                raise Gone
            data += more
        return data

    def send(self, kind, payload=b""):
        self.socket.sendall(frame(kind, payload))

    def say_table(self, incarnation=None):
        nodes = [{"up": i == self.node, "done": False, "incarnation": self.incarnation if incarnation is None else incarnation,
                  "host": "x", "addresses": [], "port": 0} for i in range(len(self.first) - 1)]
        self.send(TABLE, json.dumps({"nodes": nodes}).encode())

    def say_job(self, *job):
        self.job = job or self.job
        self.send(JOB, json.dumps({"phase": self.job[0], "code": self.job[1], "stay": False}).encode())

    def signal(self, number, sig):
        self.send(SIGNAL, struct.pack("<QI", number, sig))

    def input(self, place, data, last=False):
        self.send(INPUT, struct.pack("<QI", place, last) + data)

    def got(self):
        self.send(GOT, struct.pack("<Q", self.have))

    def cut(self):
        """Breaks the connection without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def take_records(self, payload):
        place = struct.unpack_from("<Q", payload)[0]
        assert place <= self.have, "a hole in the spool"
        at = 8
        while at < len(payload):
            rank, stream, flags, position, length, zero = struct.unpack_from("<IHHQII", payload, at)
            data = payload[at + 24:at + 24 + length]
            begin = place + at - 8
            at += 24 + length
            assert len(data) == length and not zero and flags < 16
            if begin < self.have:
                continue            # it comes again after a reconnect
            self.have = begin + 24 + length
            if stream == 2:
                self.lines += data.decode()
                continue
            before = self.printed.setdefault((rank, stream), b"")
            # The line, and how much of it was said; pieces of one line say where it began.
            where = before.count(b"\n") << 24 | len(before) - before.rfind(b"\n") - 1
            where = self.pieces.pop((rank, stream), where)
            assert position == where, f"rank {rank} is at {position}, not at {where}"
            if flags & 2:
                self.pieces[rank, stream] = where
            self.printed[rank, stream] = before + data

    def take(self, kind, payload):
        if kind == HELLO:
            hello = json.loads(payload)
            assert hello["node"] == self.node and hello["incarnation"] == self.incarnation and hello["host"] == "thathost", hello
            self.hellos += 1
            self.pid = hello["pid"]
        elif kind == STATE:
            self.state = json.loads(payload)
        elif kind == OUT:
            self.take_records(payload)
            if self.acknowledges:
                self.got()
        elif kind != REPORT:
            assert kind == BEAT, kind
            if self.beats:
                self.send(BEAT)

    def pump(self, seconds=0.02):
        """Takes what comes within this time."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 14)
        except socket.timeout:
            return
        if not data:
            raise Gone
        self.socket.settimeout(PATIENCE)
        self.buffer += data
        while len(self.buffer) >= 8:
            length, kind = struct.unpack_from("<II", self.buffer)
            if len(self.buffer) < 8 + length:
                return
            payload, self.buffer = self.buffer[8:8 + length], self.buffer[8 + length:]
            self.take(kind, payload)

    def until(self, condition, what, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited in vain for {what}: {self.state} {self.printed} {self.lines}"
            self.pump()

    def phase(self, phase, seconds=PATIENCE):
        self.until(lambda: self.state and self.state["phase"] == phase, f"phase {phase}", seconds)

    def out(self, rank=0, stream=0):
        return self.printed.get((rank, stream), b"").decode()

    def ends(self, code, status=None):
        """It says its last word, and leaves."""
        self.phase(LEFT)
        assert self.state["code"] == code, self.state
        self.socket.close()
        self.process.stdin.close()
        self.stderr = self.process.stderr.read().decode()
        assert self.process.wait(PATIENCE) == (code if status is None else status), self.process.returncode

    def twin(self):
        """The launcher process that stands by."""
        return next((p for p in launchers(self.process.pid) + launchers(self.pid) + [self.process.pid] if p != self.pid and lives(p)), None)


def program_of(pid):
    """None: it has ended meanwhile."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except FileNotFoundError:
        return None


def opened(pid):
    paths = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            paths.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    return paths


def launchers(pid):
    return [p for p in children(pid) if program_of(p) == os.path.basename(os.path.realpath(ftrun))]


def gone(pids, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while any(map(lives, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def sh(script):
    return ["/bin/sh", "-c", script]


# ---- what is promised ----

def test_prints_and_leaves():
    """Its ranks have the job's numbers; it stays when they are done, and leaves when the job is."""
    names = ["FTMPI_RANK", "FTMPI_SIZE", "FTMPI_INCARNATION", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_UNIVERSE_SIZE", "PMI_RANK"]
    n = Node(sh('echo "' + " ".join("$" + v for v in names) + '"; echo err >&2; printf end'), world=5, first=[0, 2, 5],
             rank_at=[0, 2, 1, 3, 4], node=1).connect()
    n.phase(DONE)
    for local, rank in enumerate([1, 3, 4]):
        n.until(lambda: n.out(rank) == f"{rank} 5 0 {rank} {local} 3 5 {rank}\nend" and n.out(rank, 1) == "err\n", f"rank {rank}")
    assert n.lines == "", n.lines
    assert [r[0] for r in n.state["ranks"]] == [3, 3, 3], n.state
    time.sleep(0.3)
    n.pump()
    assert n.state["phase"] == DONE and n.process.poll() is None
    n.say_job(FINISH, 0)
    n.ends(0)
    assert n.stderr == "", n.stderr


def test_verdict():
    """What ends the job here is said with the job's rank and the user's name of the host; the node waits to be told that it ends."""
    n = Node(sh('[ $FTMPI_RANK = 3 ] && exit 5; sleep 1000'), world=4, first=[0, 2, 4], node=1).connect()
    n.phase(ENDED)
    assert n.state["code"] == 5
    assert "rank 3 (pid " in n.lines and "host thathost) exited with code 5; the job is ended\n" in n.lines, n.lines
    n.say_job(END, 5)
    n.ends(5)


def test_ends_with_others():
    """The job's end elsewhere is SIGTERM, then SIGKILL here, without a line."""
    n = Node(sh('trap "echo asked" TERM; echo on; while :; do sleep 0.01; done'), grace="3").connect()
    n.until(lambda: n.out() == "on\n", "its rank")
    n.say_job(END, 9)
    n.ends(9)
    assert n.out() == "on\nasked\n" and n.lines == "", (n.out(), n.lines)


def test_restart_is_local():
    """A killed rank is started again by its node alone; what it had printed is not said twice."""
    n = Node(sh('echo one; [ $FTMPI_INCARNATION = 6 ] && kill -9 $$; echo two; exit 0'), world=3, first=[0, 2, 3], node=1,
             incarnation=2).connect()
    n.phase(DONE)
    n.until(lambda: n.out(2) == "one\ntwo\n", "its output")
    assert "rank 2 (pid " in n.lines and "restarted, restart 1" in n.lines, n.lines
    assert n.state["ranks"][0][1:3] == [7, 1], n.state
    n.say_job(FINISH, 0)
    n.ends(0)


LINES = 20000
COUNT = f'i=0; while [ $i -lt {LINES} ]; do i=$((i + 1)); echo "line $i"; done'
ALL = "".join(f"line {i}\n" for i in range(1, LINES + 1))


def test_cut_connections():
    """A connection that breaks costs nothing, however often, and whatever has been acknowledged."""
    n = Node(sh(COUNT), lease="30").connect()
    for i in range(6):
        n.acknowledges = i % 2 == 0
        n.until(lambda: n.state and len(n.out()) > (i + 1) * 20000, "more output")
        n.cut()
        n.connect()
    n.acknowledges = True
    n.until(lambda: n.state and n.out() == ALL, "its output")
    assert n.hellos == 7
    n.got()
    n.phase(DONE)
    n.say_job(FINISH, 0)
    n.ends(0)


def test_killed_agents():
    """The process that stands by takes over the node, too: output once, the same ranks, the state said again."""
    n = Node(sh(COUNT + "; while [ ! -e end ]; do sleep 0.01; done"), lease="30").connect()
    n.phase(RUNNING)
    rank = n.state["ranks"][0]
    for i in range(2): # first the one that the other had forked, then that
        n.acknowledges = i == 0
        n.until(lambda: len(n.out()) > (i + 1) * 20000, "more output")
        n.until(n.twin, "two launcher processes")
        os.kill(n.pid, signal.SIGKILL)
        n.connect()
        n.phase(RUNNING)
    n.acknowledges = True
    n.until(lambda: n.out() == ALL, "its output")
    assert n.state["ranks"][0] == rank, n.state
    open("end", "w").close()
    n.phase(DONE)
    n.got()
    n.say_job(FINISH, 0)
    n.ends(0, -signal.SIGKILL)


def test_lease():
    """A controller that is silent for two thirds of the lease has no ranks here any more, though the connection stands. Nothing is said of
    them then: it is to replace this node. (That they had ended was once said if killing them took long, and the whole job ended.) What ranks had
    started is not asked to end, as else. (It once was, and had --grace for it, which is longer than what is left of the lease.)"""
    n = Node(sh("setsid sh -c 'trap : TERM; echo $$ >>left; while :; do sleep 1; done' & exec sleep 1000"), 30, lease="6", grace="1000").connect()
    n.phase(RUNNING)
    n.until(lambda: all(r[0] == 1 for r in n.state["ranks"]), "its ranks")
    rank, begin = n.state["ranks"][0][3], time.monotonic()
    n.beats = False
    try:
        while time.monotonic() < begin + PATIENCE: # all but BEAT says nothing
            n.say_job()
            n.pump()
    except (Gone, ConnectionError):
        pass
    with open("left") as f:
        assert gone([rank] + [int(p) for p in f]), "its rank lives"
    assert n.state["phase"] == RUNNING, "it says that the job has ended"
    assert time.monotonic() - begin > 0.3, "too early"
    assert n.process.wait(PATIENCE) == 1
    assert "node 0 (host thathost): ftrun has not been heard from for 4 s" in n.process.stderr.read().decode()


def test_silent_connections():
    """Connections that are made and proved, on which nothing is said, do not keep ranks alive: nobody has heard HELLO there. (They once
    did, and the controller counts from what it has heard: it could have started others in their place.)"""
    n = Node(sh("exec sleep 1000"), lease="3").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank, begin = n.state["ranks"][0][3], time.monotonic()
    try:
        while lives(rank) and time.monotonic() < begin + PATIENCE:
            n.cut()
            n.connect(silent=True)
    except (AssertionError, Gone, ConnectionError):
        pass
    assert gone([rank]), "its rank lives"
    assert n.process.wait(PATIENCE) == 1


def test_no_controller():
    """A node that reaches nobody says so once, and ends."""
    n = Node(sh("exec sleep 1000"), lease="1")
    n.listener.close()
    assert n.process.wait(PATIENCE) == 1
    said = n.process.stderr.read().decode()
    assert said.startswith("ftrun: node 0 (host thathost): the ftrun that started it cannot be reached: ") and said.count("\n") == 1, said


def test_slow_start():
    """Time to meet the controller begins when it is looked for, and not with memory that takes long to be made ready."""
    for prepare in ("256m", "512m", "1g"):  # until it is stopped in time
        n = Node(sh("exec sleep 1000"), lease="2", **{"log-prepare": prepare})
        while not any("memfd:ftmpi" in p for p in opened(n.process.pid)):
            assert n.process.poll() is None
        os.kill(n.process.pid, signal.SIGSTOP)
        while state(n.process.pid) not in "TZX":
            pass
        if not children(n.process.pid):
            break
        os.killpg(n.process.pid, signal.SIGKILL)
    time.sleep(4.2)
    os.kill(n.process.pid, signal.SIGCONT)
    n.connect()
    n.phase(RUNNING)
    n.say_job(END, 0)
    n.ends(0)


def test_stopped_agent():
    """A stopped launcher process cannot keep its ranks beyond the lease: the other one ends it, and them."""
    n = Node(sh("exec sleep 1000"), lease="3").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank = n.state["ranks"][0][3]
    os.kill(n.pid, signal.SIGSTOP)
    assert gone([rank]), "its rank lives"
    assert n.process.wait(PATIENCE) == 1


def test_frozen_node():
    """All of a node is stopped and goes on when its lease is over: its ranks are dead before they do anything."""
    n = Node(sh("while :; do date +%s%N >clock; sleep 0.01; done"), lease="3").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank, agent = n.state["ranks"][0][3], n.pid
    for pid in (rank, agent, n.process.pid):
        os.kill(pid, signal.SIGSTOP)
    time.sleep(3.2)
    for pid in (agent, n.process.pid):
        os.kill(pid, signal.SIGCONT)
    assert gone([rank]), "its rank lives"
    assert n.process.wait(PATIENCE) == 1


def fill_stderr(n):
    """Nobody reads what the node says, so who says something cannot go on."""
    end = os.open(f"/proc/{n.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(end, b"." * 4096)
    except BlockingIOError:
        os.close(end)


def read_stderr(n):
    threading.Thread(target=n.process.stderr.read, daemon=True).start()


def test_stopped_agent_unheard():
    """As stopped_agent, and nobody reads what is said about it: a successor that waited for that let its ranks live (CI, killed_as_it_fences on a busy machine)."""
    n = Node(sh("exec sleep 1000"), lease="3").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank = n.state["ranks"][0][3]
    fill_stderr(n)
    os.kill(n.pid, signal.SIGSTOP)
    assert gone([rank]), "its rank lives"
    read_stderr(n)
    assert n.process.wait(PATIENCE) == 1


def test_killed_as_it_fences():
    """A launcher process that has fenced and is killed before it has seen to the end of its ranks leaves a successor that does, and starts none."""
    n = Node(sh("echo >>started; exec sleep 1000"), lease="3").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank = n.state["ranks"][0][3]
    fill_stderr(n)
    assert gone([rank]), "its rank lives"
    time.sleep(0.2)
    with contextlib.suppress(ProcessLookupError):  # it was late, so there is a successor already
        os.kill(n.pid, signal.SIGKILL)
    read_stderr(n)
    assert n.process.wait(PATIENCE) == 1
    with open("started") as f:
        assert len(f.read()) == 1, "its rank was started again"


def test_replaced():
    """Who learns that another one has its place is fenced at once."""
    n = Node(sh("exec sleep 1000"), lease="1000").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    rank = n.state["ranks"][0][3]
    n.say_table(incarnation=1)
    assert gone([rank]), "its rank lives"
    assert n.process.wait(PATIENCE) == 1


def test_signals():
    """Each signal once, also when it is said again; a second one to end kills at once."""
    n = Node(sh('trap "echo usr" USR1; trap "echo int" INT; echo on; while :; do sleep 0.01; done'), lease="30").connect()
    n.until(lambda: n.out() == "on\n", "its rank")
    n.signal(1, signal.SIGUSR1)
    n.until(lambda: n.out() == "on\nusr\n", "the signal")
    n.signal(1, signal.SIGUSR1)
    n.until(lambda: n.state["signals"] == 1, "its number")
    n.cut()
    n.connect()
    n.signal(1, signal.SIGUSR1)
    n.signal(2, signal.SIGINT)
    n.until(lambda: n.out() == "on\nusr\nint\n", "the other signal")
    n.signal(3, signal.SIGINT)
    n.phase(ENDED)
    n.say_job(END, 130)
    n.ends(130)
    assert n.lines == "", n.lines


def test_told_to_stop():
    """A launcher process that is told to stop on its own host ends the job, and says why: the controller does not know."""
    n = Node(sh("exec sleep 1000"), lease="30").connect()
    n.until(lambda: n.state and n.state["ranks"][0][0] == 1, "its rank")
    os.kill(n.pid, signal.SIGTERM)
    n.phase(ENDED)
    n.until(lambda: n.lines, "a line")
    assert n.lines == "ftrun: ftrun on host thathost was told to stop by signal 15 (SIGTERM); the job is ended\n", n.lines
    n.say_job(END, 143)
    n.ends(143)


def test_input():
    """Standard input comes over the connection, once, whatever breaks; a restarted rank is given it again."""
    text = "".join(f"word {i}\n" for i in range(20000)).encode()
    n = Node(sh('[ $FTMPI_INCARNATION = 0 ] && { head -c 1000 >/dev/null; kill -9 $$; }; exec sha256sum'), stdin=0, lease="30").connect()

    def give(to):
        while n.state is None or n.state["input"] < to:
            n.pump()
            at = n.state["input"] if n.state else 0
            n.input(at, text[at:min(at + 65536, to)], at + 65536 >= len(text) and to == len(text))
            n.state = None
            n.until(lambda: n.state, "its state")

    n.until(lambda: n.state, "its state")
    give(50000)
    n.cut()
    n.connect()
    n.until(lambda: n.state, "its state")
    assert n.state["input"] <= 50000
    give(100000)
    n.until(n.twin, "two launcher processes")
    os.kill(n.pid, signal.SIGKILL)
    n.connect()
    n.until(lambda: n.state, "its state")
    assert n.state["input"] <= 100000
    give(len(text))
    n.phase(DONE)
    n.until(lambda: n.out().startswith(hashlib.sha256(text).hexdigest()), "the sum")
    n.say_job(FINISH, 0)
    n.ends(0)


def test_input_end():
    """The end of standard input is one only when all that comes before is there: what found no room is lost with a connection or an agent, and
    comes again. (It was once remembered that it had ended, and not where: the rest was cut off.)"""
    text = os.urandom(1 << 20) * 6  # more than an agent takes ahead of its rank
    for lose in (lambda n: n.cut(), lambda n: os.kill(n.pid, signal.SIGKILL)):
        n = Node(sh("while [ ! -e go ]; do sleep 0.01; done; exec sha256sum"), stdin=0, lease="30").connect()

        def give():
            for at in range(n.state["input"], len(text), 65536):
                n.input(at, text[at:at + 65536], at + 65536 >= len(text))

        n.until(lambda: n.state, "its state")
        give()
        n.until(lambda: n.state["input"] > 4 << 20, "most of it")
        n.until(n.twin, "two launcher processes")
        lose(n)
        n.connect()
        n.until(lambda: n.state, "its state")
        assert n.state["input"] < len(text)
        open("go", "w").close()
        first = n.state["input"]
        n.input(first, text[first:first + 1000])
        n.until(lambda: n.state["input"] == first + 1000, "a little more")
        give()
        n.until(lambda: n.out().startswith(hashlib.sha256(text).hexdigest()), "the sum")
        n.phase(DONE)
        n.say_job(FINISH, 0)
        n.phase(LEFT)
        n.socket.close()
        os.unlink("go")


def test_back_pressure():
    """What nobody acknowledges stops a rank that prints: memory is bounded; then nothing is lost."""
    n = Node(sh("yes | head -c 4000000; echo; echo done >&2"), lease="30").connect()
    n.acknowledges = False
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        n.pump()
    assert len(n.out()) < 2500000, len(n.out())
    n.acknowledges = True
    n.got()
    n.until(lambda: len(n.out()) == 4000001 and n.out(0, 1) == "done\n", "its output")
    n.phase(DONE)
    n.say_job(FINISH, 0)
    n.ends(0)


def test_long_line():
    """A line that is longer than a record comes in pieces that say so."""
    n = Node(sh("head -c 700000 /dev/zero | tr '\\0' x; echo; echo short")).connect()
    n.phase(DONE)
    n.until(lambda: n.out() == "x" * 700000 + "\nshort\n", "its output")
    n.say_job(FINISH, 0)
    n.ends(0)


def test_garbage():
    """A controller that says nonsense costs the connection, not the job."""
    n = Node(sh("while [ ! -e end ]; do sleep 0.01; done; echo ok"), lease="30").connect()
    nonsense = [struct.pack("<II", 1 << 30, BEAT), frame(JOB, b"{}"), frame(99), frame(TABLE, b'{"nodes":[]}'), frame(GOT, bytes(7)),
                frame(GOT, b"\xff" * 8), frame(STATE), random.Random(first_seed()).randbytes(64)]
    for data in nonsense:
        n.phase(RUNNING)
        n.socket.sendall(data)
        try:
            while True:
                n.pump()
        except (Gone, ConnectionError):
            pass
        n.connect()
    open("end", "w").close()
    n.phase(DONE)
    n.until(lambda: n.out() == "ok\n", "its output")
    n.say_job(FINISH, 0)
    n.ends(0)


def main():
    tests = {name[5:]: f for name, f in globals().items() if name.startswith("test_")}
    failed = 0
    top = os.getcwd()
    for name in sys.argv[2:] or tests:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(dir=top) as dir:
            os.chdir(dir)
            try:
                tests[name]()
                print(f"ok   {name} ({time.monotonic() - begin:.2f} s)")
            except (AssertionError, Gone, OSError) as e:
                failed += 1
                print(f"FAIL {name}: {type(e).__name__} {e}")
                if os.environ.get("TRACE"):
                    raise
            os.chdir(top)
    sys.exit(1 if failed else 0)


main()
