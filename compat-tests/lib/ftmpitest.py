# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests of jobs have in common (compat-tests/README.md): a job that is bounded and watched, who belongs to it,
kills that hit whom they were meant for, and outputs that are compared.

    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
    import ftmpitest"""

import json
import mmap
import os
import random
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

TOKEN = 'FTCHAOS'


class Failure(Exception):
    pass


# ---- knobs ----

def first_seed():
    """FT_SEED or 1, so that a run shows what this tree does; in the full tier one that nobody knows before."""
    given = os.environ.get('FT_SEED')
    if not given and os.environ.get('FT_TIER') == 'full':
        drawn = random.SystemRandom().randrange(1000000)
        print('FT_SEED=%d' % drawn, flush=True)
        return drawn
    return int(given or 1)


# ---- processes ----

def slurp(path, limit=4000):
    try:
        with open(path, 'rb') as f:
            return f.read(limit).replace(b'\0', b' ').decode(errors='replace').strip()
    except OSError as e:
        return '(%s)' % e.strerror


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on; none if there is no such process."""
    try:
        with open('/proc/%d/stat' % pid, encoding='ascii', errors='replace') as f:
            return f.read().rpartition(')')[2].split()
    except OSError:
        return []


def state(pid):
    """Its letter; X if there is no such process."""
    return (stat_of(pid) or 'X')[0]


def lives(pid):
    return state(pid) not in 'ZX'


def children(pid):
    """Those of all its threads."""
    found = []
    try:
        for thread in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, thread), encoding='ascii') as f:
                found += [int(word) for word in f.read().split()]
    except OSError:
        pass
    return found


def descendants(pid):
    """Everybody below a process."""
    below = []
    for child in children(pid):
        below += [child] + descendants(child)
    return below


def processes(token):
    """Pids that carry our token in their environment: ftrun, agents, ranks and what they started."""
    found = []
    needle = ('%s=%s' % (TOKEN, token)).encode()
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/environ' % name, 'rb') as f:
                    if needle in f.read().split(b'\0'):
                        found.append(int(name))
            except OSError:
                pass
    return found


def is_ours(pid, token):
    try:
        with open('/proc/%d/environ' % pid, 'rb') as f:
            return ('%s=%s' % (TOKEN, token)).encode() in f.read().split(b'\0')
    except OSError:
        return False


