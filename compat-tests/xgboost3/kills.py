#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains with a stock wheel of XGBoost 2.1 or later (train.py): plain, under ftrun, and under ftrun with workers killed by seed. What each rank
prints, the model's hash in it, must be that of the plain run. A rank must come back from a copy: one whose program was started anew is a
failure, whatever came of it.

    kills.py --ftrun FTRUN --wheel DIRECTORY [--mode hist,dart,...] [--ranks 4] [--threads 1] [--tracker own|ftrun|both] [--runs 20] [--seed 1]
    kills.py --ftrun FTRUN --wheel DIRECTORY --full: 500 kills of one mix, 20 of each further mode

Who had a snapshot newer than its start when it was killed must come back from one. With --newer so many of those who came back, of all runs, must have gone
back to one with several threads in it. (One of before the second thread is newer than the start, too.)

A seed chooses the number of ranks and threads where several are given, whom to kill when, and how often."""

import argparse
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import ftmpitest  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3'
MODES = ['hist', 'approx', 'gblinear', 'dart', 'early', 'evals', 'sampling', 'categorical']
# Of XGBoost's own, with the time of day: which rank a worker has got.
STAMPED = re.compile(r'\[\d\d:\d\d:\d\d\] ')
KINDS = ['any', 'any', 'any', 'several', 'all', 'master', 'start', 'replay', 'replay', 'last', 'end']


def without_stamps(lines):
    return [line for line in lines if not STAMPED.match(line)]


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Case:
    def __init__(self, args, mode, ranks, threads, tracker):
        self.args, self.mode, self.ranks, self.threads, self.tracker = args, mode, ranks, threads, tracker

    def __str__(self):
        return '%s, %d workers, %d thread%s, tracker %s' % (self.mode, self.ranks, self.threads, '' if self.threads == 1 else 's', self.tracker)

    def program(self):
        return [self.args.python, os.path.join(HERE, 'train.py'), self.mode, str(self.args.rows), str(self.args.rounds), str(self.threads)]

    def options(self):
        """For ftrun."""
        return ['--xgboost-tracker'] if self.tracker == 'ftrun' else []

    def environment(self, **more):
        return dict(os.environ, PYTHONDONTWRITEBYTECODE='1', OMP_WAIT_POLICY='passive', **({'PYTHONPATH': self.args.wheel} if self.args.wheel else {}), **more)

    def plain(self):
        """Without ftrun, over the program's own tracker: what each rank prints."""
        port = str(free_port())
        where = tempfile.TemporaryDirectory(prefix='x3')
        processes = [subprocess.Popen(self.program(), stdout=subprocess.PIPE, text=True, env=self.environment(
            RANK=str(r), WORLD_SIZE=str(self.ranks), MASTER_ADDR='127.0.0.1', MASTER_PORT=port, X3_DIR=where.name)) for r in range(self.ranks)]
        try:
            outputs = [p.communicate(timeout=self.args.limit)[0].splitlines() for p in processes]
        finally:
            for p in processes:
                p.kill()
            where.cleanup()
        if any(p.returncode for p in processes):
            raise ftmpitest.Failure('plain: exit codes %s' % [p.returncode for p in processes])
        return [without_stamps(lines) for lines in outputs]


