#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of this directory under ftrun, alone and with ranks killed, and holds output and files of the second run
against those of the first, byte for byte (but for a file that ranks share: nothing may be missing there).

Whom a seed kills, and in which of its rounds, is random but the same each time. Most kills wait until the victim has a
snapshot. Of the recoveries of programs that can be put back at least one must have been by snapshot; programs that cannot be say
why, and are restarted from their beginning."""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import ftmpitest  # noqa: E402

RANKS = 3

# back: how its ranks come back: 'snapshot' (none of them can be started twice), 'either' (from a snapshot once there is one), 'any' or 'start'
# (there is none, for this reason).
Case = collections.namedtuple('Case', 'program what back reason rounds pause stdin')


def case(program, what='', back='either', reason=None, rounds=300, pause=2000, stdin=None):
    return Case(program, what, back, reason, rounds, pause, stdin)


CASES = [
    case('once', back='snapshot'),
    case('reads', back='any'),  # it reads a directory by a system call of its own
    case('writes'),
    case('appends'),
    case('appends', 'shared'),
    case('updates'),
    case('scratch'),
    case('past', back='start', reason='not recorded'),
    case('locks', 'always'),
    case('locks', 'between'),
    case('maps', 'input'),
    case('maps', 'private'),
    case('maps', 'shared'),
    case('pipes', 'always'),
    case('pipes', 'between'),
    case('pipes', 'later'),
    case('children', 'one'),
    case('children', 'long'),
    case('waits'),
    case('timers', 'real'),
    case('timers', 'prof', pause=1000),
    case('timers', 'alarm'),
    case('timers', 'pending'),
    case('timers', 'posix', back='any', reason='timer_create'),
    case('threads', 'later'),
    case('threads', 'brief'),
    case('openmp'),
    case('input', stdin='pipe'),
    case('input', 'raw', stdin='pipe'),
    case('input', stdin='file'),
    case('prints'),
    case('redirects'),
    case('memory', '4'),
    case('results'),
    case('results', 'refused'),
    case('state'),
]
# With little time: one of each kind.
FEW = [('once', ''), ('writes', ''), ('appends', ''), ('children', 'one'), ('timers', 'real'), ('threads', 'later'), ('input', 'raw'),
       ('prints', ''), ('redirects', ''), ('state', ''), ('scratch', ''), ('updates', ''), ('waits', ''), ('results', ''), ('results', 'refused'),
       ('maps', 'input'), ('maps', 'private')]


def name_of(c):
    return '%s%s%s' % (c.program, ' ' + c.what if c.what else '', ' <' + c.stdin if c.stdin else '')


class RoundKiller(ftmpitest.Killer):
    """Kills ranks when they have come to a round for the first time; some of them again as soon as they are back. Asks why
    there is no snapshot."""

    def __init__(self, seed, c, kills, token, has_snapshot, why):
        self.why, self.reasons, self.ask_at = why, set(), time.monotonic() + 0.2
        self.wanted = c.reason  # None: nothing is asked
        self.answers = 0
        self.rng = random.Random('%d %s' % (seed, name_of(c)))
        self.token, self.has_snapshot = token, has_snapshot
        self.counted = self.uncounted = 0
        self.killed = {}
        self.again = []  # (rank, the pid that was killed, when at the earliest, at the latest)
        self.plan = sorted(self.choose(c) for _ in range(kills))

    def choose(self, c):
        """(round, ranks, only when they have a snapshot, seconds until again or None)"""
        kind, at = self.rng.random(), int(c.rounds * self.rng.uniform(0.2, 0.95))
        ranks = [self.rng.randrange(RANKS)] if kind < 0.7 else self.rng.sample(range(RANKS), 2 if kind < 0.85 else RANKS)
        need = c.back == 'snapshot' or c.back == 'either' and self.rng.random() < 0.8
        again = self.rng.uniform(0, 0.02) if self.rng.random() < 0.3 else None
        return at, ranks, need, again

    def step(self, progress):
        if any(p is None for p in progress):
            return 0.002
        now = time.monotonic()
        if self.wanted and not any(self.wanted in r for r in self.reasons) and now > self.ask_at:
            reasons = self.why()
            self.answers += reasons is not None
            self.reasons |= reasons or set()
            self.ask_at = time.monotonic() + 0.2
        for item in list(self.again):
            rank, old, wait, until = item
            pid = progress[rank].read()[0]
            if pid and pid != old:
                time.sleep(wait)
                self.kill(rank, progress[rank].read()[0], progress[rank])
            if pid and pid != old or now > until:
                self.again.remove(item)
        if not self.plan:
            return 0.005
        at, ranks, need, again = self.plan[0]
        state = [progress[r].read() for r in ranks]
        if not all(pid for pid, _, _ in state) or state[0][1] < at or need and not all(self.has_snapshot(r) for r in ranks):
            return 0.001
        self.plan.pop(0)
        for r, (pid, _, _) in zip(ranks, state):
            self.kill(r, pid, progress[r])
        if again is not None:
            self.again.append((ranks[0], state[0][0], again, now + 1))
        return 0.001


def input_text():
    rng = random.Random(7)
    return ''.join('line %d %d\n' % (i, rng.getrandbits(rng.randrange(8, 100))) for i in range(300)).encode()


class Job:
    """One run of one case."""

    def __init__(self, args, c, seed, where, name, options, pause):
        options = options + ['-x', 'OMP_WAIT_POLICY=passive']  # or two threads a rank spin on what processors there are
        run_args = argparse.Namespace(ftrun=args.ftrun, ranks=RANKS, timeout=args.timeout, ftrun_args=shlex.join(options), command=[
            os.path.join(args.programs, c.program), '-n', str(c.rounds), '-w', str(pause), '-p', '{dir}', '-o', '{dir}'] + c.what.split())
        self.run = ftmpitest.Run(run_args, seed, where, name)
        self.c = c
        self.files = os.path.join(self.run.dir, 'progress')
        self.feeder = None
        self.seen = set()
        self.read = 0

    def stdin(self):
        if self.c.stdin == 'file':
            path = os.path.join(self.run.dir, 'stdin')
            with open(path, 'wb') as f:
                f.write(input_text())
            return open(path, 'rb')
        if self.c.stdin == 'pipe':
            out, into = os.pipe()
            self.feeder = threading.Thread(target=self.feed, args=(into,), daemon=True)
            self.feeder.start()
            return os.fdopen(out, 'rb')
        return subprocess.DEVNULL

    @staticmethod
    def feed(fd):
        """In pieces that are not lines."""
        text, rng = input_text(), random.Random(8)
        try:
            while text:
                n = rng.randrange(1, 400)
                os.write(fd, text[:n])
                text = text[n:]
                time.sleep(0.005)
        except OSError:
            pass
        os.close(fd)

    def stderr(self):
        with open(os.path.join(self.run.dir, 'stderr'), errors='replace') as f:
            return f.read()

    def has_snapshot(self, rank):
        if rank not in self.seen:
            self.seen.update(int(r) for r in re.findall(r'rank (\d+) has a snapshot', self.stderr()))
        return rank in self.seen

    def why(self):
        """What `ftrun status` says of ranks without a snapshot; None: nothing, since it was too busy."""
        asked = subprocess.run([self.run.command[0], 'status', '--json', str(self.run.job.pid)], capture_output=True, timeout=120)
        try:
            return {rank['no_snapshot'] for rank in json.loads(asked.stdout)['per_rank'] if rank['no_snapshot']}
        except (ValueError, KeyError):
            return None

    def go(self, killer=None):
        self.run.stdin = self.stdin()
        try:
            return self.run.run(killer)
        finally:
            if self.run.stdin is not subprocess.DEVNULL:
                self.run.stdin.close()

    def report(self):
        with open(self.run.report) as f:
            return json.load(f)


def own_lines(job):
    """What prints.c says on stderr, by rank."""
    lines = collections.defaultdict(list)
    for line in job.stderr().split('\n'):
        if re.match(r'\d+ in round ', line):
            lines[line.split(' ', 1)[0]].append(line)
    return lines


def compare_files(calm, wild):
    names = {n for d in (calm, wild) for n in os.listdir(d) if not n.startswith('rank.') and os.path.isfile(os.path.join(d, n))}
    for name in sorted(names):
        texts = []
        for d in (calm, wild):
            try:
                with open(os.path.join(d, name), 'rb') as f:
                    texts.append(f.read())
            except FileNotFoundError:
                raise ftmpitest.Failure('file %s is in one of the two runs only' % name)
        a, b = texts
        if name == 'shared':
            missing = collections.Counter(set(a.split(b'\n'))) - collections.Counter(set(b.split(b'\n')))
            if missing:
                raise ftmpitest.Failure('file shared: %d lines are missing, the first is %r' % (len(missing), min(missing)))
        elif a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            raise ftmpitest.Failure('file %s: %d bytes, and %d with kills; they differ from byte %d on: %r, %r' %
                                (name, len(a), len(b), at, a[at:at + 60], b[at:at + 60]))


def one(args, c, seed, scratch):
    """The ways back that were taken."""
    where = os.path.join(scratch, 'seed')
    shutil.rmtree(where, ignore_errors=True)
    off = ['--snapshot', 'off'] if args.can else []
    on = ['--snapshot', args.snapshot, '-vv'] if args.can and args.snapshot != 'off' else off
    if c.program == 'results' and args.can:
        on = on + ['--check-replay=compare']  # what a copy contributes that its predecessor had contributed would not be seen
    calm = Job(args, c, seed, where, 'undisturbed', off, 0)
    expected = calm.go()
    wild = Job(args, c, seed, where, 'killed', on, c.pause)
    killer = RoundKiller(seed, c, args.kills, wild.run.token, wild.has_snapshot if on[:2] != off else lambda rank: True, wild.why)
    killer.wanted = c.reason if on[:2] != off else None
    output = wild.go(killer)
    ftmpitest.compare(expected, output)
    compare_files(calm.files, wild.files)
    if own_lines(calm) != own_lines(wild):
        raise ftmpitest.Failure('standard error differs')
    report = wild.report()
    ways = collections.Counter(r.get('way_back', 'unknown') for r in report['restarts'])
    if c.back == 'start' and ways['snapshot']:
        raise ftmpitest.Failure('a rank that cannot be put back was')
    if killer.wanted and killer.answers >= 3 and not any(c.reason in r for r in killer.reasons):
        raise ftmpitest.Failure('ftrun status does not say "%s", but %s' % (c.reason, killer.reasons or 'nothing'))
    if args.verbose:
        print('  seed %d: %d kills, back by %s, %.2f s' % (seed, killer.counted + killer.uncounted, dict(ways), wild.run.seconds))
    return ways


def all_seeds(args, c, scratch):
    """Until enough seeds have run and one recovery was by snapshot; a few more seeds if there was none."""
    ways = collections.Counter()
    begin = time.monotonic()
    more = 0 if c.back in ('start', 'any') or not args.can or args.snapshot == 'off' else 3
    seed = args.first_seed
    while seed < args.first_seed + args.seeds or more and not ways['snapshot']:
        if seed >= args.first_seed + args.seeds:
            more -= 1
        try:
            ways += one(args, c, seed, scratch)
        except ftmpitest.Failure as failure:
            print('FAILED: %s, seed %d: %s\n'
                  'again with: %s --ftrun %s --programs %s --snapshot %s --kills %d --first-seed %d --only %s' %
                  (name_of(c), seed, failure, sys.argv[0], args.ftrun, args.programs, args.snapshot, args.kills, seed, shlex.quote(name_of(c))))
            if args.keep:
                shutil.copytree(os.path.join(scratch, 'seed'), os.path.join(args.keep, name_of(c).replace(' ', '-')), dirs_exist_ok=True)
            return False
        seed += 1
    print('%-20s %d seeds, the same output and files; back by %s; %.1f s' %
          (name_of(c), seed - args.first_seed, ', '.join('%s %d' % w for w in sorted(ways.items())) or 'nothing', time.monotonic() - begin))
    sys.stdout.flush()
    if more == 0 and c.back not in ('start', 'any') and args.can and args.snapshot != 'off' and not ways['snapshot']:
        print('FAILED: %s: no rank was put back from a snapshot' % name_of(c))
        return False
    return True


def one_case(args, c):
    if c.program == 'openmp' and subprocess.run([os.path.join(args.programs, 'openmp'), '-n', '0'], stdout=subprocess.DEVNULL).returncode == 77:
        print('openmp: the compiler has none')
        return True
    with tempfile.TemporaryDirectory(prefix='snapshot-') as scratch:
        return all_seeds(args, c, scratch)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ftrun', default='./ftrun')
    p.add_argument('--programs', default='compat-tests/snapshot', metavar='DIR', help='where they were built')
    p.add_argument('--snapshot', default='0.1', metavar='SECONDS', help="ftrun's option; off: all are started again (default 0.1)")
    p.add_argument('--seeds', type=int, default=1, help='for each program (default 1)')
    p.add_argument('--first-seed', type=int, default=ftmpitest.first_seed())
    p.add_argument('--kills', type=int, default=2, help='for each seed (default 2)')
    p.add_argument('--jobs', type=int, default=3, help='programs at a time, which wait most of the time (default 3)')
    p.add_argument('--most', type=int, default=0, help='no more than so many programs')
    p.add_argument('--only', action='append', metavar='NAME', help='this program, as it is named in the output; repeatable')
    p.add_argument('--timeout', type=float, default=120, help='seconds after which a job is called hung (default 120)')
    p.add_argument('--keep', metavar='DIR', help='leave what a failing seed made here')
    p.add_argument('-v', '--verbose', action='store_true')
    args = p.parse_args()
    args.ftrun, args.programs = os.path.abspath(args.ftrun), os.path.abspath(args.programs)
    args.can = '--snapshot' in subprocess.run([args.ftrun, '--help'], capture_output=True, text=True).stdout
    cases = [c for c in CASES if not args.only or name_of(c) in args.only]
    if args.most:
        cases = [c for c in cases if (c.program, c.what) in FEW][:args.most]
    if not args.can or args.snapshot == 'off':
        cases = [c for c in cases if c.back != 'snapshot']
    if not cases:
        sys.exit('no such program')
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        return 0 if all(list(pool.map(lambda c: one_case(args, c), cases))) else 1


if __name__ == '__main__':
    sys.exit(main())