def kill_if(pid, is_it, number=signal.SIGKILL):
    """Sends a signal to the process if is_it() says that it is the one that is meant. The descriptor pins it: what is_it reads
    is about the one that dies, whatever the number comes to mean. True: it was sent."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_it():
            return False
        signal.pidfd_send_signal(fd, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)


def kill_ranks(job, directory, ranks, again):
    """Kills ranks of a job whose socket is in directory. again: the first of them so much later once more, as soon as it is back. How many
    there were, and how many of them had no snapshot yet but that of their start, if they had that."""
    said = status_in(directory).get('per_rank', [])
    before = [r['pid'] for r in said]
    killed = early = 0
    for r in ranks:
        if job.poll() is None and len(before) > r and before[r] and kill_if(before[r], lambda: True):
            killed += 1
            early += not said[r].get('snapshot')
    if again is None or not before:
        return killed, early
    limit = time.monotonic() + 10
    while job.poll() is None and time.monotonic() < limit:
        now = [r['pid'] for r in status_in(directory).get('per_rank', [])]
        if len(now) > ranks[0] and now[ranks[0]] not in (None, 0, before[ranks[0]]):
            time.sleep(again)
            killed += job.poll() is None and kill_if(now[ranks[0]], lambda: True)
            break
        time.sleep(0.001)
    return killed, early


def kills_of(seed, ranks, lasted):
    """When (seconds of a job that lasts so long), whom, and whether again: [(when, ranks, again)]."""
    chance = random.Random(seed)
    events = []
    for _ in range(chance.choice([1, 1, 2, 3, 4])):
        who = chance.choice([[chance.randrange(ranks)], [chance.randrange(ranks)], [0], chance.sample(range(ranks), 2), list(range(ranks))])
        again = chance.choice([None, None, 0, chance.uniform(0, 0.05), chance.uniform(0, 0.5)])
        events.append((chance.uniform(0.02, 1.05 * lasted), who, again))
    return sorted(events)


# ---- a job ----

def status_in(directory):
    """What ftrun says of its job, by its socket there, as `ftrun status --json`; {}: it does not say."""
    try:
        name = next(n for n in os.listdir(directory) if n.endswith('.sock'))
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(os.path.join(directory, name))
            s.sendall(b'{"request": "status"}\n')
            return json.loads(s.makefile().readline())
    except (OSError, StopIteration, ValueError):
        return {}


class Progress:
    """One rank's struct progress (progress.h)."""

    def __init__(self, path):
        with open(path, 'r+b') as f:
            self.map = mmap.mmap(f.fileno(), 40 if os.fstat(f.fileno()).st_size >= 40 else 32)

    def read(self):
        """(pid, ops, base), pid 0 while an incarnation is starting."""
        return self.all()[:3]

    def all(self):
        """(pid, ops, base, furthest, phase)"""
        words = struct.unpack('%dQ' % (len(self.map) // 8), self.map[:]) + (0,)
        again = struct.unpack('Q', self.map[:8])[0]
        return words[:5] if words[0] == again else (0,) * 5


def where(token, progress, most=12):
    """Prints where every process of the job is."""
    print('--- where everybody is:')
    for r, p in enumerate(progress):
        if p and r < 64:
            print('    rank %d: pid %d, %d operations since its start, furthest before %d' % ((r,) + p.read()))
    pids = processes(token)
    gdb = shutil.which('gdb')
    for pid in pids[:most]:
        status = slurp('/proc/%d/status' % pid)
        state = next((l for l in status.splitlines() if l.startswith('State')), '')
        print('  pid %d  %s  %s' % (pid, slurp('/proc/%d/cmdline' % pid)[:200], state))
        print('    wchan %s  syscall %s' % (slurp('/proc/%d/wchan' % pid), slurp('/proc/%d/syscall' % pid)))
        stack = slurp('/proc/%d/stack' % pid)
        if stack:
            print('    ' + stack.replace('\n', '\n    '))
        if gdb:
            try:
                done = subprocess.run([gdb, '-p', str(pid), '-batch', '-nx', '-ex', 'set pagination off',
                                       '-ex', 'thread apply all bt 16'],
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
                for line in done.stdout.decode(errors='replace').splitlines():
                    if line.startswith(('#', 'Thread')):
                        print('    ' + line[:200])
            except subprocess.TimeoutExpired:
                print('    (gdb did not answer)')
    if len(pids) > most:
        print('  and %d more processes' % (len(pids) - most))
    sys.stdout.flush()


def end(token):
    """Kills what is left of one job, and nothing else."""
    for _ in range(50):
        pids = processes(token)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


def by_rank(output):
    """Lines in order per rank. A line without its rank in front is not the program's."""
    ranks = {}
    for line in output.split(b'\n'):
        if line:
            head = line.split(b' ', 1)[0]
            if not head.isdigit():
                raise Failure('a line of standard output that no rank printed: %r' % line[:200])
            ranks.setdefault(int(head), []).append(line)
    return ranks


def filled(command, seed, directory):
    """The program's words with {seed} and {dir} in them."""
    return [a.replace('{seed}', str(seed)).replace('{dir}', directory) for a in command]


class Run:
    """One job."""

    def __init__(self, args, seed, where_to, name):
        self.args, self.seed = args, seed
        self.dir = os.path.join(where_to, name)
        os.makedirs(os.path.join(self.dir, 'progress'))
        self.token = uuid.uuid4().hex
        self.report = os.path.join(self.dir, 'report.json')
        self.environment = dict(os.environ, **{TOKEN: self.token})
        self.observer = None  # an `ftrun wait`
        self.stdin = subprocess.DEVNULL
        self.command = ([args.ftrun, '-n', str(args.ranks), '--max-restarts', '1000000', '--report', self.report] +
                        shlex.split(args.ftrun_args) +
                        filled(args.command, seed, os.path.join(self.dir, 'progress')))

    def code(self):
        """The job's exit code, None while it runs. If the process we started was killed, the one that waits beside it knows
        when it is over, and the report how: the job may be over before the waiting one has found the last agent."""
        code = self.job.poll()
        if code != -signal.SIGKILL or not self.observer:
            return code
        if self.observer.poll() is None:
            return None
        try:
            with open(self.report) as f:
                return json.load(f)['exit_code']
        except (OSError, ValueError):
            return self.observer.poll()

    def run(self, killer=None):
        """killer.step(progress) is called again and again; it returns the seconds until it wants to be called next."""
        progress = [None] * self.args.ranks
        begin = known = time.monotonic()
        with open(os.path.join(self.dir, 'stdout'), 'wb') as out, open(os.path.join(self.dir, 'stderr'), 'wb') as err:
            self.job = subprocess.Popen(self.command, stdin=self.stdin, stdout=out, stderr=err, env=self.environment)
        missing = set(range(self.args.ranks))
        try:
            while self.code() is None:
                for r in list(missing):
                    path = os.path.join(self.dir, 'progress', 'rank.%d' % r)
                    try:
                        if os.path.getsize(path) >= 32:
                            progress[r] = Progress(path)
                            missing.discard(r)
                            known = time.monotonic()
                    except OSError:
                        pass
                if time.monotonic() - begin > self.args.timeout:
                    print('HANG: still running after %.0f s: %s' % (self.args.timeout, shlex.join(self.command)))
                    where(self.token, progress)
                    raise Failure('hang')
                time.sleep(killer.step(progress) if killer else 0.002)
            self.seconds, self.span = time.monotonic() - begin, time.monotonic() - known
            for _ in range(200):
                left = processes(self.token)
                if not left:
                    break
                time.sleep(0.01)
            if left:
                where(self.token, progress)
                raise Failure('processes left behind after ftrun ended')
        finally:
            code = self.code()
            end(self.token)
            self.job.wait()
        if 'broken invariant' in slurp(os.path.join(self.dir, 'stderr'), 1 << 20):  # who ends itself comes back, and the output is right
            raise Failure('an invariant was broken')
        if code != 0:
            raise Failure('exit code %d; standard error ends with:\n%s' %
                          (code, slurp(os.path.join(self.dir, 'stderr'), 1 << 20)[-2000:]))
        with open(os.path.join(self.dir, 'stdout'), 'rb') as f:
            return by_rank(f.read())


def compare(calm, wild, names=('undisturbed: ', 'with kills:  ')):
    for r in sorted(set(calm) | set(wild)):
        a, b = calm.get(r, []), wild.get(r, [])
        for i in range(max(len(a), len(b))):
            x = a[i] if i < len(a) else b'(nothing)'
            y = b[i] if i < len(b) else b'(nothing)'
            if x != y:
                raise Failure('rank %d, line %d\n  %s%s\n  %s%s' %
                              (r, i + 1, names[0], x.decode(errors='replace'), names[1], y.decode(errors='replace')))


# ---- kills by seed ----

class Killer:
    """Decides, from a seed, whom to kill when; does it; counts."""

    def __init__(self, seed, ranks, kills, span, token):
        self.rng = random.Random(seed)
        self.ranks, self.want, self.span, self.token = ranks, kills, max(span, 0.02), token
        self.counted = self.uncounted = self.together = 0
        self.last = None
        self.killed = {}  # who was it last: on a busy machine it lives on for a while, and must not count twice
        self.first = self.delay()
        self.at = 0
        self.plan()

    def delay(self):
        return self.rng.uniform(0, 1.2 * self.span / self.want)

    def plan(self):
        """Whom next, and whether to wait until they have done something new."""
        kind = self.rng.random()
        self.patient = self.rng.random() < 0.8
        if kind < 0.10:
            self.victims = self.rng.sample(range(self.ranks), self.ranks)
            if self.ranks > 16:
                self.victims = self.victims[:2]
        elif kind < 0.25:
            self.victims = self.rng.sample(range(self.ranks), min(2, self.ranks))
        elif kind < 0.50 and self.last is not None and self.uncounted < 3 * self.want:
            # Once more, soon: while it starts, replays, or has just caught up.
            self.victims = [self.last]
            self.at = time.monotonic() + self.rng.uniform(0, 0.02)
            self.patient = False
        else:
            self.victims = [self.rng.randrange(self.ranks)]
        self.since = None

    def step(self, progress):
        """Called often. Seconds until it wants to be called again."""
        if self.counted >= self.want:
            return 0.005
        now = time.monotonic()
        if any(p is None for p in progress):
            self.at = now + self.first  # from when there is somebody
            return 0.001
        if now < self.at:
            return min(self.at - now, 0.003)
        state = [progress[v].read() for v in self.victims]
        if self.patient and not (state[0][0] and state[0][1] > state[0][2]):
            self.since = self.since or now
            if now - self.since < 0.5:
                return 0.0003
        hits = sum([self.kill(v, pid, progress[v]) for v, (pid, _, _) in zip(self.victims, state)])
        if hits > 1:
            self.together += hits
        self.last = self.victims[0]
        self.at = time.monotonic() + self.delay()
        self.plan()
        return 0.0003

    def kill(self, rank, pid, progress):
        ops = base = 0

        def is_it():
            nonlocal ops, base
            now, ops, base = progress.read()
            return now == pid and is_ours(pid, self.token)

        if pid and pid != self.killed.get(rank) and kill_if(pid, is_it):
            self.killed[rank] = pid
            if ops > base:
                self.counted += 1
            else:
                self.uncounted += 1
            return True
        return False


# ---- programs for the command line ----

def add_options(p):
    """Those of whatever runs a program by seeds."""
    p.add_argument('--ftrun', default='./ftrun', help='the launcher (default ./ftrun)')
    p.add_argument('--seeds', type=int, default=10, help='how many (default %(default)s)')
    p.add_argument('--first-seed', type=int, default=first_seed())
    p.add_argument('--timeout', type=float, default=120, help='seconds after which one job is called hung (default 120)')
    p.add_argument('--ftrun-args', default='', help='more options for ftrun, as one string')
    p.add_argument('--keep', metavar='DIR', help='leave output and report of a failing seed here')
    p.add_argument('-v', '--verbose', action='store_true')
    p.add_argument('command', nargs='+', help='program and arguments, with {seed} and {dir}')


def keep(args, scratch, seed):
    """What a failing seed has left, if somebody wants it."""
    if args.keep:
        kept = os.path.join(args.keep, 'seed-%d' % seed)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(os.path.join(scratch, 'seed-%d' % seed), kept)
        print('kept in', kept)
