# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/hosts: the MPI libraries over the hosts of a lab."""

import argparse
import math
import os
import statistics
import subprocess
import sys

from . import cases, cli, lost, machine, mpis, results, runs

LAB = os.path.join(os.path.dirname(mpis.HERE), 'compat-tests', 'lib')
LAUNCH = os.path.join(LAB, 'launch.sh')
# Two nodes of this host, for --loopback: an agent each, so they share nothing; the others' ranks use TCP by their own options.
NODES = ['127.0.0.2', '127.0.0.3']
LAUNCH_NODE = os.path.join(mpis.HERE, 'loopback.sh')
# What is wanted of allreduce: by whether there is one rank a host, below and from this size on.
LARGE = 16 << 10
BARS = {True: (1.0, 1.3), False: (1.5, 1.5)}
OPERATIONS = [b for b in cases.EVERY_OPERATION if b not in cases.UNSIZED and b not in cases.MESSAGES]
MINUTES, SECONDS = 15, 0.5      # by default, of all and of a size in a run


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
    hosts, launch, iface = (), LAUNCH, []

    def command(self, program, ranks, setting, budget=()):
        return ([self.launcher, '-n', str(ranks), '--launcher', 'exec:' + self.launch, '--host', ','.join(slots(self.hosts, ranks))] + self.iface +
                list(budget) + [program]), {}


class Raw(mpis.Mpi):
    """Between the first two hosts, whatever the number of ranks."""
    name, rival, program = results.RAW, False, 'rawtcp'
    hosts, launch = (), LAUNCH

    def compile_command(self, sources, out):
        return ['cc', '-O2', '-D_GNU_SOURCE', '-o', out, os.path.join(mpis.HERE, 'rawtcp.c')]

    def command(self, program, ranks, setting, budget=()):
        # The options come behind: they are the last words of both ends.
        ends = ('%s %s %s 7700 --listen "$@" & %s %s %s 7700 --to %s "$@"; wait' %
                (self.launch, self.hosts[0], program, self.launch, self.hosts[1], program, self.hosts[0]))
        return ['sh', '-c', ends, 'rawtcp'] + setting[0], {}


class RawLogged(Raw):
    """The same, and what has come is added and written once to memory that no cache holds, as an allreduce must that keeps a log."""
    name = results.RAW_LOGGED
    pieces = (16, 64, 128, 576)     # KiB

    def settings(self, benchmark):
        return {'pieces of %d KiB' % k: (['--logged', str(k << 10)], {}) for k in self.pieces}

    def likely(self, benchmark, size):
        return list(self.settings(benchmark))


def stream(raw, size=1 << 20):
    """GB/s of one connection in one direction."""
    command, _ = raw.command(raw.programs['rawtcp'], 2, (['--stream'], {}))
    us = runs.rows(runs.output(command + ['-m', str(size), '-i', '2000', '-x', '50', '--digits', '6'], timeout=60)).get(size)
    if not us:
        raise runs.Bad('no figures from ' + ' '.join(command))
    return size / us / 1e3


def judge(table, benchmark, ranks, column, alone):
    """Lines: geometric means and the least, below LARGE and from there on. What is wanted is said of allreduce."""
    ratios = {s: table.lead(benchmark, ranks, s, column) for s in table.sizes(benchmark, ranks)}
    for i, (what, sizes) in enumerate((('below 16 KiB', [s for s in ratios if s < LARGE]), ('from 16 KiB on', [s for s in ratios if s >= LARGE]))):
        values = {s: ratios[s] for s in sizes if ratios[s]}
        if values:
            least = min(values, key=values.get)
            mean = math.exp(statistics.fmean(math.log(v) for v in values.values()))
            bar = BARS[alone][i] if benchmark == 'allreduce' and column[0] == results.OURS else None
            yield '%s: geometric mean %.2fx, least %.2fx at %s%s' % (what, mean, values[least], cases.size_name(least), '' if bar is None else
                '; wanted %.1fx: %s' % (bar, 'reached' if values[least] >= bar else 'in the mean' if mean >= bar else 'MISSED'))


