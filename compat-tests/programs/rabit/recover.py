#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rabit's recovery scenarios: ranks of `recover` die where the lists say, and the output is byte for byte that of a run in which none
does. What each list must cost in restarts is worked out beforehand: a death that did not come is a failure, too.

    recover.py --ftrun FTRUN --program PROGRAM [--tier quick|full|all] [--only NAME]"""

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time

# rank, version, operation since the checkpoint, lives before this one; the first four are upstream's (4,1,3,0 and 0,1,1,0 are there,
# too, but never come: those ranks have died before).
BASE = ['0,0,1,0', '1,1,1,0']
DIE_SAME = BASE + ['0,1,1,0', '4,1,1,0', '9,1,1,0']
DIE_HARD = DIE_SAME + ['1,1,1,1', '8,1,2,0', '4,1,3,0']
XGBOOST = ['0,10,1,0', '1,11,1,0', '1,11,1,1', '0,11,1,0', '4,11,1,0', '9,11,1,0', '8,11,2,0', '4,11,3,0']
LISTS = {
    'base': (BASE, 3),
    'die_same': (DIE_SAME, 3),
    'die_hard': (DIE_HARD, 3),
    'xgboost': (XGBOOST, 13),
    # Where upstream's list means them to die, in the lives that come there; and at the first operation, which upstream's never do.
    'all_die': (['0,0,1,0', '1,1,1,0', '0,1,1,1', '4,1,1,0', '9,1,1,0', '1,1,1,1', '8,1,2,0', '4,1,3,1'], 3),
    'first': (['0,0,0,0', '0,1,0,1', '1,1,0,0', '1,1,0,1', '9,2,0,0', '4,2,0,0', '0,2,0,2'], 3),
}
MODELS = ['global', 'local', 'lazy', 'none']
BOOTS = ['before', 'keys', 'site']
LOAD, BOOTSTRAP = -4, (-1, -2, -3)


class Failure(Exception):
    pass


def operations(ranks):
    """In one round: maximum, two for every broadcast, sum, checkpoint."""
    return 3 + 2 * len(range(0, ranks, max(ranks // 3, 1)))


def life(case, start):
    """Where a life that loads version `start` passes: (version, seq)."""
    if case.boot == 'before':
        yield from ((0, s) for s in BOOTSTRAP)
    if case.model != 'none':
        yield (0, LOAD)
    for version in range(start, case.rounds):
        if version == start and case.boot in ('site', 'keys'):
            yield from ((version, s) for s in BOOTSTRAP)
        yield from ((version, s) for s in range(operations(case.ranks)))


def deaths(case):
    """For each rank, how its lives end and the next one begins: 'start', or 'checkpoint' if there is one to be loaded. Call sites tell what is
    done only once when a whole version has gone by: the first one is not loaded."""
    mocks = {tuple(int(x) for x in m.split(',')) for m in case.mocks}
    ways = []
    for rank in range(case.ranks):
        mine, start = [], 0
        while True:
            at = next(((v, s) for v, s in life(case, start) if (rank, v, s, len(mine)) in mocks), None)
            if at is None:
                break
            if case.model != 'none' and (at[0] > 1 or case.boot != 'site'):
                start = max(start, at[0])
            mine.append('checkpoint' if start else 'start')
        ways.append(mine)
    return ways


def are_ways(case, came, want):
    """A snapshot, if there may be one, goes before both; a checkpoint that is made lazily
    keeps nothing if it comes soon after the last one."""
    for is_way, want_way in zip(came, want):
        good = {want_way}
        if case.snapshot != 'off':
            good.add('snapshot')
        if case.model == 'lazy' and not case.pause:
            good.add('start')
        if is_way not in good:
            return False
    return len(came) == len(want)


class Case:
    def __init__(self, name, mocks, model='global', boot='before', snapshot='off', ranks=10, floats=10000, rounds=3, pause=0):
        self.name, self.mocks, self.model, self.boot, self.snapshot = name, mocks, model, boot, snapshot
        self.ranks, self.floats, self.rounds, self.pause = ranks, floats, rounds, pause

    def program(self):
        return ['model=' + self.model, 'boot=' + self.boot, 'floats=%d' % self.floats, 'rounds=%d' % self.rounds, 'pause=%d' % self.pause]

    def __str__(self):
        return '%s (%d ranks, model %s, bootstrap %s, snapshots %s)' % (self.name, self.ranks, self.model, self.boot, self.snapshot)


class Runner:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.calm = {}
        self.runs = self.died = 0

    def ftrun(self, case, mocks):
        """Standard output's lines by rank, for each rank how it came back each time, and the command."""
        report = os.path.join(self.scratch, 'report.json')
        command = [self.args.ftrun, '-n', str(case.ranks), '--max-restarts', '10000', '--snapshot', case.snapshot, '--report', report]
        if case.boot == 'site':
            command.append('--bootstrap-cache')
        command += [self.args.program] + case.program() + ['mock=' + m for m in mocks]
        self.runs += 1
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self.args.timeout, check=False)
        except subprocess.TimeoutExpired as e:
            raise Failure('still running after %g s: %s\n%s' % (self.args.timeout, shlex.join(command), tail(e.stderr))) from None
        if done.returncode != 0:
            raise Failure('exit code %d: %s\n%s' % (done.returncode, shlex.join(command), tail(done.stderr)))
        with open(report) as f:
            restarts = json.load(f)['restarts']
        for line in done.stderr.decode().splitlines():
            if not any(word in line for word in ('restarted', 'goes on', 'is back where it was', ' survived: ')):
                raise Failure('says: %s\n%s' % (line, shlex.join(command)))
        lines = sorted(done.stdout.split(b'\n'), key=lambda l: l.split(b' ', 1)[0])
        ways = [[r['way_back'] for r in restarts if r['rank'] == rank] for rank in range(case.ranks)]
        return lines, ways, shlex.join(command)

    def undisturbed(self, case):
        """The same for every way to do the bootstrap operations."""
        key = (case.model, case.ranks, case.floats, case.rounds)
        if key not in self.calm:
            self.calm[key] = self.ftrun(case, [])[0]
        return self.calm[key]

    def run(self, case):
        calm = self.undisturbed(case)
        lines, ways, command = self.ftrun(case, case.mocks)
        want = deaths(case)
        if not all(are_ways(case, came, w) for came, w in zip(ways, want)):
            raise Failure('ranks came back by %s, not by %s: %s' % (ways, want, command))
        if not any(want):
            raise Failure('nobody dies')
        if lines != calm:
            for a, b in zip(calm + [b''], lines + [b'']):
                if a != b:
                    raise Failure('undisturbed: %s\n  with deaths: %s\n  %s' % (a.decode(), b.decode(), command))
        self.died += sum(len(w) for w in want)


