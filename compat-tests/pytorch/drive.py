# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's DistributedDataParallel under kills: the same losses, messages and model as by hand, without ftrun.

    drive.py FTRUN [-v]

FT_SEED, FT_RUNS: the first seed, and how many. A seed decides what is killed and when: any rank, rank 0 with its store, in start-up, in a replay,
at the end."""

import collections
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3'  # Debian's, which has torch
PATIENCE = 120
RANKS = 3
CASES = ['any', 'rank 0', 'start-up', 'replay', 'end']


def program(scratch):
    os.makedirs(scratch, exist_ok=True)
    return [PYTHON, os.path.join(HERE, 'train.py'), '-o', os.path.join(scratch, 'model.pt'), '-s', '0.005']


def result(lines, scratch):
    """What is to be the same: the lines, of all ranks in any order, and the file. Its name is in the file, so that is the same, too."""
    with open(os.path.join(scratch, 'model.pt'), 'rb') as f:
        return sorted(lines), f.read()


def environment(**more):
    return dict(os.environ, OMP_NUM_THREADS='1', PYTHONUNBUFFERED='', **more)


def by_hand(scratch):
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = str(s.getsockname()[1])
    ranks = [subprocess.Popen(program(scratch), stdout=subprocess.PIPE, text=True,
                              env=environment(RANK=str(r), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(r), MASTER_ADDR='127.0.0.1', MASTER_PORT=port))
             for r in range(RANKS)]
    lines = []
    for rank in ranks:
        out, _ = rank.communicate(timeout=PATIENCE)
        assert rank.returncode == 0, rank.returncode
        lines += out.splitlines()
    return result(lines, scratch)


class Job:
    def __init__(self, ftrun, scratch):
        self.ftrun, self.scratch, self.report = ftrun, scratch, os.path.join(scratch, 'report')
        self.begin = time.monotonic()
        self.process = subprocess.Popen([ftrun, '-n', str(RANKS), '--max-restarts', '1000', '--report', self.report, *program(scratch)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.lines, self.errors = [], []
        self.readers = [threading.Thread(target=self.read, args=pair) for pair in
                        [(self.process.stdout, self.lines), (self.process.stderr, self.errors)]]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line.rstrip('\n'))

    def kill(self, rank):
        """True: it was there to be killed."""
        got = subprocess.run([self.ftrun, 'status', '--json', str(self.process.pid)], capture_output=True, text=True, timeout=PATIENCE, check=False)
        try:
            os.kill(json.loads(got.stdout)['per_rank'][rank]['pid'], 9)
        except (ValueError, KeyError, TypeError, ProcessLookupError):  # the job has ended, or the rank has
            return False
        return True

    def until(self, seconds):
        while time.monotonic() < self.begin + seconds and self.process.poll() is None:
            time.sleep(0.005)

    def until_end(self):
        while not any('token' in line for line in self.lines) and self.process.poll() is None:
            time.sleep(0.005)

    def end(self):
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            code = 'none: it hangs'
        for reader in self.readers:
            reader.join()
        if code != 0:
            raise SystemExit('FAIL: exit code %s: %s' % (code, '\n'.join(self.errors)))
        with open(self.report, encoding='utf-8') as f:
            return result(self.lines, self.scratch), json.load(f)


def kill(job, case, chance, seconds):
    """How many."""
    if case == 'start-up':
        times = [(chance.uniform(0, 0.4 * seconds), chance.randrange(RANKS)) for _ in range(2)]
    elif case == 'replay':
        first, rank = chance.uniform(0.2, 0.9) * seconds, chance.randrange(RANKS)
        times = [(first, rank), (first + chance.uniform(0.02, 0.2), rank), (first + chance.uniform(0.2, 0.5), rank)]
    elif case == 'end':
        job.until_end()
        times = [(0, chance.randrange(RANKS))]
    else:
        times = [(chance.uniform(0, seconds), 0 if case == 'rank 0' else chance.randrange(RANKS)) for _ in range(chance.randrange(1, 4))]
    killed = 0
    for when, rank in sorted(times):
        job.until(when)
        killed += job.kill(rank)
    return killed


def check(report, killed, errors):
    """Each death is of one rank, which came back by itself, and as what it was. A kill may come to a process that has left."""
    if len(report['restarts']) > killed:
        return '%d kills, and %d deaths in the report' % (killed, len(report['restarts']))
    ways = collections.Counter(r['way_back'] for r in report['restarts'])
    if set(ways) - {'start', 'snapshot', None}:
        return 'ways back: %s' % dict(ways)
    if any('another way' in line for line in errors):
        return 'it was started by exec'
    return None


def main():
    ftrun, verbose = sys.argv[1], '-v' in sys.argv[2:]
    first, runs = int(os.environ.get('FT_SEED', '1')), int(os.environ.get('FT_RUNS', '5'))
    scratch = tempfile.mkdtemp(prefix='pytorch-')
    total, tries, cases = 0, 0, collections.Counter()
    try:
        expected = by_hand(os.path.join(scratch, 'hand'))
        job = Job(ftrun, os.path.join(scratch, 'calm'))
        calm, report = job.end()
        seconds = report['wall_seconds']
        if calm != expected:
            raise SystemExit('FAIL: undisturbed, not as by hand: %s, %s' % (expected[0], calm[0]))
        if report['restarts'] or job.errors:
            raise SystemExit('FAIL: undisturbed: %s' % job.errors)
        for seed in range(first, first + runs):
            case, chance, where = CASES[seed % len(CASES)], random.Random(seed), os.path.join(scratch, 'seed%d' % seed)
            os.mkdir(where)
            job = Job(ftrun, where)
            killed = kill(job, case, chance, seconds)
            try:
                wild, report = job.end()
                wrong = check(report, killed, job.errors)
            except SystemExit as e:
                wrong = str(e)
            if wrong or wild != expected:
                raise SystemExit('FAIL: seed %d (%s, %d kills): %s\n%s' % (seed, case, killed, wrong or 'another result: %s' % wild[0], '\n'.join(job.errors)))
            if verbose:
                print('seed %d (%s): %d kills' % (seed, case, killed), flush=True)
            total += len(report['restarts'])
            tries += sum(r['snapshots_not_followed'] for r in report['restarts'])
            cases[case] += len(report['restarts'])
            shutil.rmtree(where)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not total:
        raise SystemExit('FAIL: nothing was killed')
    print('%d runs, %d kills (%s), %d tries of a replay in vain, none wrong' % (runs, total, ', '.join('%s %d' % c for c in cases.items()), tries))


main()
