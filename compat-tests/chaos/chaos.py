#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills the ranks of a real job at random and holds its output against an undisturbed run, byte for byte.

    chaos.py [options] -- PROGRAM ARGUMENTS        {seed} and {dir} are filled in

For every seed the command runs under ftrun twice: once alone, once with SIGKILLs. Each line that the program
prints starts with the rank; lines are compared per rank, in order (how ranks interleave is timing). The program
keeps {dir}/rank.N as progress.h says (without a phase will do). A kill counts only if the victim had committed something
new since its last start; kills of ranks that are still replaying happen too and do not count.

Every run is bounded: a job that takes longer than --timeout is a hang; where everybody was is printed, and the
command that repeats the seed."""

import argparse
import itertools
import os
import shlex
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ftmpitest import Failure, Killer, Run, add_options, compare, keep  # noqa: E402

PATIENCE = 240  # seconds for --least to be reached


def one_seed(args, seed, scratch):
    where_to = os.path.join(scratch, 'seed-%d' % seed)
    calm_run = Run(args, seed, where_to, 'undisturbed')
    calm = calm_run.run()
    if len(calm) != args.ranks:
        raise Failure('%d of %d ranks printed something in the undisturbed run' % (len(calm), args.ranks))
    wild_run = Run(args, seed, where_to, 'killed')
    killer = Killer(seed, args.ranks, args.kills, calm_run.span, wild_run.token)
    wild = wild_run.run(killer)
    compare(calm, wild)
    if args.verbose:
        print('seed %d: %.2f s undisturbed, %.2f s with %d kills (and %d in replay)' %
              (seed, calm_run.seconds, wild_run.seconds, killer.counted, killer.uncounted))
        sys.stdout.flush()
    shutil.rmtree(where_to)
    return killer.counted, killer.uncounted


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ranks', type=int, default=2)
    p.add_argument('--kills', type=int, default=4, help='that count, per run (default 4)')
    p.add_argument('--least', type=int, default=1, help='counting kills that all seeds together must reach (default 1); as long as they do not, '
                   'more seeds follow, for up to %d seconds' % PATIENCE)
    p.add_argument('--seconds', type=float, default=0, help='start no new seed after this long (0: all seeds)')
    add_options(p)
    args = p.parse_args()
    args.ftrun = os.path.abspath(args.ftrun)

    scratch = tempfile.mkdtemp(prefix='chaos-')
    begin = time.monotonic()
    counted = uncounted = done = 0
    code = 0
    try:
        for seed in itertools.count(args.first_seed):
            # a machine with other things to do runs the undisturbed job slower than the other one: fewer kills find it still there
            spent = time.monotonic() - begin
            enough = done >= args.seeds or args.seconds and done and spent > args.seconds
            if enough and (counted >= args.least or spent > PATIENCE):
                break
            try:
                c, u = one_seed(args, seed, scratch)
            except Failure as failure:
                print('FAILED: %d ranks, seed %d: %s' % (args.ranks, seed, failure))
                print('again with: %s --ftrun %s --ranks %d --first-seed %d --seeds 1 --kills %d --timeout %g%s -- %s' %
                      (sys.argv[0], args.ftrun, args.ranks, seed, args.kills, args.timeout,
                       ' --ftrun-args ' + shlex.quote(args.ftrun_args) if args.ftrun_args else '',
                       shlex.join(args.command)))
                keep(args, scratch, seed)
                code = 1
                break
            counted, uncounted, done = counted + c, uncounted + u, done + 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print('%d ranks: %d seeds, output identical; %d kills that count, %d more during replay; %.1f s' %
          (args.ranks, done, counted, uncounted, time.monotonic() - begin))
    if code == 0 and counted < args.least:
        print('FAILED: only %d kills landed after a newly committed unit, wanted %d' % (counted, args.least))
        code = 1
    return code


if __name__ == '__main__':
    sys.exit(main())
