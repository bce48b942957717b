#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills ranks at a rate, run after run, until so many kills were survived with the output of an undisturbed run.

    survive.py [options] [-- PROGRAM ARGUMENTS]    {seed} and {dir} are filled in; default: mixed
    survive.py --find-limit [options]              raises the rate until the program gets no further

Some kills are aimed: --in-replay of all at ranks that are replaying, --in-ends at ranks inside MPI_Init or
MPI_Finalize. A victim is stopped first, so that what is said of it is true when it dies; what hit something else is
counted as that. Each kill is then looked up in the job's report: it must be there, with the way back that was taken.
A kill counts as one in a replay if the program says so (progress.h), and so does the report (the victim's last restart had not
come back yet).

Runs are bounded as chaos.py's are. Seeds choose victims and times; a failing one is printed with the command for it."""

import argparse
import collections
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import ftmpitest  # noqa: E402

# What a victim was doing. start: before MPI_Init; waking: a snapshot, until its first operation is done; again: what had been done before
# all ranks had to start again, or what only the program calls a replay.
PHASES = ['start', 'init', 'waking', 'replay', 'again', 'live', 'finalize', 'over']
IN_INIT, RUNS, IN_FINALIZE, OVER = 1, 2, 3, 4  # progress.h
PROGRAMS = 5                                   # seeds of the program; kills have seeds of their own


class Asked:
    """What the job's agent answers (launcher/control/server.h)."""

    def __init__(self, directory):
        self.directory = directory

    def ask(self, request='status'):
        """The answer, None if there is nobody just now."""
        try:
            fd = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None
        try:
            for name in os.listdir(fd):
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(60)  # an agent that gets no processor is no dead one
                    s.connect('/proc/self/fd/%d/%s' % (fd, name))
                    s.sendall(json.dumps({'request': request}).encode() + b'\n')
                    with s.makefile('rb') as answer:
                        return json.loads(answer.readline() or b'null')
        except (OSError, ValueError):
            pass
        finally:
            os.close(fd)
        return None


