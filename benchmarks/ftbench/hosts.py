# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/hosts: the MPI libraries over the hosts of a lab."""

import argparse
import csv
import math
import os
import shlex
import statistics
import subprocess
import sys

from . import cases, lost, machine, mpis, runs

LAB = os.path.join(os.path.dirname(mpis.HERE), 'compat-tests', 'hosts')
LAUNCH = os.path.join(LAB, 'launch.sh')
# What issue 6 wants of allreduce: by whether there is one rank a host, below and from this size on.
LARGE = 16 << 10
OURS = 'ftmpi'
MODES = ['within', 'released']  # as benchmarks/compare has them
# `released` is how a job runs on, not how it begins: the log is new memory until there is a snapshot behind it, which comes after a second.
SETTLED_S = 2.0
BARS = {True: (1.0, 1.3), False: (1.5, 1.5)}
RAW_MS = 300        # of a run of bare TCP, at most and roughly


def slots(hosts, ranks):
    """Ranks of each host, as many on the first ones as on the last."""
    return ['%s:%d' % (h, ranks // len(hosts)) for h in hosts]


class OpenMpi(mpis.OpenMpi):
    hosts = ()

    def command(self, program, ranks, setting, budget=()):
        tight = ranks > len(os.sched_getaffinity(0))
        yields = ['--mca', 'mpi_yield_when_idle', '1'] if tight else []
        btl = 'self,tcp' if ranks == len(self.hosts) else 'self,vader,tcp'
        return ([self.launcher, '--allow-run-as-root', '--oversubscribe', '-n', str(ranks), '--host', ','.join(slots(self.hosts, ranks)), '--bind-to', 'none',
                 '--mca', 'plm_rsh_agent', LAUNCH, '--mca', 'pml', 'ob1', '--mca', 'btl', btl, '--mca', 'btl_tcp_if_include', 'eth0',
                 '--mca', 'oob_tcp_if_include', 'eth0,switch'] + yields + setting[0] + [program]), setting[1]


class Mpich(mpis.Mpich):
    hosts = ()

    def command(self, program, ranks, setting, budget=()):
        env = dict(setting[1], UCX_NET_DEVICES='eth0', UCX_TLS='self,tcp' if ranks == len(self.hosts) else 'self,tcp,sysv,posix,cma')
        if ranks > len(os.sched_getaffinity(0)):
            env['MPIR_CVAR_POLLS_BEFORE_YIELD'] = '1'
        carried = [w for k, v in env.items() for w in ('-genv', k, v)]
        return ([self.launcher, '-n', str(ranks), '-launcher', 'ssh', '-launcher-exec', LAUNCH, '-hosts', ','.join(slots(self.hosts, ranks))] +
                carried + setting[0] + [program]), {}


class Ftmpi(mpis.Ftmpi):
    hosts = ()

    def command(self, program, ranks, setting, budget=()):
        return [self.launcher, '-n', str(ranks), '--launcher', 'exec:' + LAUNCH, '--host', ','.join(slots(self.hosts, ranks))] + list(budget) + [program], {}


class Raw(mpis.Mpi):
    """Between the first two hosts, whatever the number of ranks."""
    name = 'TCP'
    hosts = ()

    def compile_command(self, sources, out):
        return ['cc', '-O2', '-D_GNU_SOURCE', '-o', out, os.path.join(mpis.HERE, 'rawtcp.c')]

    def command(self, program, ranks, setting, budget=()):
        # The options come behind: they are the last words of both ends.
        ends = ('%s %s %s 7700 --listen "$@" & %s %s %s 7700 --to %s "$@"; wait' %
                (LAUNCH, self.hosts[0], program, LAUNCH, self.hosts[1], program, self.hosts[0]))
        return ['sh', '-c', ends, 'rawtcp'] + setting[0], {}


class Measured:
    """One operation on so many ranks."""

    def __init__(self, benchmark, ranks, libraries, args):
        self.benchmark, self.ranks, self.args = benchmark, ranks, args
        self.us = {}
        self.libraries = [m for m in libraries if self.probe(m)]
        self.modes = [m for m in args.modes if any(mpi.key == OURS for mpi in self.libraries)]

    def failed(self, e):
        self.args.failures.append(str(e))
        print('! ' + str(e).splitlines()[0], flush=True)

    def latencies(self, mpi, sizes, calls, setting=([], {})):
        return runs.latencies(mpi, self.benchmark, self.ranks, sizes, calls, cases.warmup(calls), setting, timeout=120)

    def ours(self, mpi, mode, size, last):
        """Microseconds of one run of ftmpi. The last of `within` kills a rank, and verifies."""
        calls = self.calls(mpi, size, self.args.seconds)
        budget, calls, warmup = cases.budget(mode, self.benchmark, self.ranks, size, calls, self.us[mpi.key, size],
                                             cases.RELEASED_TIMES * self.args.seconds)
        if mode == 'released':
            warmup = max(warmup, int(self.args.settled * 1e6 / self.us[mpi.key, size]))
        kill = last and mode == 'within'
        us = runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, warmup, budget=budget, kill=kill, timeout=120)[size]
        self.us[mpi.key, size] = min(self.us[mpi.key, size], us)  # the probe's calls are the first ones
        return us

    def probe(self, mpi):
        """Whether it runs, and how long a call takes."""
        try:
            for size, us in self.latencies(mpi, self.args.sizes, 5).items():
                self.us[mpi.key, size] = us
            return True
        except runs.Bad as e:
            self.failed(e)
            return False

    def calls(self, mpi, size, seconds):
        return cases.affordable(cases.count_for(self.benchmark, self.ranks, size, False), self.us[mpi.key, size], seconds)

    def settings(self, mpi, size):
        """The two that a short trial of all finds best."""
        tried = {}
        for name, setting in mpi.settings(self.benchmark).items():
            if 'sm' in name.split() or 'single' in name or name == 'shared memory':
                continue
            try:
                tried[name] = self.latencies(mpi, [size], self.calls(mpi, size, self.args.seconds / 5), setting)[size]
                self.us[mpi.key, size] = min(self.us[mpi.key, size], tried[name])
            except runs.Bad as e:
                if self.args.verbose:
                    print('  %s, %s: %s' % (mpi.name, name, str(e).splitlines()[0]))
        return sorted(tried, key=tried.get)[:2]

    def block(self, size):
        """{column: [microseconds of each run]}, a column is (library, setting); of ftmpi: mode."""
        entries = []
        for mpi in self.libraries:
            several = len(mpi.settings(self.benchmark)) > 1 and not self.args.no_trial
            names = self.modes if mpi.key == OURS else self.settings(mpi, size) if several else ['default']
            entries += [(mpi, name) for name in names]
        found = {}
        for i in range(self.args.repeat):
            for mpi, name in entries:
                seconds = RAW_MS / 1000 if mpi.key == 'tcp' else self.args.seconds
                try:
                    if mpi.key == OURS:
                        us = self.ours(mpi, name, size, i == self.args.repeat - 1)
                    else:
                        us = self.latencies(mpi, [size], self.calls(mpi, size, seconds), mpi.settings(self.benchmark)[name])[size]
                    found.setdefault((mpi.name, name), []).append(us)
                except runs.Bad as e:
                    self.failed(e)
        return found


def best(found, name, setting=None):
    """(median, spread, setting) of a library's better setting, or of that one; None if it has no run."""
    columns = [(statistics.median(v), (max(v) - min(v)) / statistics.median(v), s) for (n, s), v in found.items()
               if n == name and setting in (None, s)]
    return min(columns, default=None)


def line(size, found, columns, span, others):
    """Prints it; {mode: ratio}."""
    text = '%-9s' % cases.size_name(size)
    for name, setting in columns:
        b = best(found, name, setting)
        text += '%18s' % ('%.2f (%.0f%%)' % (b[0], 100 * b[1]) if b else 'failed')
    rivals = [best(found, n)[0] for n in others if best(found, n)]
    ratios, shares = {}, []
    for mode in [s for n, s in columns if n == OURS]:
        ours, raw = best(found, OURS, mode), best(found, 'TCP')
        ratios[mode] = min(rivals) / ours[0] if ours and rivals else None
        text += '%10s' % ('%.2fx' % ratios[mode] if ratios[mode] else '-')
        shares.append('%.2f' % (raw[0] / ours[0]) if ours and raw else '-')
    settings = ', '.join('%s: %s' % (n, best(found, n)[2]) for n in others if best(found, n) and best(found, n)[2] != 'default')
    print('%s%14s   %s  %s' % (text, ' '.join(shares), span.text(), settings), flush=True)
    return ratios


def stream(raw, size=1 << 20):
    """GB/s of one connection in one direction."""
    command, _ = raw.command(raw.programs['rawtcp'], 2, (['--stream'], {}))
    us = runs.rows(runs.output(command + ['-m', str(size), '-i', '2000', '-x', '50', '--digits', '6'], timeout=60))[size]
    return size / us / 1e3


def judge(ratios, alone):
    """Lines: geometric means and the least, below LARGE and from there on."""
    for i, (what, sizes) in enumerate((('below 16 KiB', [s for s in ratios if s < LARGE]), ('from 16 KiB on', [s for s in ratios if s >= LARGE]))):
        values = {s: ratios[s] for s in sizes if ratios[s]}
        if values:
            least = min(values, key=values.get)
            mean = math.exp(statistics.fmean(math.log(v) for v in values.values()))
            bar = BARS[alone][i]
            yield '%s: geometric mean %.2fx, least %.2fx at %s; wanted %.1fx: %s' % (
                what, mean, values[least], cases.size_name(least), bar, 'reached' if values[least] >= bar else 'in the mean' if mean >= bar else 'MISSED')


def parse(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--hosts', type=int, default=2)
    p.add_argument('-b', '--benchmark', default='allreduce', help='of %s' % ', '.join(cases.EVERY_OPERATION[:4] + cases.EVERY_OPERATION[5:]))
    p.add_argument('-n', '--ranks', help='a list of multiples of the hosts (default: one on each)')
    p.add_argument('-m', '--sizes', type=cases.parse_sizes, default=cases.parse_sizes(cases.SIZES))
    p.add_argument('-r', '--repeat', type=int, default=5)
    p.add_argument('--seconds', type=float, default=0.7, help='of a run, at most and roughly (default 0.7)')
    p.add_argument('--settled', type=float, default=SETTLED_S, metavar='SECONDS', help='before "released" is timed, at least and roughly (default 2)')
    p.add_argument('--modes', type=lambda text: text.split(','), default=MODES, help='of ftmpi: some of %s' % ','.join(cases.MODES))
    p.add_argument('--no-trial', action='store_true', help="the others' default settings only")
    p.add_argument('--only', default='', help='leave out MPIs not in this list, such as openmpi,ftmpi,tcp')
    p.add_argument('--build', metavar='TREE', help="ftmpi's build tree (default: here, or build/)")
    p.add_argument('--csv', metavar='FILE', help='every single run')
    p.add_argument('--lost', type=int, metavar='TIMES', help='only how long a job stands still when a host is lost (ftmpi, three hosts)')
    p.add_argument('-v', '--verbose', action='store_true')
    args = p.parse_args()
    if args.lost:
        args.hosts = 3
    args.ranks = [int(n) for n in args.ranks.split(',')] if args.ranks else [args.hosts]
    if any(n % args.hosts or n < 1 for n in args.ranks) or args.hosts < 2 or args.benchmark not in cases.EVERY_OPERATION:
        p.error('two hosts or more, and a multiple of that of ranks')
    if any(m not in cases.MODES for m in args.modes):
        p.error('--modes wants some of %s' % ', '.join(cases.MODES))
    args.failures = []
    return args


def libraries(args, hosts, tree):
    found = []
    for cls in (OpenMpi, Mpich):
        if cls.found():
            found.append(cls())
        else:
            print('%s: not here (%s, %s)' % (cls.name, cls.compiler, cls.launcher))
    if tree:
        found.append(Ftmpi(tree))
    else:
        print('ftmpi: no build tree with libftmpi and ftrun (make, or --build TREE)')
    found.append(Raw())
    for mpi in found:
        mpi.hosts = hosts
    only = args.only.split(',') if args.only else [m.key for m in found]
    return [m for m in found if m.key in only]


def main(doc):
    args = parse(doc)
    if not os.environ.get('LAB'):
        # Once more, in a lab whose hosts have a processor each.
        os.environ['LAB_PIN'] = '1'
        return subprocess.run([os.path.join(LAB, 'lab.sh'), str(args.hosts)] + sys.argv, check=False).returncode
    hosts = ['h%d' % (i + 1) for i in range(args.hosts)]
    tree = mpis.find_tree(args.build, 'hosts')
    if args.lost:
        if not tree:
            print('ftmpi: no build tree with libftmpi and ftrun (make, or --build TREE)')
        return 0 if tree and lost.run(tree, args.lost) else 1
    programs = os.path.join(tree or os.getcwd(), 'benchmarks', 'compare.d')
    found = libraries(args, hosts, tree)
    mpis.build([m for m in found if m.key != 'tcp'], [args.benchmark], programs)
    for raw in [m for m in found if m.key == 'tcp']:
        mpis.build([raw], ['rawtcp'], programs)
        raw.programs[args.benchmark] = raw.programs['rawtcp']
    watch = machine.Watch(programs)
    columns = [c for m in found for c in ([(m.name, mode) for mode in args.modes] if m.key == OURS else [(m.name, None)])]
    others = [m.name for m in found if m.key not in (OURS, 'tcp')]
    rows = []
    for ranks in args.ranks:
        measured = Measured(args.benchmark, ranks, found, args)
        print('\n%s, %d ranks on %d hosts, microseconds (median of %d, spread); ratio = better of the others / ftmpi' %
              (args.benchmark, ranks, args.hosts, args.repeat))
        modes = [s for n, s in columns if n == OURS]
        print('%-9s' % 'size' + ''.join('%18s' % (n if s is None else s) for n, s in columns) + ''.join('%10s' % m for m in modes) +
              '     TCP/ours   line ns, stolen ms, others')
        ratios = {mode: {} for mode in modes}
        for size in args.sizes:
            span = watch.begin()
            result = measured.block(size)
            span.stop()
            for mode, ratio in line(size, result, columns, span, others).items():
                ratios[mode][size] = ratio
            rows += [(args.benchmark, args.hosts, ranks, size, n, s, us) for (n, s), values in result.items() for us in values]
        if args.benchmark == 'allreduce':
            for mode in modes:
                for text in judge(ratios[mode], ranks == args.hosts):
                    print(mode + ', ' + text)
    for raw in [m for m in found if m.key == 'tcp']:
        print('one TCP connection, one way, 1 MiB at a time: %.2f GB/s' % stream(raw))
    if args.csv:
        with open(args.csv, 'w', newline='', encoding='utf-8') as f:
            csv.writer(f, lineterminator='\n').writerows([('benchmark', 'hosts', 'ranks', 'size', 'mpi', 'setting', 'us')] + rows)
    for failure in args.failures:
        print('\nFAILED: ' + failure)
    return 1 if args.failures else 0
