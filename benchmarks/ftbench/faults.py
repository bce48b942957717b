# SPDX-License-Identifier: BSD-3-Clause
"""Fault tolerance in figures: recovery and its parts, replay rates, what the log and snapshots cost, progress under kills."""

import csv
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from . import cases, runs

FIELDS = ['measure', 'variant', 'x_name', 'x', 'part', 'unit', 'run', 'value']
PROGRAMS = ['recovery', 'rewrite', 'steady', 'checkpoint']
MEASURES = ['recovery', 'memory', 'replay', 'log', 'snapshots', 'checkpoints', 'kills']


class Faults:
    """Rows of every run in .rows; how much: 'full', 'quick' or 'tiny'."""

    def __init__(self, mpi, repeat, how, watch, failures):
        self.mpi, self.repeat, self.how, self.watch, self.failures = mpi, repeat, how, watch, failures
        self.rows = []
        self.scratch = tempfile.TemporaryDirectory(prefix='ftmpi-faults-')
        self.number = 0

    def by(self, **choices):
        return choices[self.how]

    def path(self, name):
        self.number += 1
        return os.path.join(self.scratch.name, '%s.%d' % (name, self.number))

    def ftrun(self, program, options, *arguments, ranks=2, bind=True, timeout=300):
        place = ['--bind-to', 'core'] if bind and ranks <= len(os.sched_getaffinity(0)) else []
        command = [self.mpi.launcher, '-n', str(ranks), '--quiet'] + place + list(options) + [self.mpi.programs[program]] + [str(a) for a in arguments]
        return runs.output(command, timeout=timeout)

    def measure(self, name, x_name, points, variants, one, names=None):
        """one(x, variant) gives {part: (value, unit)}; runs alternate between the variants. names: what variants are called."""
        names = names or {v: v for v in variants}
        print('\n%s' % name)
        for x in points:
            span = self.watch.begin()
            seen = {v: {} for v in variants}
            for i in range(self.repeat):
                for variant in variants:
                    try:
                        parts = one(x, variant)
                    except runs.Bad as e:
                        self.failures.append(str(e))
                        print('! ' + str(e).splitlines()[0])
                        continue
                    for part, (value, unit) in parts.items():
                        seen[variant].setdefault((part, unit), []).append(value)
                        self.rows.append(dict(zip(FIELDS, (name, names[variant], x_name, x, part, unit, i + 1, '%.6g' % value))))
            span.stop()
            for variant, parts in seen.items():
                print('  %-10s %-8s %-24s %s   %s' % (x, x_name.split()[-1], names[variant], ', '.join(
                    '%s %.4g %s' % (part, statistics.median(v), unit) for (part, unit), v in parts.items()), span.text()), flush=True)

    # ---- recovery ----

    def killed(self, snapshot, options, wait):
        """(ftrun's report, what the successor printed)."""
        report = self.path('report')
        more = ['-w', wait] if snapshot != 'off' else []
        text = self.ftrun('recovery', ['--snapshot', snapshot, '--report', report], '-t', self.path('killed'), *more, *options)
        with open(report, encoding='utf-8') as f:
            return json.load(f), [float(v) for v in text.split()]

    def recover(self, way, *options):
        """Milliseconds from SIGKILL to the first live operation, in parts: by the program's clock and by ftrun's report."""
        wait = self.by(full=0.5, quick=0.3, tiny=0.2)
        for _ in range(4):     # a busy machine makes its first snapshot late
            said, (main, init, live, replayed, killed) = self.killed('off' if way == 'start' else '0.1', options, wait)
            restart = said['restarts'][0]
            if restart['way_back'] == way:
                break
            wait *= 3
        else:
            raise runs.Bad('recovery: it came back by %s, not by %s' % (restart['way_back'], way))
        detected = (said['began_at'] + restart['at_seconds'] - killed) * 1e6
        points = [('total', live), ('replay', replayed)] + ([('MPI_Init', init), ('program start', main)] if way == 'start' else [])
        points += [('respawn', detected + restart['respawn_seconds'] * 1e6), ('detect', detected)]
        # From the end: what the program says has happened has, even if ftrun, on a busy machine, noted it later.
        ends = []
        for name, us in points:
            ends.append((name, max(0.0, min(us / 1e3, ends[-1][1] if ends else us))))
        parts, before = {}, 0.0
        for name, ms in reversed(ends):
            parts['rejoin' if name == 'total' else name] = ms - before
            before = ms
        parts['total'] = before
        return {name: (value, 'ms') for name, value in parts.items()}

    def recovery(self):
        """Against what there is to replay. A snapshot's successor repeats what it did since then, whatever that number."""
        self.measure('recovery', 'logged units', self.by(full=[10 ** 3, 10 ** 4, 10 ** 5, 10 ** 6], quick=[10 ** 3, 10 ** 5], tiny=[10 ** 3]),
                     ['start', 'snapshot'], lambda x, way: self.recover(way, '-n', x))

    def memory(self):
        self.measure('recovery with resident memory', 'MiB', self.by(full=[16, 64, 256, 1024, 4096], quick=[64, 256], tiny=[16]),
                     ['start', 'snapshot'], lambda x, way: self.recover(way, '-n', 10000, '-m', x))

    def replay(self):
        """Of allreduces of one size, from the beginning: a rank that replays neither waits nor computes here."""
        counts = {8: 200000, 1024: 50000, 65536: 3000, 1 << 20: 300}

        def one(size, _):
            n = max(50, counts[size] // self.by(full=1, quick=5, tiny=100))
            said, (_, init, _, replayed, _) = self.killed('off', ['-n', n, '-b', size], 0)
            seconds, units = (replayed - init) / 1e6, said['restarts'][0]['replayed_units']
            return {'total': (units / seconds, 'units/s'), 'bytes': (n * size / seconds / 1e9, 'GB/s')}
        self.measure('replay rate', 'bytes', self.by(full=list(counts), quick=list(counts), tiny=[8, 65536]), ['replay'], one)

    # ---- costs ----

    def log(self):
        """The same allreduces with and without restarts being possible."""
        def one(size, variant):
            calls = max(20, cases.count_for('allreduce', 2, size, True) // self.by(full=1, quick=5, tiny=200))
            mode = 'within' if variant == 'log within budget' else 'unlogged'
            budget, calls, warmup = cases.budget(mode, 'allreduce', 2, {size: calls})
            return {'total': (runs.latencies(self.mpi, 'allreduce', 2, calls, warmup, budget=budget)[size], 'us')}
        self.measure('overhead of the log', 'bytes', self.by(full=cases.parse_sizes('8:16m:8'), quick=[8, 4096, 65536, 1 << 20], tiny=[8]),
                     ['no restarts', 'log within budget'], one)

    def snapshots(self):
        """A step that rewrites 1 MiB of so much; auto takes its first snapshot after a second."""
        steps = self.by(full=50000, quick=3000, tiny=100)
        self.measure('overhead of snapshots', 'MiB', self.by(full=[16, 256, 1024], quick=[64], tiny=[16]), ['off', 'auto'],
                     lambda x, v: {'total': (float(self.ftrun('rewrite', ['--snapshot', v], '-m', x, '-r', 1, '-i', steps)), 'us')})

    def checkpoints(self):
        """Of a model that all ranks have alike, and of one of each; with a copy of as many bytes. Then what they save: rank 1 is
        killed 1,000 operations later."""
        sizes = self.by(full=[0, 1, 16, 64, 256], quick=[1, 64], tiny=[1])

        def cost(mib, variant):
            text = self.ftrun('checkpoint', ['--snapshot', 'off'], '-g', 0, '-l', 0, variant, mib, '-i', self.by(full=9, quick=5, tiny=3))
            checkpoint, copy = (float(v) for v in text.split())
            return {'total': (checkpoint, 'us'), 'memcpy': (copy, 'us')}

        def saved(mib, _):
            loaded, live = (float(v) / 1e3 for v in self.ftrun('checkpoint', ['--snapshot', 'off'], '-t', self.path('killed'), '-g', mib,
                                                                     '-n', 1000).split())
            return {'until it is loaded': (loaded, 'ms'), 'replay and rejoin': (live - loaded, 'ms'), 'total': (live, 'ms')}
        self.measure('overhead of checkpoints', 'MiB', sizes, ['-g', '-l'], cost, {'-g': 'global model', '-l': 'local models'})
        self.measure('recovery from a checkpoint', 'MiB', sizes, ['checkpoint'], saved)

    # ---- progress under kills ----

    def pids(self, name):
        """Of the job's ranks, as ftrun status tells them; 0 for one that is dead."""
        done = subprocess.run([self.mpi.launcher, 'status', '--json', name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False, timeout=30)
        try:
            return [r.get('pid') or 0 for r in json.loads(done.stdout)['per_rank']]
        except (ValueError, KeyError):
            return []

    def kill_some(self, job, name, rate, dice):
        """From when it has ranks until it ends: exponential times between kills of random ones, the first one soon. Returns how many."""
        kills, due = 0, time.monotonic() + min(dice.expovariate(rate), 1 / rate) if rate else float('inf')
        deadline = time.monotonic() + 300
        while job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
            if time.monotonic() < due:
                continue
            pids = [p for p in self.pids(name) if p]
            if pids:
                due += dice.expovariate(rate)
                try:
                    os.kill(dice.choice(pids), signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
        return kills

    def progress(self, rate, variant):
        name = 'faults-%d-%d' % (os.getpid(), self.number)
        report = self.path('report')
        seconds = self.by(full=20, quick=3, tiny=1)
        command = [self.mpi.launcher, '-n', '4', '--quiet', '--snapshot', 'off' if variant == 'start' else '0.2', '--job-name', name, '--report', report,
                   self.mpi.programs['steady'], '-t', str(seconds)]
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            kills = self.kill_some(job, name, rate, random.Random(self.number))
        finally:
            runs.end(job)
        out, err = (b.decode(errors='replace') for b in job.communicate())
        if job.returncode != 0:
            raise runs.Bad('exit code %d: %s\n%s' % (job.returncode, ' '.join(command), err[-500:]))
        with open(report, encoding='utf-8') as f:
            restarts = len(json.load(f)['restarts'])
        return {'total': (int(out.split()[0]) / seconds, 'steps/s'), 'kills': (kills, ''), 'restarts': (restarts, '')}

    def kills(self):
        """4 ranks. Every sum is checked by the program."""
        self.measure('progress under kills', 'kills a second', self.by(full=[0, 0.5, 1, 2, 4, 8, 16], quick=[0, 2], tiny=[0, 4]),
                     ['start', 'snapshot'], self.progress)

    def run(self, measures):
        for name in measures:
            getattr(self, name)()
        return self.rows


def build(mpi, directory):
    from . import mpis
    mpis.build([mpi], PROGRAMS + ['allreduce'], directory)


def write(rows, path):
    with open(path, 'w', newline='', encoding='utf-8') as f:
        out = csv.DictWriter(f, FIELDS, lineterminator='\n')
        out.writeheader()
        out.writerows(rows)
    sys.stdout.flush()