class Job:
    """One run under ftrun."""

    def __init__(self, case, where):
        self.case, self.where = case, where
        self.lines = [[] for _ in range(case.ranks)]  # of each rank
        self.killed, self.errors = 0, []
        self.early = 0  # of those killed: so many had no snapshot yet, since they had only begun to start
        self.had_threads = set()  # pids: killed, with one in which there were several threads
        self.had_newer = {}  # pid, rank: killed, with a snapshot newer than its start
        self.begun = time.monotonic()
        command = [case.args.ftrun, '-n', str(case.ranks), '-l', '-vv', '--timeout', str(case.args.limit), '--report', where + '/report',
                   *case.options(), *case.args.option, *case.program()]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=case.environment(FTMPI_RUN_DIR=where, X3_DIR=where))
        self.readers = [threading.Thread(target=self.read_output), threading.Thread(target=self.read_errors)]
        for reader in self.readers:
            reader.start()

    def read_output(self):
        for line in self.process.stdout:
            tagged = re.match(r'\[1,(\d+)\]<stdout>:(.*)', line)
            if tagged:
                self.lines[int(tagged[1])].append(tagged[2])
                self.heard(int(tagged[1]), tagged[2])

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.rstrip('\n'))
            self.heard(None, self.errors[-1])

    def heard(self, rank, line):
        """A line of a rank's, or of its stderr and of ftrun's."""

    def runs(self):
        return self.process.poll() is None

    def ranks(self):
        """Processes of the ranks; None: ftrun does not say."""
        said = self.said()
        return said and [r['pid'] for r in said]

    def said(self):
        """What ftrun says of each rank."""
        return ftmpitest.status_in(self.where).get('per_rank')

    def has_newer(self, rank):
        """A snapshot newer than its start, with several threads in it."""
        said = self.said() or []
        return rank < len(said) and (said[rank].get('snapshot') or {'threads': 0})['threads'] > 1

    def kill(self, ranks):
        """Their pids."""
        said = self.said() or []
        hit = {}
        for r in ranks:
            if r < len(said) and said[r]['pid'] and ftmpitest.kill_if(said[r]['pid'], lambda: True):
                hit[r] = said[r]['pid']
                self.early += not said[r].get('snapshot')
                if said[r].get('snapshot'):
                    self.had_newer[said[r]['pid']] = r
                    self.had_threads |= {said[r]['pid']} if said[r]['snapshot']['threads'] > 1 else set()
        self.killed += len(hit)
        return hit

    def until(self, is_so):
        while self.runs() and not is_so():
            time.sleep(0.002)

    def shows(self, rank, word, number=None):
        return any(line.startswith(word if number is None else '%s %d ' % (word, number)) for line in list(self.lines[rank]))

    def kill_again(self, hit, chance):
        """As soon as one of these is back, or a while later."""
        for rank, old in hit.items():
            self.until(lambda r=rank, o=old: (self.ranks() or [o] * (r + 1))[r] not in (0, o))
            time.sleep(chance.choice([0, chance.uniform(0, 0.05), chance.uniform(0, self.case.takes)]))
            self.kill([rank])

    def end(self):
        try:
            self.process.wait(timeout=self.case.args.limit + 30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.errors.append('ftrun did not end')
        for reader in self.readers:
            reader.join()
        self.takes = time.monotonic() - self.begun
        return self.process.returncode


def kill_by(job, chance, kind, at_most):
    """One event of a seed."""
    case = job.case
    ranks = {'several': chance.sample(range(case.ranks), chance.randrange(2, max(3, case.ranks))), 'all': list(range(case.ranks)), 'master': [0],
             }.get(kind, [chance.randrange(case.ranks)])
    watched = ranks[0]
    if kind == 'start':
        time.sleep(chance.uniform(0.02, case.starts))
    elif kind == 'end':
        job.until(lambda: job.shows(watched, 'model'))
        time.sleep(chance.uniform(0, 0.03))
    elif kind == 'newer':  # as soon as it can come back from a newer snapshot
        job.until(lambda: job.shows(watched, 'model') or job.shows(watched, 'round') and job.has_newer(watched))
    else:
        at = case.args.rounds - 1 if kind == 'last' else chance.randrange(case.args.rounds - 1)
        job.until(lambda: job.shows(watched, 'round', at) or job.shows(watched, 'model'))
        time.sleep(chance.uniform(0, case.takes_a_round))
    hit = job.kill(ranks)
    for _ in range(chance.randrange(1, 3) if kind == 'replay' and at_most > 1 else 0):
        job.kill_again(hit, chance)


def report_of(job):
    try:
        with open(job.where + '/report', encoding='ascii') as f:
            return json.load(f)
    except (OSError, ValueError):
        return {'restarts': []}


def compare(job, wanted, code):
    """What is wrong."""
    wrong = ['rank %d had a newer snapshot, and came back by way "%s"' % (job.had_newer[d['pid']], d['way_back'])
             for d in report_of(job)['restarts'] if d['pid'] in job.had_newer and d['way_back'] not in ('snapshot', None)]
    if code:
        wrong.append('exit code %d' % code)
    for r, lines in enumerate(job.lines):
        got = without_stamps(lines)
        if got != wanted[r]:
            at = next((i for i, (a, b) in enumerate(zip(got, wanted[r])) if a != b), min(len(got), len(wanted[r])))
            wrong.append('rank %d, line %d: %s, not %s' % (r, at + 1, (got + ['(end)'])[min(at, len(got))], (wanted[r] + ['(end)'])[min(at, len(wanted[r]))]))
    anew = [line for line in job.errors if 'its program is started' in line]
    wrong += anew if len(anew) > job.early else []
    wrong += [line for line in job.errors if 'Traceback' in line or 'prints something else' in line]
    return wrong


def ways(job):
    restarts = report_of(job)['restarts']
    back = [d['way_back'] for d in restarts]
    tries = sum(d['snapshots_not_followed'] for d in restarts)
    return '%d from a newer copy, %d from zero, %d tries in vain' % (back.count('snapshot'), back.count('start'), tries), back, tries


class Sums:
    def __init__(self):
        self.runs = self.kills = self.threads = self.newer = self.with_threads = self.zero = self.vain = self.wrong = 0

    def __str__(self):
        return ('%d runs, %d kills (%d of workers with more than one thread for training), %d back from a newer copy (%d with its threads), '
                '%d from zero, %d tries in vain, %d wrong') % (self.runs, self.kills, self.threads, self.newer, self.with_threads, self.zero, self.vain, self.wrong)


def keep(job, where):
    """What a wrong run has left."""
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    if os.path.exists(job.where + '/report'):
        shutil.copy(job.where + '/report', where)
    for name, lines in [('err', job.errors), *(('rank.%d' % r, lines) for r, lines in enumerate(job.lines))]:
        with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines) + '\n')


