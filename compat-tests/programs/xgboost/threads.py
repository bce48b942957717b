#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Debian's XGBoost 1.7 with any number of threads (trains.py): without snapshots, with them, and so with ranks killed by seed. What each rank
prints, the model's hash in it, is the same, and who had a newer snapshot comes back from it.

    threads.py --ftrun FTRUN [--mode hist,dart,...] [--ranks 2,3,4] [--threads 1,2,4] [--runs 20] [--seed 1]
"""

import argparse
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'lib'))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'xgboost3'))
import ftmpitest  # noqa: E402
import kills as seeds  # noqa: E402  (that of xgboost3)

MODES = 'hist,approx,gblinear,dart,early,evals,sampling'


class Case(seeds.Case):
    def program(self):
        return [seeds.PYTHON, os.path.join(HERE, 'trains.py'), self.mode, str(self.args.rows), str(self.args.rounds), str(self.threads)]

    def options(self):
        return ['--rabit']

    def plain(self):
        """There is no Rabit tracker to train with elsewhere: under ftrun, and nothing is recorded."""
        with tempfile.TemporaryDirectory(prefix='x17') as where:
            given, self.args.option = self.args.option, ['--snapshot', 'off']
            job = seeds.Job(self, where)
            self.args.option = given
            if job.end():
                raise ftmpitest.Failure('%s without snapshots: %s' % (self, job.errors[-3:]))
            return [seeds.without_stamps(lines) for lines in job.lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    seeds.add_options(parser)
    parser.add_argument('--mode', default=MODES)
    parser.add_argument('--ranks', default='2,3,4')
    parser.add_argument('--threads', default='1,2,4')
    parser.add_argument('--rows', type=int, default=3000)
    parser.add_argument('--rounds', type=int, default=12)
    parser.add_argument('--runs', type=int, default=20)
    args = parser.parse_args()
    args.ftrun, args.wheel = os.path.abspath(args.ftrun), None
    args.option = args.option or ['--snapshot', '0.1']
    sums, known = seeds.Sums(), {}
    for seed in range(args.seed, args.seed + args.runs):
        chance = random.Random(seed)
        key = chance.choice(args.mode.split(',')), int(chance.choice(args.ranks.split(','))), int(chance.choice(args.threads.split(',')))
        if key not in known:
            case = Case(args, *key, 'none')
            plain = case.plain()
            known[key] = (case, plain) if seeds.undisturbed(case, plain, sums) else None
        if known[key]:
            seeds.one_run(*known[key], seed, sums)
        if sums.wrong > args.wrong:
            break
    sys.exit(seeds.verdict(args, sums))


if __name__ == '__main__':
    main()