def tail(text):
    return (text or b'').decode(errors='replace')[-2000:]


def positions(case):
    return list(life(case, 0))


def chain(case, first):
    """Deaths at every position of an undisturbed run, by one rank after the other."""
    lives = [0] * case.ranks
    mocks = []
    for i, (v, s) in enumerate(positions(case)):
        rank = (first + i) % case.ranks
        if v == 0 and s < 0:
            continue  # each life passes there: the lists below
        mocks.append('%d,%d,%d,%d' % (rank, v, s, lives[rank]))
        lives[rank] += 1
    return mocks


def sweeps(tier):
    """Every (version, operation), the first ones too; few floats, so that there is time for all of it."""
    small = {'ranks': 4, 'floats': 200}
    for m, model in enumerate(MODELS):
        for b, boot in enumerate(BOOTS):
            for first in {'quick': (), 'full': (m + b,), 'all': range(4)}[tier]:
                case = Case('sweep from rank %d' % (first % 4), [], model, boot, 'off', **small)
                case.mocks = chain(case, first)
                yield case
    # One death only, and the same rank twice at one place. Each position comes with each model and way to do bootstrap operations in turn.
    for i in range(len(positions(Case('', [], MODELS[0], 'before', **small)))):
        turns = [(model, boot) for model in MODELS for boot in BOOTS]
        for model, boot in turns if tier == 'all' else [turns[i % len(turns)]] if tier == 'full' or i % 12 == 0 else []:
            case = Case('', [], model, boot, **small)
            v, s = positions(case)[min(i, len(positions(case)) - 1)]
            rank = i % 4
            yield Case('death at %d,%d' % (v, s), ['%d,%d,%d,0' % (rank, v, s)], model, boot, **small)
            yield Case('two deaths at %d,%d' % (v, s), ['%d,%d,%d,%d' % (rank, v, s, t) for t in (0, 1)], model, boot, **small)


