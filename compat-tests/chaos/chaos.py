#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills the ranks of a real job at random and holds its output against an undisturbed run, byte for byte.

    chaos.py [options] -- PROGRAM ARGUMENTS        {seed} and {dir} are filled in

For every seed the command runs under ftrun twice: once alone, once with SIGKILLs. Each line that the program
prints starts with the rank; lines are compared per rank, in order (how ranks interleave is timing). The program
keeps {dir}/rank.N as progress.h says (without a phase will do). A kill counts only if the victim had committed something
new since its last start; kills of ranks that are still replaying happen too and do not count. With --peer the first
seed's output is Open MPI's, too.

Every run is bounded: a job that takes longer than --timeout is a hang; where everybody was is printed, and the
command that repeats the seed."""

import argparse
import collections
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ftmpitest import Failure, Killer, Run, add_options, by_rank, compare, filled, keep  # noqa: E402


def of_peer(args, seed, where_to):
    """What Open MPI's build of the program prints. One file a rank: mpirun tears lines of different ranks apart."""
    name = os.path.join(where_to, 'peer')
    done = subprocess.run(['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '--mca', 'mpi_yield_when_idle', '1', '-n', str(args.ranks),
                           'sh', '-c', 'exec "$@" >"$0.$OMPI_COMM_WORLD_RANK"', name] + filled(shlex.split(args.peer), seed, where_to),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=args.timeout)
    if done.returncode != 0:
        raise Failure('Open MPI: exit code %d; standard error ends with:\n%s' % (done.returncode, done.stderr.decode(errors='replace')[-2000:]))
    output = b''
    for r in range(args.ranks):
        with open('%s.%d' % (name, r), 'rb') as f:
            output += f.read()
    return by_rank(output)


def ways_back(run, tally):
    """Counts them, out of the report. Nobody may die but by our hand: a rank that crashed would come back, and nothing be seen of it."""
    with open(run.report) as f:
        for death in json.load(f)['restarts']:
            if death['signal'] != signal.SIGKILL:
                raise Failure('rank %d died of signal %s, exit code %s' % (death['rank'], death['signal'], death['exit_code']))
            tally['back: %s' % death['way_back']] += 1
            tally['not followed'] += death['snapshots_not_followed']


def one_seed(args, seed, scratch, tally):
    where_to = os.path.join(scratch, 'seed-%d' % seed)
    calm_run = Run(args, seed, where_to, 'undisturbed')
    calm = calm_run.run()
    if len(calm) != args.ranks:
        raise Failure('%d of %d ranks printed something in the undisturbed run' % (len(calm), args.ranks))
    wild_run = Run(args, seed, where_to, 'killed')
    killer = Killer(seed, args.ranks, args.kills, calm_run.span, wild_run.token)
    wild = wild_run.run(killer)
    compare(calm, wild)
    if args.peer and seed == args.first_seed:
        compare(of_peer(args, seed, where_to), calm, ('Open MPI:    ', 'undisturbed: '))
    ways_back(wild_run, tally)
    if args.verbose:
        print('seed %d: %.2f s undisturbed, %.2f s with %d kills (and %d in replay)' %
              (seed, calm_run.seconds, wild_run.seconds, killer.counted, killer.uncounted))
        sys.stdout.flush()
    shutil.rmtree(where_to)
    tally['counted'] += killer.counted
    tally['uncounted'] += killer.uncounted
    tally['together'] += killer.together
    if args.sum:
        tally['sum'] += sum(int(n) for lines in wild.values() for line in lines for n in re.findall(args.sum, line.decode()))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ranks', type=int, default=2)
    p.add_argument('--kills', type=int, default=4, help='that count, per run (default 4)')
    p.add_argument('--least', type=int, default=1, help='counting kills that all seeds together must reach (default 1); as long as they do not, '
                   'more seeds follow, for up to --patience seconds')
    p.add_argument('--patience', type=float, default=240, help='default 240')
    p.add_argument('--peer', metavar='COMMAND', help="Open MPI's build of the program and its arguments, as one string; {seed} is filled in")
    p.add_argument('--sum', metavar='PATTERN', help='adds up the number that this finds in the lines of the runs with kills')
    p.add_argument('--seconds', type=float, default=0, help='start no new seed after this long (0: all seeds)')
    add_options(p)
    args = p.parse_args()
    args.ftrun = os.path.abspath(args.ftrun)

    scratch = tempfile.mkdtemp(prefix='chaos-')
    begin = time.monotonic()
    tally = collections.Counter()
    done = code = 0
    try:
        for seed in itertools.count(args.first_seed):
            # a machine with other things to do runs the undisturbed job slower than the other one: fewer kills find it still there
            spent = time.monotonic() - begin
            enough = done >= args.seeds or args.seconds and done and spent > args.seconds
            if enough and (tally['counted'] >= args.least or spent > args.patience):
                break
            try:
                one_seed(args, seed, scratch, tally)
            except Failure as failure:
                print('FAILED: %d ranks, seed %d: %s' % (args.ranks, seed, failure))
                print('again with: %s --ftrun %s --ranks %d --first-seed %d --seeds 1 --kills %d --timeout %g%s%s -- %s' %
                      (sys.argv[0], args.ftrun, args.ranks, seed, args.kills, args.timeout,
                       ' --ftrun-args ' + shlex.quote(args.ftrun_args) if args.ftrun_args else '',
                       ' --peer ' + shlex.quote(args.peer) if args.peer else '',
                       shlex.join(args.command)))
                keep(args, scratch, seed)
                code = 1
                break
            done += 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print('%d ranks: %d seeds, output identical; %d kills that count, %d more during replay; %d of both at the same time as others; %s%s; %.1f s' %
          (args.ranks, done, tally['counted'], tally['uncounted'], tally['together'],
           ', '.join('%s %d' % (way, tally[way]) for way in sorted(tally) if way.startswith('back') or way == 'not followed' and tally[way]),
           '; sum %d' % tally['sum'] if args.sum else '', time.monotonic() - begin))
    if code == 0 and tally['counted'] < args.least:
        print('FAILED: only %d kills landed after a newly committed unit, wanted %d' % (tally['counted'], args.least))
        code = 1
    return code


if __name__ == '__main__':
    sys.exit(main())
