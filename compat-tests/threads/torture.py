#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs torture and torture_cpp by seeds: plain, under ftrun with snapshots made all the time, and so with ranks killed. Each rank's lines must be
those of the plain run, byte for byte.

    torture.py --ftrun FTRUN --programs DIRECTORY [--seed 1] [--runs 10] [--ranks 1,2,3] [--program torture,torture_cpp] [--scene NAME] [--newer 0.5]

A seed chooses the program, how many ranks, what their threads do, and whom to kill when: at any time, again as soon as the rank is back, several
times in a row. What it prints at the end says which ways back there were. With --newer this part of them must be snapshots newer than zero."""

import argparse
import collections
import json
import os
import random
import shlex
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import ftmpitest  # noqa: E402

# What ftrun says of a replay that was not right. The first one is followed by another try.
WRONG = ['prints something else', 'differs from before', 'is not the same']
ANEW = 'its program is started'
# What a child has inherited, which it could have used: said, and another way is taken (docs/outcomes.md).
SHARED = 'could not be followed: it was killed in a call on eventfd'


class Case:
    def __init__(self, args, seed):
        self.args, self.seed, self.chance = args, seed, random.Random(seed)
        self.name = self.chance.choice(args.program.split(','))
        self.ranks = int(self.chance.choice(args.ranks.split(',')))

    def __str__(self):
        return '%s, %d rank%s' % (self.name, self.ranks, '' if self.ranks == 1 else 's')

    def program(self):
        return [os.path.join(self.args.programs, self.name), *(['-s', self.args.scene] if self.args.scene else []),
                *(['-n', str(self.args.scenes)] if self.args.scenes else []), str(self.seed)]

    def plain(self):
        """What each rank prints, without ftrun."""
        processes = [subprocess.Popen(self.program(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=dict(os.environ, FTMPI_RANK=str(r)))
                     for r in range(self.ranks)]
        lines = {}
        for r, p in enumerate(processes):
            try:
                out = p.communicate(timeout=self.args.limit)[0]
            except subprocess.TimeoutExpired:
                p.kill()
                raise ftmpitest.Failure('plain: rank %d hangs' % r) from None
            if p.returncode:
                raise ftmpitest.Failure('plain: rank %d: exit code %d, %s' % (r, p.returncode, out.splitlines()[-1:]))
            lines[r] = out.splitlines()
        return lines


class Job:
    """One run under ftrun."""

    def __init__(self, case, where):
        self.case, self.where = case, where
        self.killed = 0
        self.begun = time.monotonic()
        with open(where + '/out', 'wb') as out, open(where + '/err', 'wb') as err:
            self.process = subprocess.Popen(
                [case.args.ftrun, '-n', str(case.ranks), '--snapshot', str(case.args.every), '--start-over', 'always', '--max-restarts', '1000',
                 '--timeout', str(case.args.limit), '--grace', '1', '-vv', '--report', where + '/report', *shlex.split(case.args.ftrun_args), *case.program()],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=dict(os.environ, FTMPI_RUN_DIR=where))

    def runs(self):
        return self.process.poll() is None

    def pid_of(self, rank):
        """0: it has none now."""
        try:
            name = next(n for n in os.listdir(self.where) if n.endswith('.sock'))
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(5)
                s.connect(os.path.join(self.where, name))
                s.sendall(b'{"request": "status"}\n')
                return json.loads(s.makefile().readline())['per_rank'][rank]['pid'] or 0
        except (OSError, StopIteration, ValueError, KeyError):
            return 0

    def kill(self, rank):
        """The process that was killed. 0: none."""
        pid = self.pid_of(rank)
        hit = pid and ftmpitest.kill_if(pid, lambda: True)
        self.killed += bool(hit)
        return pid if hit else 0

    def until(self, seconds):
        while self.runs() and time.monotonic() < self.begun + seconds:
            time.sleep(0.001)

    def until_back(self, rank, old):
        while self.runs() and self.pid_of(rank) in (0, old):
            pass

    def end(self):
        try:
            self.process.wait(timeout=self.case.args.limit + 20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise ftmpitest.Failure('ftrun does not end') from None
        self.takes = time.monotonic() - self.begun

    def errors(self):
        return ftmpitest.slurp(self.where + '/err', 1 << 20).splitlines()

    def check(self, wanted):
        code = self.process.returncode
        with open(self.where + '/out', 'rb') as f:
            got = ftmpitest.by_rank(f.read())
        if code:
            last = next((line for lines in got.values() for line in lines if b' wrong: ' in line), b'')
            raise ftmpitest.Failure('exit code %d %s' % (code, last.decode()))
        ftmpitest.compare(wanted, got)
        for line in self.errors():
            if any(word in line for word in WRONG):
                raise ftmpitest.Failure(line)

    def report(self):
        with open(self.where + '/report', encoding='ascii') as f:
            return json.load(f)


def kill_ranks(job, seconds):
    chance = job.case.chance
    for at in sorted(chance.uniform(0, seconds) for _ in range(chance.randrange(1, job.case.args.kills + 1))):
        job.until(at)
        rank = chance.randrange(job.case.ranks)
        hit = job.kill(rank)
        for _ in range(chance.choice([0, 0, 1, 2])):
            if not hit:
                break
            job.until_back(rank, hit)
            time.sleep(chance.choice([0, chance.uniform(0, 0.003), chance.uniform(0, 0.03)]))
            hit = job.kill(rank)


def ways_of(job, sums):
    report = job.report()
    back = collections.Counter(r['way_back'] for r in report['restarts'])
    anew = sum(ANEW in line for line in job.errors())
    ways = {'newer': back['snapshot'], 'zero': back['start'] - anew, 'exec': anew,
            'taken': sum((r['snapshots'] or {'taken': 0})['taken'] for r in report['per_rank']),
            'vain': sum(r['snapshots_not_followed'] for r in report['restarts'])}
    sums.update(ways)
    return ', '.join('%s %d' % way for way in ways.items())


def one_seed(args, seed, sums):
    case = Case(args, seed)
    wanted = case.plain()
    with tempfile.TemporaryDirectory(prefix='torture', dir=args.directory) as where:
        for step in ['undisturbed', 'killed']:
            os.mkdir(os.path.join(where, step), 0o700)
            job = Job(case, os.path.join(where, step))
            try:
                if step == 'killed':
                    kill_ranks(job, seconds)
            finally:
                job.end()
            seconds = job.takes
            try:
                job.check(wanted)
            except ftmpitest.Failure as e:
                raise ftmpitest.Failure('%s, %s: %s\n    %s' % (case, step, e, '\n    '.join(job.errors()[-12:]))) from None
            text = ways_of(job, sums)
            if not text.endswith('vain %d' % sum(SHARED in line for line in job.errors())):
                raise ftmpitest.Failure('%s, %s: replays in vain\n    %s' % (case, step, '\n    '.join(job.errors()[-12:])))
        sums['killed'] += job.killed
        if args.verbose:
            print('seed %d: %s, %d kills: %s; %.1f s' % (seed, case, job.killed, text, job.takes), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ftrun', required=True)
    parser.add_argument('--programs', required=True, help='where torture and torture_cpp are')
    parser.add_argument('--seed', type=int, default=ftmpitest.first_seed())
    parser.add_argument('--runs', type=int, default=10)
    parser.add_argument('--program', default='torture,torture,torture,torture_cpp')
    parser.add_argument('--ranks', default='1,1,2,3')
    parser.add_argument('--scene', help='nothing but this (torture -l)')
    parser.add_argument('--scenes', type=int, help='of each party')
    parser.add_argument('--kills', type=int, default=4, help='events of a run, at most')
    parser.add_argument('--every', type=float, default=0.005, help='seconds between snapshots')
    parser.add_argument('--limit', type=int, default=60, help='seconds of one run')
    parser.add_argument('--newer', type=float, default=0, help='this part of the ways back are newer snapshots')
    parser.add_argument('--ftrun-args', default='')
    parser.add_argument('--wrong', type=int, default=1, help='end when so many seeds are wrong')
    parser.add_argument('--directory', help='for what runs leave behind for a moment')
    parser.add_argument('-v', '--verbose', action='store_true')
    args = parser.parse_args()
    args.ftrun, args.programs = os.path.abspath(args.ftrun), os.path.abspath(args.programs)
    sums, wrong, begun = collections.Counter(), 0, time.monotonic()
    for seed in range(args.seed, args.seed + args.runs):
        try:
            one_seed(args, seed, sums)
        except ftmpitest.Failure as e:
            wrong += 1
            again = [a for a in sys.argv[1:] if not a.startswith(('--seed=', '--runs='))]
            print('FAIL: seed %d: %s\n    again: torture.py %s --seed=%d --runs=1' % (seed, e, shlex.join(again), seed), flush=True)
            if wrong >= args.wrong:
                break
    back = sums['newer'] + sums['zero'] + sums['exec']
    print('%d kills; ways back: %d newer snapshots, %d zero, %d by exec; %d replays in vain; %d snapshots taken; %d wrong; %.0f s' % (
        sums['killed'], sums['newer'], sums['zero'], sums['exec'], sums['vain'], sums['taken'], wrong, time.monotonic() - begun))
    if not back:
        print('FAIL: nobody came back')
    if sums['newer'] < args.newer * back:
        print('FAIL: too few ways back were newer snapshots')
    sys.exit(bool(wrong or not back or sums['newer'] < args.newer * back))


if __name__ == '__main__':
    main()
