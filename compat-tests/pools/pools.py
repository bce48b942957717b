#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs with pools of threads, of kinds that people have: plain, under ftrun with snapshots made all the time, and so with ranks killed by seed.
Each rank prints what it prints without ftrun (a program of MPI: without snapshots), and who had a newer snapshot comes back from it.

    pools.py --ftrun FTRUN --programs DIRECTORY [--only NAME,...] [--runs 2] [--seed 1] [--list]"""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
sys.path.insert(0, os.path.join(HERE, '..', 'xgboost3'))
import ftmpitest  # noqa: E402
import kills  # noqa: E402

OPENBLAS = '/usr/lib/%s-linux-gnu/openblas-pthread' % os.uname().machine
BLAS = {'OPENBLAS_NUM_THREADS': '4', 'LD_LIBRARY_PATH': OPENBLAS}  # whichever BLAS is this machine's default

# command: {} is the number of rounds. needs: a Python module, or a file.
Program = collections.namedtuple('Program', 'name command rounds ranks needs mpi environment')
PROGRAMS = [
    Program('blas', ['blas.py', '{}'], 16, 2, ['numpy', 'scipy.linalg', OPENBLAS], False, BLAS),
    Program('blas-mpi', ['blas.py', '{}', 'mpi'], 20, 2, ['numpy', 'scipy.linalg', 'mpi4py', OPENBLAS], True, BLAS),
    Program('libgomp', ['omp', '{}'], 24, 3, [], True, {}),
    Program('libomp', ['omp_clang', '{}'], 24, 3, [], True, {'KMP_BLOCKTIME': '0'}),
    Program('python', ['python.py', '{}'], 40, 2, [], False, {}),
    Program('sklearn', ['learn.py', '{}'], 4, 2, ['sklearn', OPENBLAS], False, {**BLAS, 'OMP_NUM_THREADS': '3'}),
]


class Case(kills.Case):
    def __init__(self, args, program):
        super().__init__(argparse.Namespace(**vars(args), rounds=program.rounds), program.name, program.ranks, 4, 'own')
        self.kind = program

    def __str__(self):
        return '%s, %d ranks' % (self.mode, self.ranks)

    def program(self):
        words = [w.replace('{}', str(self.kind.rounds)) for w in self.kind.command]
        if words[0].endswith('.py'):
            return [kills.PYTHON, os.path.join(HERE, words[0]), *words[1:]]
        return [os.path.join(self.args.programs, words[0]), *words[1:]]

    def environment(self, **more):
        """Threads that spin keep two processors from those that have work."""
        return dict(os.environ, PYTHONDONTWRITEBYTECODE='1', OMP_WAIT_POLICY='passive', **self.kind.environment, **more)

    def plain(self):
        if not self.kind.mpi:
            return super().plain()
        with tempfile.TemporaryDirectory(prefix='pools') as where:
            given, self.args.option = self.args.option, ['--snapshot', 'off']
            job = kills.Job(self, where)
            self.args.option = given
            if job.end():
                raise ftmpitest.Failure('%s without snapshots: %s' % (self, job.errors[-3:]))
            return job.lines


def missing(args, program):
    """What it needs and is not there."""
    command = program.command[0]
    if not os.path.exists(os.path.join(HERE if command.endswith('.py') else args.programs, command)):
        return command
    for need in program.needs:
        there = os.path.exists(need) if need.startswith('/') else not subprocess.run([kills.PYTHON, '-c', 'import ' + need], stderr=subprocess.DEVNULL).returncode
        if not there:
            return need
    return None


def plan_of(seed):
    """One that surely goes back to a newer snapshot, and what the seed says."""
    chance = random.Random(seed)
    return ['newer', *(chance.choice(kills.KINDS) for _ in range(chance.randrange(1, 3)))]


def run_program(args, program, sums):
    case = Case(args, program)
    plain = case.plain()
    if not all(any(line.startswith('model ') for line in lines) for lines in plain):
        raise ftmpitest.Failure('%s: plain: %s' % (case, plain))
    if kills.undisturbed(case, plain, sums):
        for seed in range(args.seed, args.seed + args.runs):
            kills.one_run(case, plain, seed, sums, plan=plan_of(seed))
            if sums.wrong > args.wrong:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kills.add_options(parser)
    parser.add_argument('--programs', required=True, help='where those in C were built')
    parser.add_argument('--only', help='names, with commas')
    parser.add_argument('--runs', type=int, default=2)
    args = parser.parse_args()
    args.ftrun, args.wheel, args.python = os.path.abspath(args.ftrun), None, kills.PYTHON
    args.option = args.option or ['--snapshot', '0.02']
    code = 0
    for program in PROGRAMS:
        if args.only and program.name not in args.only.split(','):
            continue
        lacks = missing(args, program)
        if lacks:
            print('%s: left out, there is no %s' % (program.name, lacks))
            continue
        sums = kills.Sums()
        run_program(args, program, sums)
        code |= kills.verdict(args, sums)
    sys.exit(code)


if __name__ == '__main__':
    main()