def one_run(case, wanted, seed, sums, plan=None):
    chance = random.Random('%d %s' % (seed, case))
    with tempfile.TemporaryDirectory(prefix='x3') as where:
        job = Job(case, where)
        events = plan if plan is not None else [chance.choice(KINDS) for _ in range(chance.randrange(1, case.args.events + 1))]
        order = {'start': 0, 'last': 2, 'end': 3}
        for kind in sorted(events, key=lambda k: order.get(k, 1)):
            if job.runs():
                kill_by(job, chance, kind, len(events) + 1)
        wrong = compare(job, wanted, job.end())
        text, back, tries = ways(job)
        restored = sum(d['pid'] in job.had_threads and d['way_back'] == 'snapshot' for d in report_of(job)['restarts'])
        if wrong and case.args.keep:
            keep(job, os.path.join(case.args.keep, '%s-%d' % (case.mode, seed)))
    if not wrong and job.killed > len(back):
        text += ', %d of %d kills after its end' % (job.killed - len(back), job.killed)
    sums.runs += 1
    sums.kills += job.killed
    sums.threads += job.killed if case.threads > 1 else 0
    sums.newer += back.count('snapshot')
    sums.with_threads += restored
    sums.zero += back.count('start')
    sums.vain += tries
    sums.wrong += bool(wrong)
    print('%s seed %d: %s (%s): %d kill%s, %s; %.1f s' % ('FAIL' if wrong else 'ok', seed, case, ' '.join(events) or 'undisturbed', job.killed,
                                                    '' if job.killed == 1 else 's', text, job.takes), flush=True)
    if wrong:
        print('\n'.join('    ' + w for w in wrong[:8] + job.errors[-12:]), flush=True)
    return job


