# SPDX-License-Identifier: BSD-3-Clause
"""A program that nobody here wrote, built for Open MPI: under mpirun, under ftrun, and under ftrun with ranks killed by seed. What it prints,
line by line in any order, and the files that it writes must be the same each time.

    killed.py --ftrun FTRUN [--mpirun MPIRUN] [--ranks 4] [--runs 20] [--seed 1] [--input FILE]... [--file PATTERN]... [--blank REGEX]
              [--option WORD]... -- PROGRAM ARGUMENT...

Each run has a directory of its own, which has copies of the inputs. --file: which files are compared; --blank: what of a line is not, as times are.
{rank} in an argument is the rank. Without --mpirun the undisturbed run under ftrun is what the others are held against."""

import argparse
import collections
import json
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import ftmpitest  # noqa: E402

MPIRUN = ['--allow-run-as-root', '--oversubscribe', '--mca', 'mpi_yield_when_idle', '1']


class Run:
    def __init__(self, args, where):
        self.args, self.where, self.killed = args, where, 0
        for path in args.input:
            shutil.copy(path, where)

    def go(self, launcher, events=()):
        """events: when, and whom. What came of it, or None."""
        program = self.args.command
        if any('{rank}' in word for word in program):
            words = ' '.join("'%s'" % word.replace('{rank}', "'$OMPI_COMM_WORLD_RANK'") for word in program)
            program = ['sh', '-c', 'exec ' + words]
        begun = time.monotonic()
        names = [os.path.join(self.where, name) for name in ('.out', '.err')]
        with open(names[0], 'wb') as out, open(names[1], 'wb') as err:
            job = subprocess.Popen([*launcher, '-n', str(self.args.ranks), *program], cwd=self.where, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=dict(os.environ, FTMPI_RUN_DIR=self.where))
            try:
                for when, ranks, again in events:
                    while job.poll() is None and time.monotonic() < begun + when:
                        time.sleep(0.002)
                    self.killed += ftmpitest.kill_ranks(job, self.where, ranks, again)[0]
                self.code = job.wait(timeout=self.args.timeout)
            except subprocess.TimeoutExpired:
                job.terminate()  # it ends its ranks
                self.code = job.wait()
        self.lasted = time.monotonic() - begun
        self.out, self.err = (open(name, encoding='utf-8', errors='replace').read() for name in names)
        return None if self.code else self.result()

    def result(self):
        blank = re.compile(self.args.blank or '$')
        lines = collections.Counter(blank.sub('', line) for line in self.out.splitlines())
        files = {}
        for pattern in self.args.file:
            for path in glob.glob(os.path.join(self.where, pattern)):
                with open(path, 'rb') as f:
                    files[os.path.relpath(path, self.where)] = f.read()
        return lines, files


def differences(run, result, wanted):
    if result is None:
        return ['exit code %d' % run.code] + run.err.splitlines()[-6:]
    wrong = ['printed: ' + line for line in list(((result[0] - wanted[0]) + (wanted[0] - result[0])).elements())[:8]]
    wrong += ['another file: ' + name for name in sorted({**result[1], **wanted[1]}) if result[1].get(name) != wanted[1].get(name)]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ftrun', required=True)
    parser.add_argument('--mpirun')
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--seed', type=int, default=ftmpitest.first_seed())
    parser.add_argument('--input', action='append', default=[])
    parser.add_argument('--file', action='append', default=[])
    parser.add_argument('--blank')
    parser.add_argument('--option', action='append', default=[], help='for ftrun')
    parser.add_argument('--timeout', type=float, default=300)
    parser.add_argument('command', nargs='+')
    args = parser.parse_args()
    report = {}
    kinds = [('Open MPI', None)] if args.mpirun else []
    kinds += [('undisturbed', None)] + [('seed %d' % seed, seed) for seed in range(args.seed, args.seed + args.runs)]
    wanted, lasted, sums = None, 1, collections.Counter()
    for kind, seed in kinds:
        with tempfile.TemporaryDirectory(prefix='killed') as where:
            run = Run(args, where)
            launcher = [os.path.abspath(args.ftrun), '--report', os.path.join(where, '.report'), *args.option]
            if kind == 'Open MPI':
                launcher = [args.mpirun, *MPIRUN]
            result = run.go(launcher, ftmpitest.kills_of(seed, args.ranks, lasted) if seed is not None else ())
            wanted = wanted or result
            if kind == 'undisturbed':
                lasted = run.lasted
            wrong = differences(run, result, wanted or result)
            try:
                with open(os.path.join(where, '.report'), encoding='utf-8') as f:
                    report = json.load(f)
            except (OSError, ValueError):
                report = {}
            back = [d['way_back'] for d in report.get('restarts', [])]
            sums.update(runs=1, kills=run.killed, snapshot=back.count('snapshot'), start=back.count('start'), wrong=bool(wrong))
            print('%s %s: %d kills, back: %s, %.1f s' % ('FAIL' if wrong else 'ok', kind, run.killed, ' '.join(back) or '-', run.lasted), flush=True)
            if wrong:
                print('\n'.join('    ' + line for line in wrong), flush=True)
            if result is None and wanted is None:
                break
    print('%d runs, %d kills: %d back from a newer snapshot, %d from the start, %d wrong' %
          tuple(sums[name] for name in ('runs', 'kills', 'snapshot', 'start', 'wrong')))
    sys.exit(bool(sums['wrong']))


main()
