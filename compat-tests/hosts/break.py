#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks hosts, cables and processes under a real job over several hosts, and holds its output against an undisturbed run's.

    break.py [options] -- PROGRAM ARGUMENTS        {seed} and {dir} are filled in; runs in a lab (lab.sh) whose hosts are up

For every seed the command runs twice over the same number of nodes: once alone, once with --events of the --kinds, chosen from the
seed. Each event waits until some rank has done a number of operations (progress.h), also chosen from the seed, and until all
nodes are there.
Lines are compared per rank, byte for byte. Afterwards no process of the job may be left on any host.

    rank        one rank, SIGKILL                          reset       all TCP connections of a node's host
    all         all ranks of a node                        blip        its cable cut for less than the lease
    rep         the first rank of a node                   mute, deaf  the same in one direction
    agent       one launcher process of a node             freeze      its host stands still, as long
    unplug      as blip, the carrier goes too              lossy       a tenth of what it sends is dropped, as long
    kill        a host dies; its connections are closed    stale       cut for longer than the lease, healed afterwards: its
    lose        a host dies silently                                   ranks must be dead before those that replace them run
    two         two neighbours die at once                 asleep      the same, frozen
    half        half of the hosts die at once

Each event with a host's death wants hosts that stand in (--spares of ftrun: those that the lab has beyond --nodes); when there are not
enough of them another kind is chosen, or none."""

import argparse
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib')
sys.path.insert(0, LIB)

from ftmpitest import Failure, Progress, add_options, by_rank, compare, filled, keep, kill_if, slurp  # noqa: E402

LAB = os.environ.get('LAB', '')
SHARES = 0.8, 0.4, 0.2  # of the job, in which it is broken: the next one if it was over too soon
SHORT = ['rank', 'all', 'rep', 'agent', 'reset', 'blip', 'mute', 'deaf', 'freeze', 'unplug', 'lossy']
DEATHS = {'kill': 1, 'lose': 1, 'stale': 1, 'asleep': 1, 'two': 2, 'half': 0}


class TooFast(Failure):
    """The job was over before all was broken that was to be: what breaks it got no processor."""


def lab(*words):
    done = subprocess.run([os.path.join(LIB, 'lab.sh'), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        raise Failure('lab %s: code %d: %s' % (' '.join(words), done.returncode, done.stderr.decode(errors='replace').strip()))


def deaths(kind, nodes):
    return nodes // 2 if kind == 'half' else DEATHS.get(kind, 0)


class Process:
    """One process on one host: its number here and there, its command, its environment when it started."""

    def __init__(self, pid, host):
        self.pid, self.host = pid, host
        with open('/proc/%d/status' % pid, encoding='ascii', errors='replace') as f:
            self.there = int(next(l for l in f if l.startswith('NSpid:')).split()[-1])
        with open('/proc/%d/cmdline' % pid, 'rb') as f:
            self.command = f.read().split(b'\0')[:-1]
        with open('/proc/%d/environ' % pid, 'rb') as f:
            self.rank = next((int(v[11:]) for v in f.read().split(b'\0') if v.startswith(b'FTMPI_RANK=')), None)

    def is_agent(self):
        return self.rank is None and b'--node' in self.command

    def kill(self, number=signal.SIGKILL):
        """True if it was still the same process."""
        def is_it():
            try:
                now = Process(self.pid, self.host)
            except (OSError, StopIteration):
                return False
            return (now.there, now.rank) == (self.there, self.rank) and now.command == self.command

        return kill_if(self.pid, is_it, number)


def hosts():
    """{pid namespace: host} of those that are up."""
    found = {}
    for name in os.listdir(LAB):
        try:
            with open(os.path.join(LAB, name, 'init'), encoding='ascii') as f:
                found[os.readlink('/proc/%d/ns/pid' % int(f.read()))] = name
        except (OSError, ValueError):
            pass
    return found


def processes():
    """Everything on any host that is not the lab's."""
    where, found = hosts(), []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                host = where.get(os.readlink('/proc/%s/ns/pid' % name))
                if host:
                    p = Process(int(name), host)
                    if p.there != 1 and p.command and not p.command[0].startswith((b'sshd:', b'/usr/sbin/sshd')):
                        found.append(p)
            except (OSError, StopIteration):
                pass
    return found