def prepare(args, mode, ranks, threads, tracker, sums, known={}):
    """The case with what a plain run prints, which an undisturbed one under ftrun must print, too. None: it does not."""
    key = (mode, ranks, threads, tracker)
    if key in known:
        return known[key]
    case = Case(args, mode, ranks, threads, tracker)
    plain = known.get(key[:3]) or case.plain()
    known[key[:3]] = plain
    known[key] = (case, plain) if undisturbed(case, plain, sums) else None
    return known[key]


def undisturbed(case, plain, sums):
    """True: it prints the same. How long it takes is noted."""
    case.starts = case.takes = case.takes_a_round = 1
    before = sums.wrong
    case.takes = one_run(case, plain, 0, sums, plan=[]).takes
    case.starts = case.takes / 2
    case.takes_a_round = case.takes / 2 / case.args.rounds
    return sums.wrong == before


def choose(chance, text):
    """One of "1,2,4"."""
    return chance.choice(text.split(','))


def run_seeds(args, modes, runs, kills, sums):
    """So many runs, or as many as it takes for so many kills."""
    seed, last = args.seed, sums.kills
    while (sums.kills - last < kills) if kills else seed < args.seed + runs:
        chance = random.Random(seed)
        made = prepare(args, chance.choice(modes), int(choose(chance, args.ranks)), int(choose(chance, args.threads)),
                       choose(chance, 'own,ftrun' if args.tracker == 'both' else args.tracker), sums)
        if made:
            one_run(*made, seed, sums)
        seed += 1
        if sums.wrong > args.wrong:
            return


def add_options(parser):
    """Those of every driver that kills by these seeds."""
    parser.add_argument('--ftrun', required=True)
    parser.add_argument('--seed', type=int, default=ftmpitest.first_seed())
    parser.add_argument('--events', type=int, default=3, help='of one run, at most')
    parser.add_argument('--limit', type=int, default=60, help='seconds of one run')
    parser.add_argument('--wrong', type=int, default=0, help='go on until more than so many runs are wrong')
    parser.add_argument('--option', action='append', default=[], help='for ftrun')
    parser.add_argument('--newer', type=float, default=0, help='this part of the ways back are snapshots with several threads')
    parser.add_argument('--keep', metavar='DIRECTORY', help='what wrong runs leave goes there')


def verdict(args, sums):
    """The exit code."""
    print(sums, flush=True)
    few = sums.with_threads < args.newer * (sums.newer + sums.zero) or args.newer and not sums.with_threads
    if few:
        print('FAIL: of the ways back too few were snapshots with several threads')
    return bool(sums.wrong or few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument('--wheel', required=True, help='a directory with the package xgboost in it')
    parser.add_argument('--python', default=PYTHON)
    parser.add_argument('--mode', default='hist', help=','.join(MODES))
    parser.add_argument('--ranks', default='4', help='or several: 2,3,4,8')
    parser.add_argument('--threads', default='1', help='of each worker; or several: 1,2,4')
    parser.add_argument('--tracker', default='both', choices=['own', 'ftrun', 'both'])
    parser.add_argument('--rows', type=int, default=3000)
    parser.add_argument('--rounds', type=int, default=12)
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--full', action='store_true')
    args = parser.parse_args()
    args.ftrun, args.wheel = os.path.abspath(args.ftrun), os.path.abspath(args.wheel)
    sums = Sums()
    if args.full:
        args.ranks, args.threads, args.events = '2,3,4,8', '1,2,3,4,4', 6
        run_seeds(args, ['hist'], 0, 500, sums)
        for mode in MODES[1:]:
            run_seeds(args, [mode], 0, 20, sums)
    else:
        run_seeds(args, args.mode.split(','), args.runs, 0, sums)
    sys.exit(verdict(args, sums))


if __name__ == '__main__':
    main()
