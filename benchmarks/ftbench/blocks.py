# SPDX-License-Identifier: BSD-3-Clause
"""A case is one operation on so many ranks; a block is one size of it: one run of each MPI after the other, several times."""

import os
import sys
import time

from . import cases, results, runs


class Case:
    """probe and trial first; then block for each size."""

    def __init__(self, benchmark, ranks, sizes, mpis, modes, options):
        """options: quick, seconds, repeat, enough (runs of each that are enough if they are steady), limit (of a run, seconds), verbose,
        failures and left_out (lists that grow)."""
        self.benchmark, self.ranks, self.sizes = benchmark, ranks, [None] if benchmark == 'barrier' else sizes
        self.modes = [m for m in modes if any(mpi.key == 'ftmpi' for mpi in mpis)]
        self.options = options
        self.seconds = options.seconds     # of a run, at most and roughly
        self.us = {}        # by MPI's key and size: one call, roughly
        self.wall = {}      # the same with all there is around it, by the clock of the wall: what runs are planned by
        self.best = {}      # by MPI's key and size: names of the settings that take part
        self.mpis = self.hopeful([mpi for mpi in mpis if self.probe(mpi)])

    def failed(self, e):
        self.options.failures.append(str(e))
        print('! ' + str(e).splitlines()[0])

    def say(self, text):
        if self.options.verbose:
            print('  ' + text)

    def leave_out(self, mpi, why):
        self.options.left_out.append('%s, %s on %d ranks (%s)' % (mpi.name, self.benchmark, self.ranks, why))

    def probe(self, mpi):
        """Whether it runs at all, and how long a call takes: a few calls, which are cold, then as many as take no time."""
        calls, most = cases.PROBE_CALLS
        try:
            while calls:
                wall = {}
                found = runs.latencies(mpi, self.benchmark, self.ranks, self.sizes, calls, 1 + calls // 10, timeout=self.options.limit, wall=wall)
                for size in self.sizes:
                    self.us[mpi.key, size] = found[size]
                    self.wall[mpi.key, size] = max(found[size], wall.get(size, 0))
                more = min(most, int(cases.PROBE_SECONDS * 1e6 / sum(self.wall[mpi.key, s] for s in self.sizes)))
                calls = more if calls == cases.PROBE_CALLS[0] and more > 4 * calls else 0
        except runs.Late:
            self.leave_out(mpi, 'a few calls take longer than %d s' % self.options.limit)
            return False
        except runs.Bad as e:
            self.failed(e)
            return False
        for size in self.sizes:
            self.best[mpi.key, size] = mpi.likely(self.benchmark, size)
        return True

    def hopeful(self, mpis):
        """With more ranks than processors: without those that are slower by far than another, of the others, whatever the size. They
        are not what ftmpi is measured by, and take most of the time."""
        if self.ranks <= len(os.sched_getaffinity(0)):
            return mpis
        stay = []
        for mpi in mpis:
            rest = [m for m in mpis if 'ftmpi' not in (mpi.key, m.key) and m is not mpi]
            if any(all(self.us[mpi.key, s] > cases.HOPELESS * self.us[m.key, s] for s in self.sizes) for m in rest):
                self.leave_out(mpi, '%d times slower than another at least' % cases.HOPELESS)
            else:
                stay.append(mpi)
        return stay

    def calls(self, mpi, size, seconds=None):
        return cases.affordable(cases.count_for(self.benchmark, self.ranks, size, self.options.quick), self.wall[mpi.key, size],
                                seconds or self.seconds)

    def trial(self, until=None):
        """Which two settings of each of the others take part at each size: the fastest of a short run of all (those that
        are tried before `until`, time.monotonic)."""
        for mpi in self.mpis:
            settings = mpi.settings(self.benchmark)
            if len(settings) == 1 or self.options.quick:
                continue
            tried = {size: {} for size in self.sizes}
            for name, setting in settings.items():
                if until and time.monotonic() > until:
                    self.say('%s, %s: not tried, for want of time' % (mpi.name, name))
                    continue
                # Sizes of about the same number of calls go into one run.
                for group in self.groups(mpi):
                    calls = self.calls(mpi, group[-1], self.seconds / 5)
                    try:
                        for size, us in runs.latencies(mpi, self.benchmark, self.ranks, group, calls, cases.warmup(calls), setting,
                                                       timeout=self.options.limit).items():
                            tried[size][name] = us
                    except runs.Bad as e:
                        self.say('%s, %s: %s' % (mpi.name, name, str(e).splitlines()[0]))
            for size, us in tried.items():
                if not us:
                    continue
                self.best[mpi.key, size] = sorted(us, key=us.get)[:2]
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
            return calls, runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, cases.warmup(calls), setting,
                                         timeout=self.options.limit)[size]
        us = self.wall[mpi.key, size]
        budget, calls, warmup = cases.budget(mode, self.benchmark, self.ranks, size, calls, us, cases.RELEASED_TIMES * self.seconds)
        kill = last and self.ranks > 1 and mode in ('within', 'sustained')
        return calls, runs.latencies(mpi, self.benchmark, self.ranks, [size], calls, warmup, budget=budget, kill=kill,
                                     timeout=self.options.limit)[size]

    def steady(self, rows):
        """Whether no MPI's runs so far are far from each other."""
        by_entry = {}
        for r in rows:
            by_entry.setdefault((r['mpi'], r['mode'], r['setting']), []).append(r['us'])
        return all(results.median_spread(us)[1] <= cases.STEADY for us in by_entry.values())

    def block(self, size, watch, attempt, until=None):
        """Rows for results.Table; one attempt. Which run is the last is known before it is made, since that is the one in which a
        rank is killed: the one that `until` (time.monotonic) allows, or the one after steady ones."""
        entries = list(self.entries(size))
        rows = []
        span = watch.begin()
        began, repeat = time.monotonic(), self.options.repeat
        for i in range(repeat):
            now = time.monotonic()
            late = until and now + 2 * (now - began) / max(i, 1) > until
            last = i == repeat - 1 or (i and late) or (i >= self.options.enough - 1 and self.steady(rows)) or bool(until and now > until)
            for entry in entries:
                try:
                    calls, us = self.one(entry, size, last)
                except runs.Bad as e:
                    self.failed(e)
                    continue
                rows.append({'benchmark': self.benchmark, 'ranks': self.ranks, 'size': size, 'mpi': entry[0].name, 'mode': entry[1],
                             'setting': entry[2], 'run': i + 1, 'operations': calls, 'us': us, 'attempt': attempt})
            if last:
                break
        span.stop()
        for row in rows:
            row.update(line_ns_before=span.before, line_ns_after=span.after, stolen_ms=span.stolen, others=span.others, moved=span.moved)
        sys.stdout.flush()
        return rows