def parse(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--hosts', type=int, default=2)
    p.add_argument('-b', '--benchmark', type=cli.operations, default=['allreduce'], help='of %s (default allreduce)' % ', '.join(OPERATIONS))
    p.add_argument('-n', '--ranks', type=cli.integers, help='a list of multiples of the hosts (default: one on each)')
    p.add_argument('-m', '--sizes', type=cases.parse_sizes, default=cases.parse_sizes(cases.SIZES), help='as of benchmarks/compare (default %s)' % cases.SIZES)
    cli.common(p, MINUTES, SECONDS)
    p.add_argument('--csv', metavar='FILE', help='every single run')
    p.add_argument('--loopback', action='store_true', help='two nodes on this host, over 127.0.0.0/8, in place of hosts')
    p.add_argument('--lost', type=int, metavar='TIMES', help='only how long a job stands still when a host is lost (ftmpi, three hosts)')
    args = p.parse_args()
    if args.lost:
        args.hosts = 3
    args.quick, args.ranks = False, args.ranks or [args.hosts]
    if args.loopback and (args.hosts != 2 or args.ranks != [2] or args.lost):
        p.error('--loopback: two nodes, one rank on each')
    if any(n % args.hosts for n in args.ranks) or args.hosts < 2 or not set(args.benchmark) <= set(OPERATIONS):
        p.error('two hosts or more, a multiple of that of ranks, and no barrier')
    cli.finish_common(args, MINUTES, SECONDS)
    return args


def libraries(args, hosts, tree):
    found = []
    for cls in (mpis.OpenMpi, mpis.Mpich) if args.loopback else (OpenMpi, Mpich):
        if cls.found():
            found.append(cls(tcp=True))
        else:
            print('%s: not here (%s, %s)' % (cls.name, cls.compiler, cls.launcher))
    if tree:
        found.append(Ftmpi(tree))
    else:
        print('ftmpi: no build tree with libftmpi and ftrun (make, or --build TREE)')
    found.append(Raw())
    if args.benchmark == ['allreduce'] and args.ranks == [args.hosts]:
        found.append(RawLogged())
    for mpi in found:
        mpi.hosts = hosts
        if args.loopback:
            mpi.launch, mpi.iface = LAUNCH_NODE, ['--iface', 'lo']
    only = args.only.split(',') if args.only else [m.key for m in found]
    return [m for m in found if m.key in only]


def main(doc):
    args = parse(doc)
    tree = mpis.find_tree(args.build, 'hosts')
    if not args.loopback and not os.environ.get('LAB'):
        # Once more, in a lab whose hosts have a processor each, and see the build tree, also if it is in /tmp.
        os.environ['FT_PIN'] = '1'
        os.environ['top_builddir'] = tree or os.getcwd()
        return subprocess.run([os.path.join(LAB, 'lab.sh'), str(args.hosts)] + sys.argv, check=False).returncode
    if args.lost:
        if not tree:
            print('ftmpi: no build tree with libftmpi and ftrun (make, or --build TREE)')
        return 0 if tree and lost.run(tree, args.lost) else 1
    programs = os.path.join(tree or os.getcwd(), 'benchmarks', 'compare.d')
    found = libraries(args, NODES if args.loopback else ['h%d' % (i + 1) for i in range(args.hosts)], tree)
    raws = [m for m in found if isinstance(m, Raw)]
    mpis.build(found, args.benchmark, programs)
    print('%s, a processor each as far as there are so many; TCP: one connection, between two of them' %
          ('two nodes of this host over its loopback' if args.loopback else '%d hosts' % args.hosts))
    table = results.Table()
    cli.measure(args, found, machine.Watch(programs, lab=not args.loopback), table, lambda: args.csv and table.write(args.csv), lambda: None)
    print()
    for benchmark, ranks in table.kinds():
        for column in [c for c in table.columns() if c[0] in (results.OURS, results.RAW_LOGGED)]:
            for text in judge(table, benchmark, ranks, column, ranks == args.hosts):
                print('%s, %d ranks, %s, %s' % (benchmark, ranks, column[1] or column[0], text))
    cli.chosen(table)
    for raw in raws[:1]:
        try:
            print('one TCP connection, one way, 1 MiB at a time: %.2f GB/s' % stream(raw))
        except runs.Bad as e:
            args.failures.append(str(e))
    if args.left_out:
        print('left out, or for want of time: ' + ', '.join(args.left_out))
    for failure in args.failures:
        print('\nFAILED: ' + failure)
    return 1 if args.failures else 0
