# SPDX-License-Identifier: BSD-3-Clause
"""Trains with LightGBM's stock wheel (train.py): plain, undisturbed under ftrun, and under ftrun with ranks killed by seed. What is printed and
each rank's model must be those of the plain run. (With --form mpi the plain run is the undisturbed one.) A rank must come back from a
copy: one whose program was started anew is a failure, whatever came of it, but if it had only begun to start.

    drive.py FTRUN SITE[:SITE] --form sockets|mpi [--runs 20] [--seed 1] [--ranks 4] [--threads 1] [--rounds N] [--rows N] [--params JSON] [--plain N]

--plain N: instead, so many runs of each kind without kills, and their medians of what training took."""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'lib'))
import ftmpitest  # noqa: E402

PYTHON = '/usr/bin/python3'
LIMIT = 90
TOOK = re.compile(r'trained in ([\d.]+) s')


def free_ports(n):
    """So many in a row that nobody has, and no connection of before either: LightGBM takes none of those."""
    while True:
        sockets = [socket.socket() for _ in range(n)]
        try:
            sockets[0].bind(('127.0.0.1', 0))
            first = sockets[0].getsockname()[1]
            for i, s in enumerate(sockets[1:]):
                s.bind(('127.0.0.1', first + i + 1))
            return first
        except (OSError, OverflowError):
            pass
        finally:
            for s in sockets:
                s.close()


class Run:
    def __init__(self, args, where):
        self.args, self.where, self.killed = args, where, 0
        self.early = 0  # of those killed: so many had no snapshot yet but that of their start, if they had that
        self.program = [PYTHON, os.path.join(HERE, 'train.py'), args.form, '--rounds', str(args.rounds), '--rows', str(args.rows), '--columns',
                        str(args.columns), '--threads', str(args.threads), '--params', args.params, '--out', where]
        self.env = dict(os.environ, PYTHONPATH=args.site, PYTHONDONTWRITEBYTECODE='1', OPENBLAS_NUM_THREADS='1', OMP_WAIT_POLICY='passive',
                        MASTER_PORT=str(free_ports(args.ranks)), FTMPI_RUN_DIR=where)
        self.begun = time.monotonic()

    def plain(self):
        files = [open(os.path.join(self.where, 'plain.%d' % r), 'w+', encoding='ascii') for r in range(self.args.ranks)]
        processes = [subprocess.Popen(self.program, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT,
                                      env=dict(self.env, RANK=str(r), WORLD_SIZE=str(self.args.ranks))) for r, f in enumerate(files)]
        try:
            codes = [p.wait(timeout=LIMIT) for p in processes]
        finally:
            for p in processes:
                p.kill()
        text = ''
        for f in files:
            f.seek(0)
            text += f.read()
            f.close()
        self.took = TOOK.findall(text)
        if any(codes):
            raise ftmpitest.Failure('plain: exit codes %s\n%s' % (codes, text))
        return self.result(text)

    def result(self, text):
        """Of the program's own lines: LightGBM's say who could connect when, and its threads write into each other's."""
        models = []
        for r in range(self.args.ranks):
            with open(os.path.join(self.where, 'model.%d' % r), 'rb') as f:
                models.append(f.read())
        return sorted(line for line in text.splitlines() if line.startswith(('round ', 'rank '))), models

    def ftrun(self, events):
        """events: when, and whom."""
        names = [os.path.join(self.where, name) for name in ('out', 'err')]
        with open(names[0], 'w', encoding='ascii') as out, open(names[1], 'w', encoding='ascii') as err:
            job = subprocess.Popen([self.args.ftrun, '-n', str(self.args.ranks), '-vv', '--timeout', str(LIMIT), '--report', self.where + '/report',
                                    *self.args.option, *self.program], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.env)
            try:
                for when, ranks, again in events:
                    while job.poll() is None and time.monotonic() < self.begun + when:
                        time.sleep(0.002)
                    killed, early = ftmpitest.kill_ranks(job, self.where, ranks, again)
                    self.killed += killed
                    self.early += early
                self.code = job.wait(timeout=LIMIT + 20)
            finally:
                job.kill()
        self.lasted = time.monotonic() - self.begun
        self.out, self.err = (open(name, encoding='ascii', errors='replace').read() for name in names)
        self.took = TOOK.findall(self.err)
        try:
            with open(self.where + '/report', encoding='ascii') as f:
                self.restarts = json.load(f)['restarts']
        except (OSError, ValueError, KeyError):
            self.restarts = []
        if self.code:
            return None
        return self.result(self.out)