def twos(seeds):
    """Two ranks, or three, at the same place."""
    for seed in seeds:
        rng = random.Random(seed)
        model, boot = rng.choice(MODELS), rng.choice(BOOTS)
        case = Case('seed %d' % seed, [], model, boot, rng.choice(['off', 'auto']), ranks=4, floats=200)
        v, s = rng.choice(positions(case))
        case.mocks = ['%d,%d,%d,0' % (r, v, s) for r in rng.sample(range(4), rng.choice([2, 2, 3]))]
        yield case


def scenarios(tier):
    cases = []
    for name, (mocks, rounds) in LISTS.items():
        for model in MODELS:
            for boot in BOOTS:
                for snapshot in ('off', 'auto'):
                    cases.append(Case(name, mocks, model, boot, snapshot, rounds=rounds))
    return cases[::{'quick': 11, 'full': 3, 'all': 1}[tier]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ftrun', required=True)
    p.add_argument('--program', required=True)
    p.add_argument('--tier', choices=['quick', 'full', 'all'], default='full')
    p.add_argument('--only', default='', help='cases whose description has this in it')
    p.add_argument('--seeds', type=int, default=0, help='so many of two deaths at once')
    p.add_argument('--timeout', type=float, default=120, help='seconds after which a job is called hung')
    p.add_argument('--models', default=','.join(MODELS))
    p.add_argument('--boots', default=','.join(BOOTS), help='where bootstrap operations are: before the load, or after it, by key or by call site')
    args = p.parse_args()
    MODELS[:], BOOTS[:] = args.models.split(','), args.boots.split(',')
    begin = time.monotonic()
    failed = passed = 0
    # Named for what it is upstream: 4 ranks, bootstrap cache on, a death before the first operation of a version: a hang for ever.
    cases = [Case('upstream hangs at 1,1,0,0', ['1,1,0,0', '1,2,0,1'], MODELS[0], boot, ranks=4) for boot in BOOTS]
    if 'lazy' in MODELS:  # a second after the last one it is kept
        cases.append(Case('lazy, and kept', ['1,2,4,0', '2,3,0,0', '1,3,0,1', '0,3,8,0'], 'lazy', ranks=3, floats=500, rounds=4, pause=600))
    cases += scenarios(args.tier)
    cases += sweeps(args.tier)
    cases += twos(range(1, 1 + (args.seeds or {'quick': 4, 'full': 20, 'all': 200}[args.tier])))
    cases = [c for c in cases if args.only in str(c)]
    with tempfile.TemporaryDirectory(prefix='recover-') as scratch:
        runner = Runner(args, scratch)
        for case in cases:
            try:
                runner.run(case)
                passed += 1
            except Failure as e:
                print('FAILED: %s: %s' % (case, e), flush=True)
                failed += 1
                if failed == 5:
                    break
    print('%d of %d cases, %d runs, %d deaths; %.1f s' % (passed, len(cases), runner.runs, runner.died, time.monotonic() - begin))
    return 1 if failed or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