def show(most=30):
    print('--- on the hosts:')
    for p in processes()[:most]:
        print('  %s: pid %d, rank %s: %s' % (p.host, p.pid, p.rank, b' '.join(p.command).decode(errors='replace')[:150]))
        status = slurp('/proc/%d/status' % p.pid)
        print('    %s  wchan %s' % (next((l for l in status.splitlines() if l.startswith('State')), ''), slurp('/proc/%d/wchan' % p.pid)))
        if shutil.which('gdb') and os.environ.get('FT_GDB'):
            done = subprocess.run(['gdb', '-p', str(p.pid), '-batch', '-nx', '-ex', 'thread apply all bt 14'],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            for line in done.stdout.decode(errors='replace').splitlines():
                if line.startswith(('#', 'Thread')):
                    print('    ' + line[:180])
    sys.stdout.flush()


class Job:
    """One job over nodes, which begin on h1..hN and may end elsewhere."""

    def __init__(self, args, seed, directory):
        self.args, self.seed, self.dir = args, seed, directory
        self.ranks = args.nodes * args.per_node
        os.makedirs(os.path.join(directory, 'progress'))
        os.chmod(directory, 0o755)
        total = args.nodes + args.spares
        self.command = [args.ftrun, '-n', str(self.ranks), '--host', ','.join('h%d:%d' % (i + 1, args.per_node) for i in range(total)),
                        '--lease', str(args.lease)]
        if args.launcher != 'ssh':
            self.command += ['--launcher', 'exec:' + os.path.join(LIB, 'launch.sh')]
        if args.spares:
            self.command += ['--spares', str(args.spares)]
        self.command += shlex.split(args.ftrun_args) + filled(args.command, seed, os.path.join(directory, 'progress'))
        self.progress = [None] * self.ranks
        self.job = None

    def look(self):
        for r, known in enumerate(self.progress):
            path = os.path.join(self.dir, 'progress', 'rank.%d' % r)
            if known is None:
                try:
                    if os.path.getsize(path) >= 32:
                        self.progress[r] = Progress(path)
                except OSError:
                    pass

    def furthest(self):
        """Operations that the one who is furthest has done in all."""
        return max((p.all()[3] for p in self.progress if p), default=0)

    def ranks_of(self, node):
        """Processes of a node's ranks: those that say of themselves that they are it (their snapshots do not)."""
        found = []
        for p in processes():
            if p.rank is not None and p.rank // self.args.per_node == node and self.progress[p.rank]:
                if self.progress[p.rank].read()[0] == p.there:
                    found.append(p)
        return found

    def host_of(self, node):
        """Where it is, None if it just now is nowhere. The newest: a host that was fenced has none."""
        found = {p.host for p in self.ranks_of(node)}
        return found.pop() if len(found) == 1 else None

    def run(self, breaker=None):
        begin = time.monotonic()
        with open(os.path.join(self.dir, 'stdout'), 'wb') as out, open(os.path.join(self.dir, 'stderr'), 'wb') as err:
            self.job = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            while self.job.poll() is None:
                self.look()
                if time.monotonic() - begin > self.args.timeout:
                    print('HANG: still running after %.0f s, %d operations: %s' % (self.args.timeout, self.furthest(), shlex.join(self.command)))
                    print(slurp(os.path.join(self.dir, 'stderr'), 1 << 20)[-3000:])
                    show()
                    raise Failure('hang')
                time.sleep(breaker.step(self) if breaker else 0.002)
            self.seconds = time.monotonic() - begin
        finally:
            if self.job.poll() is None:
                self.job.kill()
            self.job.wait()
            if breaker:
                breaker.mend()
        self.nothing_left()
        if self.job.returncode:
            raise Failure('exit code %d; standard error ends with:\n%s' %
                          (self.job.returncode, slurp(os.path.join(self.dir, 'stderr'), 1 << 20)[-3000:]))
        if breaker and not breaker.is_done():
            raise TooFast('the job was over before all was broken that was to be')
        with open(os.path.join(self.dir, 'stdout'), 'rb') as f:
            return by_rank(f.read())

    def nothing_left(self):
        """A node that was cut off may take until its lease is over."""
        end = time.monotonic() + self.args.lease + 120
        while processes():
            if time.monotonic() > end:
                show()
                for p in processes():
                    p.kill()
                raise Failure('processes left behind after ftrun ended')
            time.sleep(0.02)


class Breaker:
    """Decides, from a seed, what to break when; does it; mends it; says what it saw."""

    def __init__(self, args, seed, operations):
        """operations: in which to break it."""
        self.args, self.rng = args, random.Random(seed)
        kinds = self.affordable(args.spares)
        at = sorted(self.rng.uniform(0.05, 1) * operations for _ in kinds)
        self.plan = list(zip(at, kinds))
        self.mending = []     # (when, what) with what a function
        self.lost = []        # hosts that are dead and shall stay so until the end
        self.waits = None     # for what is checked after an event: a function that is true when it has been seen
        self.said = []
        self.since = time.monotonic()

    def affordable(self, spares):
        """No more deaths than there are hosts to stand in: half of eight hosts, twice, is more than any job with four spares outlives."""
        kinds = []
        for _ in range(self.args.events):
            kind = self.rng.choice(self.args.kinds)
            if deaths(kind, self.args.nodes) > spares:
                fit = [k for k in self.args.kinds if deaths(k, self.args.nodes) <= spares]
                if not fit:
                    break
                kind = self.rng.choice(fit)
            spares -= deaths(kind, self.args.nodes)
            kinds.append(kind)
        return kinds

    def is_done(self):
        return not self.plan and not self.waits

    def say(self, text):
        self.said.append(text)
        if self.args.verbose:
            print('    %6.2f s  %s' % (time.monotonic() - self.since, text), flush=True)

    def step(self, job):
        now = time.monotonic()
        for when, what in list(self.mending):
            if now >= when:
                self.mending.remove((when, what))
                what()
        if self.waits:
            if self.waits():
                self.waits = None
        elif self.plan and not self.mending and job.furthest() >= self.plan[0][0] and all(job.progress):
            if self.do(job, self.plan[0][1]):
                self.plan.pop(0)
        return 0.003

    def mend(self):
        """So that the next job finds all hosts as they were."""
        for _, what in self.mending:
            what()
        self.mending = []
        for host in self.lost:
            lab('heal', host)
            if subprocess.run([os.path.join(LIB, 'lab.sh'), 'is_up', host], check=False).returncode:
                lab('boot', host)
        self.lost = []

    def for_a_moment(self, verb, back, host):
        seconds = self.rng.uniform(0.05, 0.45) * self.args.lease
        self.say('%s %s for %.2f s' % (' '.join(verb), host, seconds))
        lab(verb[0], host, *verb[1:])
        self.mending.append((time.monotonic() + seconds, lambda: lab(back, host)))

    def do(self, job, kind):
        """False: not just now."""
        node = self.rng.randrange(self.args.nodes)
        ranks = job.ranks_of(node)
        if len(ranks) != self.args.per_node or len({p.host for p in ranks}) != 1:
            return False
        host = ranks[0].host
        if kind in ('rank', 'rep', 'all'):
            victims = {'rank': [self.rng.choice(ranks)], 'rep': [min(ranks, key=lambda p: p.rank)], 'all': ranks}[kind]
            hit = [p.rank for p in victims if p.kill()]
            self.say('SIGKILL to rank %s on %s' % (' '.join(map(str, hit)), host))
            return bool(hit)
        if kind == 'agent':
            agents = [p for p in processes() if p.host == host and p.is_agent()]
            if not agents or not self.rng.choice(agents).kill():
                return False
            self.say('SIGKILL to a launcher process on %s' % host)
        elif kind == 'reset':
            lab('reset', host)
            self.say('reset %s' % host)
        elif kind in ('blip', 'mute', 'deaf'):
            self.for_a_moment(['cut' if kind == 'blip' else kind], 'heal', host)
        elif kind == 'unplug':
            self.for_a_moment(['unplug'], 'plug', host)
        elif kind == 'lossy':
            self.for_a_moment(['lossy', '10'], 'heal', host)
        elif kind == 'freeze':
            self.for_a_moment(['freeze'], 'thaw', host)
        elif kind in ('stale', 'asleep'):
            self.outlast(job, kind, node, host)
        else:
            count = deaths(kind, self.args.nodes)
            nodes = [(node + i) % self.args.nodes for i in range(count)]
            where = [job.host_of(n) for n in nodes]
            if None in where:
                return False
            self.say('%s %s' % ('lose' if kind == 'lose' else 'kill', ' '.join(where)))
            lab('lose' if kind == 'lose' else 'kill', *where)
            self.lost += where
            self.expect_back(job, nodes, where)
        return True

    def expect_back(self, job, nodes, old):
        """Whatever comes next waits until the nodes are elsewhere; says how long it was until anything new was committed."""
        begin, before = time.monotonic(), job.furthest()
        seen = {}

        def back():
            # One operation may have been over for some and not for all.
            if 'moved' not in seen and job.furthest() > before + 2:
                seen['moved'] = time.monotonic() - begin
                self.say('the first new operation after %.2f s' % seen['moved'])
            where = [job.host_of(n) for n in nodes]
            if 'moved' in seen and None not in where and not set(where) & set(old):
                self.say('now on %s' % ' '.join(where))
                return True
            return job.job.poll() is not None

        self.waits = back

    def outlast(self, job, kind, node, host):
        """Longer than the lease. RULE 30: frozen ranks cannot be killed by their agent, so those are only to be gone after the thaw."""
        verb, back = ('cut', 'heal') if kind == 'stale' else ('freeze', 'thaw')
        lab(verb, host)
        self.say('%s %s until it is replaced' % (verb, host))
        mended = (float('inf'), lambda: lab(back, host))  # or at the end
        self.mending.append(mended)
        begin = time.monotonic()
        seen = {}

        def mine(where):
            return [p for p in processes() if p.rank is not None and p.rank // self.args.per_node == node and (p.host == host) == where]

        def replaced():
            if 'dead' not in seen and not mine(True):
                seen['dead'] = time.monotonic()
                self.say('its ranks are dead after %.2f s' % (seen['dead'] - begin))
            if 'new' not in seen and mine(False):
                seen['new'] = time.monotonic()
                self.say('others run after %.2f s' % (seen['new'] - begin))
                # Looked at once more, now that there are others: since the last look both may have happened, in the right order.
                if kind == 'stale' and 'dead' not in seen and mine(True):
                    raise Failure('node %d runs on two hosts: %s was not fenced before it was replaced' % (node, host))
                self.mending.remove(mended)
                lab(back, host)
            if 'new' in seen and mine(True) and time.monotonic() > seen['new'] + 120:
                raise Failure('%s is back, and its ranks live: %s' % (host, [p.pid for p in mine(True)]))
            return len(seen) == 2 or job.job.poll() is not None

        self.waits = replaced


def one_seed(args, seed, scratch):
    where_to = os.path.join(scratch, 'seed-%d' % seed)
    calm_job = Job(args, seed, os.path.join(where_to, 'undisturbed'))
    calm = calm_job.run()
    if len(calm) != calm_job.ranks:
        raise Failure('%d of %d ranks printed something in the undisturbed run' % (len(calm), calm_job.ranks))
    if not args.events:
        return
    for share in SHARES:
        wild_job = Job(args, seed, os.path.join(where_to, 'broken-%g' % share))
        breaker = Breaker(args, seed, share * calm_job.furthest())
        try:
            wild = wild_job.run(breaker)
            break
        except Failure as failure:
            if share == SHARES[-1] or not isinstance(failure, TooFast):
                raise Failure('%s\n(broken: %s)' % (failure, '; '.join(breaker.said))) from None
    compare(calm, wild)
    print('%d nodes, seed %d: %.2f s undisturbed, %.2f s with: %s' %
          (args.nodes, seed, calm_job.seconds, wild_job.seconds, '; '.join(breaker.said)), flush=True)
    shutil.rmtree(where_to)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--nodes', type=int, default=2)
    p.add_argument('--per-node', type=int, default=2)
    p.add_argument('--spares', type=int, default=0)
    p.add_argument('--events', type=int, default=3, help='per run (default 3; 0: the undisturbed run only)')
    p.add_argument('--kinds', default=','.join(SHORT), help='default: all that no host dies of')
    p.add_argument('--lease', type=float, default=3)
    p.add_argument('--launcher', choices=['exec', 'ssh'], default='exec')
    p.add_argument('--seconds', type=float, default=0, help='start no new seed after this long (0: all seeds)')
    add_options(p)
    p.set_defaults(seeds=1)
    args = p.parse_args()
    args.ftrun = os.path.abspath(args.ftrun)
    args.kinds = args.kinds.split(',')
    unknown = set(args.kinds) - set(SHORT) - set(DEATHS)
    if not LAB or unknown:
        p.error('not in a lab' if not LAB else 'no such kind: %s' % ' '.join(unknown))

    scratch = tempfile.mkdtemp(prefix='break-', dir=LAB)
    begin, code = time.monotonic(), 0
    try:
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            if args.seconds and seed > args.first_seed and time.monotonic() - begin > args.seconds:
                break
            try:
                one_seed(args, seed, scratch)
            except Failure as failure:
                print('FAILED: %d nodes of %d ranks, seed %d: %s' % (args.nodes, args.per_node, seed, failure))
                print('again with: %s' % shlex.join(['break.py'] + [a for a in sys.argv[1:]]))
                keep(args, scratch, seed)
                code = 1
                break
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return code


if __name__ == '__main__':
    sys.exit(main())