def differences(run, result, wanted):
    wrong = []
    if run.code:
        wrong.append('exit code %d' % run.code)
    elif result[0] != wanted[0]:
        wrong += ['printed: %s' % line for line in sorted(set(result[0]) ^ set(wanted[0]))[:6]]
    elif result[1] != wanted[1]:
        wrong.append('the model of rank %s is another one' % [r for r, (a, b) in enumerate(zip(result[1], wanted[1])) if a != b])
    lines = run.err.splitlines()
    anew = [line for line in lines if 'its program is started' in line]
    wrong += anew if len(anew) > run.early else []
    wrong += [line for line in lines if 'prints something else' in line or 'all ranks' in line]
    return wrong


def measure(args):
    kinds = {'ftrun': lambda run: run.ftrun([])}
    if args.form == 'sockets':
        kinds['plain'] = Run.plain
    took = {kind: [] for kind in kinds}
    for _ in range(args.plain):
        for kind, go in kinds.items():
            with tempfile.TemporaryDirectory(prefix='lgb') as where:
                run = Run(args, where)
                go(run)
                took[kind].append(float(run.took[0]))
    for kind, times in took.items():
        print('%s, %s: %.3f s (%s)' % (args.form, kind, statistics.median(times), ' '.join('%.3f' % t for t in sorted(times))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('ftrun')
    parser.add_argument('site')
    parser.add_argument('--form', default='sockets', choices=['sockets', 'mpi'])
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--seed', type=int, default=ftmpitest.first_seed())
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--rows', type=int, default=2000)
    parser.add_argument('--columns', type=int, default=12)
    parser.add_argument('--params', default='{}')
    parser.add_argument('--option', action='append', default=[], help='for ftrun')
    parser.add_argument('--plain', type=int, default=0)
    parser.add_argument('-v', '--verbose', action='store_true')
    parser.add_argument('--wrong', type=int, default=0, help='go on until more than so many runs are wrong')
    args = parser.parse_args()
    args.ftrun, args.site = os.path.abspath(args.ftrun), ':'.join(os.path.abspath(d) for d in args.site.split(':'))
    if args.plain:
        measure(args)
        return
    wanted, lasted = None, 1
    sums = {'runs': 0, 'kills': 0, 'snapshot': 0, 'start': 0, 'vain': 0, 'wrong': 0}
    if args.form == 'sockets':
        with tempfile.TemporaryDirectory(prefix='lgb') as where:
            wanted = Run(args, where).plain()
    for seed in [None, *range(args.seed, args.seed + args.runs)]:
        with tempfile.TemporaryDirectory(prefix='lgb') as where:
            run = Run(args, where)
            result = run.ftrun([] if seed is None else ftmpitest.kills_of(seed, args.ranks, lasted))
            if seed is None:
                lasted, wanted = run.lasted, wanted or result
            wrong = differences(run, result, wanted) if wanted else ['exit code %d' % run.code]
            back = [d['way_back'] for d in run.restarts]
            sums['runs'] += 1
            sums['kills'] += run.killed
            sums['snapshot'] += back.count('snapshot')
            sums['start'] += back.count('start')
            sums['vain'] += sum(d['snapshots_not_followed'] for d in run.restarts)
            sums['wrong'] += bool(wrong)
            print('%s %s: %d kills, back: %s, %.1f s' % ('FAIL' if wrong else 'ok', 'undisturbed' if seed is None else 'seed %d' % seed, run.killed,
                                                       ' '.join(back) or '-', run.lasted), flush=True)
            if wrong or args.verbose:
                print('\n'.join('    ' + w for w in wrong[:8] + [line for line in run.err.splitlines() if '[LightGBM]' not in line][-14:]), flush=True)
            if sums['wrong'] > args.wrong or wanted is None:
                break
    print('%(runs)d runs, %(kills)d kills: %(snapshot)d back from a newer copy, %(start)d from zero, %(vain)d tries in vain, %(wrong)d wrong' % sums)
    sys.exit(bool(sums['wrong']))


if __name__ == '__main__':
    main()
