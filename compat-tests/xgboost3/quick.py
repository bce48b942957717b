#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains with XGBoost 2.1 or later under ftrun twice, undisturbed and with workers killed on the way, shows it, and compares the models.
Who is killed has a snapshot newer than its start by then, and must come back from it.
quick.py --ftrun FTRUN --python PYTHON [--kill RANK@ROUND]... Exit code: 0 if all is as promised."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kills  # noqa: E402


class Shown(kills.Job):
    dead_since = back_after = None

    def heard(self, rank, line):
        if self.dead_since and rank in self.dead_since and line.startswith(('round', 'model')):
            self.back_after.append(time.monotonic() - self.dead_since.pop(rank))
        if rank == 0 or rank is None and not line.startswith('[1,') and (', host ' in line or 'could not be followed' in line):
            print('  %6.1f s  %s' % (time.monotonic() - self.begun, line), flush=True)


def train(case, name, plan):
    """The job, with its report in `told`."""
    threads = '%d thread%s' % (case.threads, '' if case.threads == 1 else 's') if case.threads else 'as many threads as XGBoost takes (nthread is not set)'
    print('%s: %d workers, each with %s' % (name, case.ranks, threads), flush=True)
    with tempfile.TemporaryDirectory(prefix='x3') as where:
        job = Shown(case, where)
        job.dead_since, job.back_after = {}, []
        for rank, at in plan:
            job.until(lambda r=rank, a=at: job.shows(r, 'round', a))
            job.until(lambda r=rank: job.shows(r, 'model') or job.has_newer(r))
            for r, pid in job.kill([rank]).items():
                job.dead_since[r] = time.monotonic()
                print('  %6.1f s  -- SIGKILL to rank %d (pid %d) after round %d' % (time.monotonic() - job.begun, r, pid, at), flush=True)
        job.code = job.end()
        try:
            with open(where + '/report', encoding='ascii') as f:
                job.told = json.load(f)
            if case.args.keep and plan:
                shutil.copy(where + '/report', case.args.keep + '.json')
        except (OSError, ValueError):
            job.told = {'restarts': []}
    job.name = name
    job.models = [[line.split()[1] for line in lines if line.startswith('model ')] for lines in job.lines]
    return job


def newer(job):
    """So many of the killed went on from a snapshot that was made after their start, with several threads in it."""
    return sum(d['way_back'] == 'snapshot' and d['pid'] in job.had_threads for d in job.told['restarts'])


def table(jobs):
    print('\nrun          wall time  kills  back from a newer snapshot  until the killed one had done another round')
    for job in jobs:
        times = ' + '.join('%.1f s' % s for s in job.back_after) or '-'
        print('%-11s  %7.1f s  %5d  %26s  %s' % (job.name, job.takes, job.killed, newer(job) if job.killed else '-', times))
    print('\nSHA-256 of the model')
    for job in jobs:
        for rank, model in enumerate(job.models):
            print('  %-11s  rank %d  %s' % (job.name, rank, ' and '.join(model) or 'none'))
    print(flush=True)


def verdict(first, second, plan):
    wrong = ['%s: ftrun ended with code %d: %s' % (job.name, job.code, ' | '.join(job.errors[-3:])) for job in (first, second) if job.code]
    if wrong:
        return wrong
    if second.killed != len(plan) or len(second.told['restarts']) != len(plan):
        wrong.append('%d of %d kills, %d restarts' % (second.killed, len(plan), len(second.told['restarts'])))
    if newer(second) != len(second.told['restarts']):
        wrong.append('%d of %d came back from a newer snapshot' % (newer(second), len(second.told['restarts'])))
    if len({tuple(m) for job in (first, second) for m in job.models}) != 1 or len(first.models[0]) != 1:
        wrong.append('the models differ')
    return wrong + kills.compare(second, [kills.without_stamps(lines) for lines in first.lines], 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ftrun', required=True)
    parser.add_argument('--python', default=kills.PYTHON, help='one that has XGBoost 2.1 or later')
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--threads', type=int, default=0, help='of each worker; 0: nthread is not set')
    parser.add_argument('--rows', type=int, default=20000, help='of each worker')
    parser.add_argument('--rounds', type=int, default=20)
    parser.add_argument('--limit', type=int, default=300)
    parser.add_argument('--kill', action='append', default=[], metavar='RANK@ROUND')
    parser.add_argument('--keep', metavar='NAME', help='NAME.json and NAME.svg: report and picture of the second run')
    parser.add_argument('--option', action='append', default=[], help='for ftrun, in the second run')
    args = parser.parse_args()
    args.wheel, args.ftrun, options = None, os.path.abspath(args.ftrun), args.option
    plan = [tuple(int(n) for n in k.split('@')) for k in args.kill]
    case = kills.Case(args, 'hist', args.ranks, args.threads, 'own')
    args.option = []
    first = train(case, 'undisturbed', [])
    args.option = options + (['--timeline', args.keep + '.svg'] if args.keep else [])
    second = train(case, '%d kill%s' % (len(plan), '' if len(plan) == 1 else 's'), plan)
    table([first, second])
    if args.keep:
        print('What happened in the run with kills: %s.json (a report), %s.svg (a picture)\n' % (args.keep, args.keep), flush=True)
    wrong = verdict(first, second, plan)
    for why in wrong:
        print('FAILED: %s' % why)
    if not wrong:
        print('The model is the same on every rank of both runs: killing %d times changed nothing. Each time the worker went on from a snapshot of it '
              'that was newer than its start, with all its threads.' % len(plan))
    sys.exit(bool(wrong))


if __name__ == '__main__':
    main()
