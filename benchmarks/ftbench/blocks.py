# SPDX-License-Identifier: BSD-3-Clause
"""A case is one operation on so many ranks; a block is one size of it: one run of each MPI after the other, several times."""

import sys
import time

from . import cases, runs


class Case:
    """probe and trial first; then block for each size."""

    def __init__(self, benchmark, ranks, sizes, mpis, modes, options):
        """options: quick, seconds, repeat, deadline (None, or when repetitions end: time.monotonic), verbose, failures (a list that
        grows)."""
        self.benchmark, self.ranks, self.sizes = benchmark, ranks, [None] if benchmark == 'barrier' else sizes
        self.modes = [m for m in modes if any(mpi.key == 'ftmpi' for mpi in mpis)]
        self.options = options
        self.seconds = options.seconds     # of a run, at most and roughly
        self.us = {}        # by MPI's key and size: one call, roughly
        self.best = {}      # by MPI's key and size: names of the settings that take part
        self.mpis = [mpi for mpi in mpis if self.probe(mpi)]

    def failed(self, e):
        self.options.failures.append(str(e))
        print('! ' + str(e).splitlines()[0])

    def say(self, text):
        if self.options.verbose:
            print('  ' + text)

    def probe(self, mpi):
        """Whether it runs at all, and how long a call takes."""
        try:
            found = runs.latencies(mpi, self.benchmark, self.ranks, self.sizes, 5, 1, timeout=120)
        except runs.Bad as e:
            self.failed(e)
            return False
        for size, us in found.items():
            self.us[mpi.key, size] = us
            self.best[mpi.key, size] = mpi.likely(self.benchmark, size)
        return True

    def calls(self, mpi, size, seconds=None):
        return cases.affordable(cases.count_for(self.benchmark, self.ranks, size, self.options.quick), self.us[mpi.key, size],
                                seconds or self.seconds)

    def trial(self):
        """Which two settings of each of the others take part at each size: the fastest of a short run of all."""
        for mpi in self.mpis:
            settings = mpi.settings(self.benchmark)
            if len(settings) == 1 or self.options.quick:
                continue
            tried = {size: {} for size in self.sizes}
            for name, setting in settings.items():
                # Sizes of about the same number of calls go into one run.
                for group in self.groups(mpi):
                    calls = self.calls(mpi, group[-1], self.seconds / 5)
                    try:
                        for size, us in runs.latencies(mpi, self.benchmark, self.ranks, group, calls, cases.warmup(calls), setting,
                                                       timeout=120).items():
                            tried[size][name] = us
                    except runs.Bad as e:
                        self.say('%s, %s: %s' % (mpi.name, name, str(e).splitlines()[0]))
            for size, us in tried.items():
                if not us:
                    continue
                self.best[mpi.key, size] = sorted(us, key=us.get)[:2]
                self.us[mpi.key, size] = min(us.values())
                self.say('%s, %s: %s' % (mpi.name, cases.size_name(size), ', '.join(
                    '%s %.2f' % kv for kv in sorted(us.items(), key=lambda kv: kv[1]))))

    def groups(self, mpi):
        groups = []
        for size in self.sizes:
            if groups and self.calls(mpi, groups[-1][0]) < 8 * self.calls(mpi, size):
                groups[-1].append(size)
            else:
                groups.append([size])
        return groups

    def entries(self, size):
        """(MPI, mode, setting's name) of a block."""
        for mpi in self.mpis:
            if mpi.key == 'ftmpi':
                yield from ((mpi, mode, '') for mode in self.modes)
            else:
                yield from ((mpi, '', name) for name in self.best[mpi.key, size])

    def one(self, entry, size, last):
        """(calls, microseconds) of one run."""
        mpi, mode, name = entry
        calls = self.calls(mpi, size)
        if not mode:
            setting = mpi.settings(self.benchmark)[name]
            return calls, runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, cases.warmup(calls), setting)[size]
        us = self.wall_us(mpi, size) if mode == 'released' else None
        budget, calls, warmup = cases.budget(mode, self.benchmark, self.ranks, size, calls, us, cases.RELEASED_TIMES * self.seconds)
        kill = last and self.ranks > 1 and mode in ('within', 'sustained')
        return calls, runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, warmup, budget=budget, kill=kill)[size]

    def wall_us(self, mpi, size):
        """One call with all there is around it, by the clock of the wall: what a run that is to last seconds is planned by."""
        if ('wall', size) not in self.us:
            calls = self.calls(mpi, size, self.seconds / 5)
            begin = time.monotonic()
            runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, 2)
            self.us['wall', size] = (time.monotonic() - begin) * 1e6 / calls
        return self.us['wall', size]

    def block(self, size, watch, attempt):
        """Rows for results.Table; one attempt."""
        entries = list(self.entries(size))
        rows = []
        span = watch.begin()
        last = self.options.repeat - 1
        for i in range(self.options.repeat):
            if self.options.deadline and time.monotonic() > self.options.deadline:
                i = last
            for entry in entries:
                try:
                    calls, us = self.one(entry, size, i == last)
                except runs.Bad as e:
                    self.failed(e)
                    continue
                rows.append({'benchmark': self.benchmark, 'ranks': self.ranks, 'size': size, 'mpi': entry[0].name, 'mode': entry[1],
                             'setting': entry[2], 'run': i + 1, 'operations': calls, 'us': us, 'attempt': attempt})
            if i == last:
                break
        span.stop()
        for row in rows:
            row.update(line_ns_before=span.before, line_ns_after=span.after, stolen_ms=span.stolen, others=span.others, moved=span.moved)
        sys.stdout.flush()
        return rows