class Victim:
    """A process of the job, held by a descriptor, so that it is this one and no other."""

    def __init__(self, pid, token):
        self.pid = pid
        self.fd = os.pidfd_open(pid)
        if not ftmpitest.is_ours(pid, token):
            self.close()
            raise ProcessLookupError

    def send(self, number):
        signal.pidfd_send_signal(self.fd, number)

    def stop(self):
        """Returns when no thread of it runs any more. False: it has ended."""
        self.send(signal.SIGSTOP)
        for _ in range(100000):  # it may wait long for a processor, and if it was given up it would stand still for ever
            state = ftmpitest.state(self.pid)
            if state in 'Tt':
                return True
            if state in 'ZX':
                return False
            time.sleep(0.0005)
        return False

    def kill(self):
        """False: somebody was faster."""
        try:
            self.send(signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def close(self):
        os.close(self.fd)


SHARES_FROM = 200  # kills: of fewer, the shares are chance


def well_aimed(counts):
    """A fifth in replays, a twentieth in MPI_Init and MPI_Finalize."""
    return counts['replay'] >= 0.2 * counts['kills'] and counts['init'] + counts['finalize'] >= 0.05 * counts['kills']


def enough(counts, kills):
    """So many, and at most as many again if too few have hit what they were aimed at."""
    return counts['kills'] >= 2 * kills or counts['kills'] >= kills and well_aimed(counts)


class Aim:
    """What a kill is meant to hit: the phase, and how long to wait in it."""

    def __init__(self, rank, before, phase=None, part=0.0):
        self.rank, self.before, self.phase, self.part = rank, before, phase, part
        self.until = time.monotonic() + 2
        self.pid = self.first = None  # of the process that replays, and where it began


class Survivor:
    """Decides, from a seed, whom to kill when, and does it; the job is `run`."""

    def __init__(self, run, args, seed, counts):
        self.run, self.args = run, args
        self.counts = collections.Counter(counts)  # of all runs so far, and from now on of this one, too
        self.rng = random.Random(seed)
        self.asked = Asked(run.environment['FTMPI_RUN_DIR'])
        self.at = time.monotonic() + self.pause()
        self.aim = None
        self.kills = []          # (rank, pid, phase)
        self.others = collections.Counter()  # killed beside the ranks

    def pause(self):
        return self.rng.expovariate(self.args.rate)

    def short_of(self, share, *phases):
        return sum(self.counts[p] for p in phases) < share * (self.counts['kills'] + 1)

    def step(self, progress):
        if any(p is None for p in progress):
            return 0.0005
        if self.aim:
            return self.follow(progress)
        if len(self.kills) >= self.args.per_run or enough(self.counts, self.args.kills):
            return 0.005
        finalizing = [r for r, p in enumerate(progress) if p.all()[4] == IN_FINALIZE]
        if finalizing and self.short_of(self.args.in_ends, 'finalize'):
            self.kill([self.rng.choice(finalizing)], progress)
        elif time.monotonic() >= self.at:
            self.strike(progress)
        return 0.0005

    def strike(self, progress):
        """One event of the schedule."""
        ranks = list(range(self.args.ranks))
        draw = self.rng.random()
        if draw < self.args.all:
            victims = ranks
        elif draw < self.args.all + self.args.majority:
            victims = self.rng.sample(ranks, len(ranks) // 2 + 1)
        else:
            victims = [self.rng.choice(ranks)]
        if self.rng.random() < self.args.launchers:
            self.kill_launcher()
        if self.rng.random() < self.args.snapshots:
            self.kill_snapshot(victims[0])
        killed = self.kill(victims, progress)
        if not killed:
            self.at = time.monotonic() + self.pause()  # they have ended, or nobody can tell where they are
            return
        # What is to be hit next is made by this kill: its successor starts, and replays.
        rank, before = self.rng.choice(self.kills[-killed:])[:2]
        if self.short_of(self.args.in_ends, 'init', 'finalize'):
            self.aim = Aim(rank, before, 'init')
        elif self.short_of(self.args.in_replay, 'replay'):
            self.aim = Aim(rank, before, 'replay', self.rng.random())
        elif self.rng.random() < 0.1:
            self.aim = Aim(rank, before, None, self.rng.random() * 0.01)  # again at once, whatever it is at

    def follow(self, progress):
        """Waits for what is aimed at, without missing it. Seconds until the next look."""
        aim = self.aim
        pid, ops, _, furthest, phase = progress[aim.rank].all()
        if time.monotonic() > aim.until or phase == OVER:
            self.aim = None
            return 0
        if aim.phase is None:
            self.aim = None
            time.sleep(aim.part)
            self.kill([aim.rank], progress)
        elif aim.phase == 'init' and pid and phase == IN_INIT:
            self.aim = None
            self.kill([aim.rank], progress)
        elif aim.phase == 'init' and pid and phase == RUNS and pid != aim.before:
            aim.phase = 'replay'  # woken from a snapshot, or too fast for us
        elif aim.phase == 'replay' and pid and phase == RUNS and ops < furthest:
            if pid != aim.pid:
                aim.pid, aim.first = pid, ops
            if ops >= aim.first + aim.part * (furthest - 1 - aim.first):
                self.aim = None
                self.kill([aim.rank], progress)
        return 0.00005

    def hold(self, ranks, progress):
        """[(rank, Victim)] of those that live."""
        # A process that has told its progress is known from there; one that starts, or is being woken, from the agent.
        known = {r: progress[r].all()[0] for r in ranks}
        status = None
        if len(ranks) > 1 or not all(known.values()) or not all(os.path.exists('/proc/%d' % p) for p in known.values()):
            status = self.asked.ask()
            if status:
                known.update((r['rank'], r['pid']) for r in status['per_rank'] if r['rank'] in known and r['pid'])
        held = []
        for r in ranks:
            try:
                held.append((r, Victim(known[r], self.run.token)))
            except (OSError, ProcessLookupError):
                pass
        return held

    def kill(self, ranks, progress):
        """All of them at once: stopped, looked at, and then killed one after the other. How many it were."""
        held = self.hold(sorted(ranks), progress)
        stopped, killed = [], 0
        for r, v in held:
            try:
                if v.stop():
                    stopped.append((r, v, self.phase_of(r, v, progress[r])))
            except OSError:
                pass
        for r, v, phase in stopped:
            if v.kill():
                self.kills.append((r, v.pid, phase))
                self.counts.update(['kills', phase])
                self.at += self.pause()
                killed += 1
        for _, v in held:
            v.close()
        self.at = max(self.at, time.monotonic())
        return killed

    @staticmethod
    def phase_of(rank, victim, progress):
        """Of a process that stands still."""
        pid, ops, _, furthest, phase = progress.all()
        if pid != victim.pid:
            return 'start'
        if phase == RUNS:
            return 'replay' if ops < furthest else 'live'
        return {IN_INIT: 'init', IN_FINALIZE: 'finalize', OVER: 'over'}.get(phase, 'start')

    def kill_launcher(self):
        """The agent, whichever process it is; if it is the one that we started, somebody has to wait beside it."""
        status = self.asked.ask('info')
        if not status or not status['standby_pid']:
            return
        if status['agent_pid'] == self.run.job.pid and not self.run.observer:
            self.run.observe(status['job'])
            return
        try:
            victim = Victim(status['agent_pid'], self.run.token)
        except OSError:
            return
        self.others['launchers'] += victim.kill()
        victim.close()

    def kill_snapshot(self, rank):
        """What stands ready for this rank; the rank is killed next."""
        status = self.asked.ask()
        known = [r['pid'] for r in status['per_rank']] if status else []
        for pid in ftmpitest.processes(self.run.token) if status else []:
            try:
                with open('/proc/%d/environ' % pid, 'rb') as f:
                    its = b'FTMPI_RANK=%d' % rank in f.read().split(b'\0')
                if its and pid not in known:
                    os.kill(pid, signal.SIGKILL)
                    self.others['snapshots'] += 1
            except OSError:
                pass


class Run(ftmpitest.Run):
    """One job that can be asked."""

    def __init__(self, args, seed, where_to, name):
        super().__init__(args, seed, where_to, name)
        directory = os.path.join(self.dir, 'run')
        os.mkdir(directory, 0o700)
        self.environment['FTMPI_RUN_DIR'] = directory

    def observe(self, job):
        self.observer = subprocess.Popen([self.args.ftrun, 'wait', job], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         env=self.environment)


def judge(run, survivor):
    """What the report says of our kills, as a Counter."""
    with open(run.report) as f:
        restarts = json.load(f)['restarts']
    by_pid = {r['pid']: r for r in restarts}
    last = {}      # by rank: the restart that made the present incarnation
    made_by = {}   # by pid that died
    for r in restarts:
        made_by[r['pid']] = last.get(r['rank'])
        last[r['rank']] = r
    found = collections.Counter(survivor.others, kills=len(survivor.kills))
    for rank, pid, phase in survivor.kills:
        if pid not in by_pid:
            raise ftmpitest.Failure('rank %d, pid %d, was killed (%s) and the report has no restart for that' % (rank, pid, phase))
        found['way ' + by_pid[pid]['way_back']] += 1
        made = made_by[pid]
        if phase == 'start' and made and made['way_back'] == 'snapshot':
            phase = 'waking'
        if made and made['recover_seconds'] is None:
            found['not back yet'] += 1
        elif phase == 'replay':
            phase = 'again'
        found[phase] += 1
    return found


class Campaign:
    """Runs, and what came of them."""

    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.counts = collections.Counter()
        self.calm = {}

    def undisturbed(self, program_seed):
        if program_seed not in self.calm:
            run = Run(self.args, program_seed, self.scratch, 'undisturbed-%d' % program_seed)
            self.calm[program_seed] = run.run()
        return self.calm[program_seed]

    def one(self, seed):
        program_seed = seed % PROGRAMS
        calm = self.undisturbed(program_seed)
        run = Run(self.args, program_seed, self.scratch, 'seed-%d' % seed)
        survivor = Survivor(run, self.args, seed, self.counts)
        ftmpitest.compare(calm, run.run(survivor))
        found = judge(run, survivor)
        self.counts.update(found, runs=1)
        if self.args.verbose:
            print('seed %d: %.2f s, %s' % (seed, run.seconds, ', '.join('%s %d' % i for i in sorted(found.items()) if i[1])))
            sys.stdout.flush()
        shutil.rmtree(run.dir)

    def failed(self, seed, failure):
        a = self.args
        print('FAILED: %d ranks, seed %d: %s' % (a.ranks, seed, failure))
        options = ['--%s %g' % (n, getattr(a, n.replace('-', '_'))) for n in
                   ('rate', 'ranks', 'per-run', 'all', 'majority', 'launchers', 'snapshots', 'in-replay', 'in-ends', 'timeout')]
        print('again with: %s --ftrun %s --seed %d --runs 1 --kills %d %s%s%s -- %s' %
              (sys.argv[0], a.ftrun, seed, a.kills, ' '.join(options), ' --snapshot ' + a.snapshot if a.snapshot else '',
               ' --ftrun-args=' + shlex.quote(a.given) if a.given else '', shlex.join(a.command)))
        if a.keep:
            kept = os.path.join(a.keep, 'seed-%d' % seed)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(os.path.join(self.scratch, 'seed-%d' % seed), kept, ignore=shutil.ignore_patterns('run'))
            print('kept in', kept)
        sys.stdout.flush()
        self.counts['failed'] += 1

    def until(self, kills):
        seed = self.args.seed
        while self.counts['failed'] < self.args.failures and seed < self.args.seed + self.args.runs and not enough(self.counts, kills):
            try:
                self.one(seed)
            except ftmpitest.Failure as failure:
                self.failed(seed, failure)
            seed += 1

    def summary(self, seconds):
        c, total = self.counts, max(self.counts['kills'], 1)
        print('%d ranks, %d runs, %.0f s: %d kills survived, output identical; and %d of launcher processes, %d of snapshots' %
              (self.args.ranks, c['runs'], seconds, c['kills'], c['launchers'], c['snapshots']))
        print('  hit: ' + ', '.join('%s %d (%.0f%%)' % (p, c[p], 100 * c[p] / total) for p in PHASES))
        print('  way back: ' + ', '.join('%s %d' % (k[4:], v) for k, v in sorted(c.items()) if k.startswith('way ')))
        print('  died before they were back, by the report: %d' % c['not back yet'])


def progress_under(args, scratch, rate):
    """Operations per second that the rank furthest behind gets ahead by, and kills per second, over --limit-seconds."""
    run = Run(args, 1, scratch, 'rate-%g' % rate)
    seen = {}

    class Meter(Survivor):
        def step(self, progress):
            if all(progress):
                now = time.monotonic()
                seen.setdefault('begin', now)
                seen['ops'] = min(p.all()[3] for p in progress)
                seen['kills'], seen['seconds'] = len(self.kills), now - seen['begin']
                if seen['seconds'] > args.limit_seconds:
                    ftmpitest.end(run.token)
                elif rate and now >= self.at:
                    self.at += self.rng.expovariate(rate)
                    for r, v in self.hold([self.rng.randrange(args.ranks)], progress):
                        if v.kill():
                            self.kills.append((r, v.pid, None))
                        v.close()
            return 0.0002

    try:
        run.run(Meter(run, args, args.seed, collections.Counter()))
        seen['end'] = 'the program was done: more -n'
    except ftmpitest.Failure as failure:
        if seen['seconds'] <= args.limit_seconds:
            seen['end'] = str(failure).splitlines()[-1]
    shutil.rmtree(run.dir)
    return seen


def find_limit(args, scratch):
    undisturbed = None
    print('%d ranks, %.0f s each: %s' % (args.ranks, args.limit_seconds, shlex.join(args.command)))
    print('%12s %12s %14s %8s' % ('kills/s', 'really', 'operations/s', 'share'))
    for rate in [0] + [args.rate * 2 ** i for i in range(12)]:
        seen = progress_under(args, scratch, rate)
        speed = seen['ops'] / seen['seconds']
        undisturbed = undisturbed or speed
        print('%12g %12.1f %14.0f %7.1f%%  %s' % (rate, seen['kills'] / seen['seconds'], speed, 100 * speed / undisturbed, seen.get('end', '')))
        sys.stdout.flush()
        if speed < 0.01 * undisturbed or seen.get('end'):
            break


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--ftrun', default='./ftrun', help='the launcher (default ./ftrun)')
    p.add_argument('--ranks', type=int, default=4)
    p.add_argument('--rate', type=float, default=10, help='kills a second (default 10); --find-limit begins with it')
    p.add_argument('--kills', type=int, default=100, help='to be survived (default 100)')
    p.add_argument('--runs', type=int, default=1000, help='at most so many (default 1000)')
    p.add_argument('--per-run', type=int, default=60, help='kills in one run, which may else never end (default 60)')
    p.add_argument('--seed', type=int, default=ftmpitest.first_seed(), help='of the first run (default %(default)s)')
    p.add_argument('--failures', type=int, default=1, help='stop after so many failed seeds (default 1)')
    p.add_argument('--in-replay', type=float, default=0.25, help='share of kills aimed at replays (default 0.25)')
    p.add_argument('--in-ends', type=float, default=0.07, help='share aimed at MPI_Init and MPI_Finalize (default 0.07)')
    p.add_argument('--all', type=float, default=0.05, help='share of events that kill all ranks at once (default 0.05)')
    p.add_argument('--majority', type=float, default=0.05, help='and more than half of them (default 0.05)')
    p.add_argument('--launchers', type=float, default=0, help='share of events that kill the agent too (default 0)')
    p.add_argument('--snapshots', type=float, default=0, help="share of events that kill the victim's snapshot before it (default 0)")
    p.add_argument('--snapshot', metavar='WHEN', help="ftrun's option")
    p.add_argument('--ftrun-args', dest='given', default='', help='more options for ftrun, as one string')
    p.add_argument('--timeout', type=float, default=120, help='seconds after which one job is called hung (default 120)')
    p.add_argument('--find-limit', action='store_true')
    p.add_argument('--limit-seconds', type=float, default=20, help='of each rate (default 20)')
    p.add_argument('--keep', metavar='DIR', help='leave output and report of a failing seed here')
    p.add_argument('-v', '--verbose', action='store_true')
    p.add_argument('command', nargs='*', help='program and arguments, with {seed} and {dir}')
    args = p.parse_args()
    args.ftrun = os.path.abspath(args.ftrun)
    args.ftrun_args = args.given + (' --snapshot ' + args.snapshot if args.snapshot else '')
    mixed = os.path.join(os.path.dirname(args.ftrun), 'compat-tests', 'chaos', 'mixed')
    args.command = args.command or [mixed, '-s', '{seed}', '-p', '{dir}', '-n', '1000000000' if args.find_limit else '5000']

    scratch = tempfile.mkdtemp(prefix='survive-')
    begin = time.monotonic()
    try:
        if args.find_limit:
            find_limit(args, scratch)
            return 0
        campaign = Campaign(args, scratch)
        campaign.until(args.kills)
        campaign.summary(time.monotonic() - begin)
        hit = well_aimed(campaign.counts) or campaign.counts['kills'] < SHARES_FROM
        if not hit:
            print('FAILED: fewer than a fifth of the kills in a replay, or than a twentieth in MPI_Init and MPI_Finalize')
        return 1 if campaign.counts['failed'] or not hit else 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
