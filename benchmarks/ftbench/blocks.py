# SPDX-License-Identifier: BSD-3-Clause
"""A case is one operation on so many ranks; a block is a group of its sizes: one run of each MPI through them after the other, several times."""

import json
import math
import os
import sys
import time

from . import cases, results, runs


class Case:
    """groups first; for each of them trial, then block."""

    def __init__(self, benchmark, ranks, sizes, mpis, modes, options):
        """options: quick, trial, seconds, settled (None: as long as it takes), repeat, enough (runs of each that are enough if they are steady), limit (of a
        run, seconds), verbose; failures, left_out and hopeless grow."""
        self.benchmark, self.ranks, self.sizes = benchmark, ranks, [None] if benchmark in cases.UNSIZED else sizes
        self.modes = [m for m in modes if any(mpi.key == 'ftmpi' for mpi in mpis)]
        if benchmark in cases.MESSAGES and self.modes:     # --log-prepare prepares the log of MPI_COMM_WORLD's collectives
            self.modes = ['settled']
        self.options = options
        self.seconds = options.seconds     # of a size in a run, at most and roughly
        self.settled = options.settled if options.settled is not None else cases.settled_seconds(ranks, len(os.sched_getaffinity(0)))
        self.us = {}        # by MPI's key and size: one call, roughly. Sizes that are missing did not come to an end
        self.wall = {}      # the same with all there is around it, by the clock of the wall: what runs are planned by
        self.warm = {}      # size: us of ftmpi within its prepared log, last; what is settled takes about as long
        self.best = {}      # by MPI's key and size: names of the settings that take part
        self.slow = set()   # (MPI's key, size) that are not measured
        self.mpis = self.hopeful([mpi for mpi in mpis if mpi.takes(benchmark, ranks) and self.probe(mpi)])

    def failed(self, e):
        self.options.failures.append(str(e))
        print('! ' + str(e).splitlines()[0])

    def say(self, text):
        if self.options.verbose:
            print('  ' + text)

    def leave_out(self, mpi, why):
        self.options.left_out.append('%s, %s on %d ranks (%s)' % (mpi.name, self.benchmark, self.ranks, why))

    def why_no_figure(self, column, size):
        mpi = next(m for m in self.mpis if m.name == column[0])
        return 'slower' if (mpi.key, size) in self.slow else 'failed' if self.has(mpi, [size]) else 'no end'

    def groups(self):
        return [self.sizes[i:i + cases.GROUP] for i in range(0, len(self.sizes), cases.GROUP)]

    def has(self, mpi, sizes):
        return [size for size in sizes if (mpi.key, size) in self.us]

    def probe(self, mpi):
        """Whether it runs at all, and how long a call takes: a few calls, which are cold, then as many as take no time. An MPI that does not come
        to an end in time has those sizes that it got to."""
        if (mpi.key, self.benchmark) in self.options.hopeless:
            self.leave_out(mpi, 'slower by far on fewer ranks already')
            return False
        few, most = cases.PROBE_CALLS
        try:
            self.probe_once(mpi, {size: few if (size or 0) <= 1 << 20 else cases.PROBE_LARGE for size in self.sizes})
            more = min(most, int(cases.PROBE_SECONDS * 1e6 / sum(self.wall[mpi.key, s] for s in self.sizes)))
            if more > 4 * few:
                self.probe_once(mpi, dict.fromkeys(self.sizes, more))
        except runs.Late as e:
            self.found(mpi, {size: us for size, us in runs.rows(e.text).items() if size in self.sizes}, runs.walls(e.text))
            rest = self.sizes[len(self.has(mpi, self.sizes)):]
            if rest:
                self.leave_out(mpi, 'no end of a few calls in %d s%s' % (self.options.limit, ': none from %s on' % cases.size_name(rest[0]) if rest[0] else ''))
        except runs.Bad as e:
            self.failed(e)
            return False
        return True

    def probe_once(self, mpi, calls):
        wall = {}
        us = runs.latencies(mpi, self.benchmark, self.ranks, calls, {size: 1 + n // 10 for size, n in calls.items()}, timeout=self.options.limit, wall=wall)
        self.found(mpi, us, wall)

    def found(self, mpi, us, wall):
        for size in us:
            self.us[mpi.key, size] = us[size]
            self.wall[mpi.key, size] = max(us[size], wall.get(size, 0))
            self.best[mpi.key, size] = mpi.likely(self.benchmark, size)

    def hopeful(self, mpis):
        """With more ranks than processors: without those that are slower by far than another, of the others: at those sizes, and wholly where that is so
        whatever the size. They are not what ftmpi is measured by, and take most of the time; with still more ranks the latter are not tried again."""
        if self.ranks <= len(os.sched_getaffinity(0)):
            return mpis
        rivals = [mpi for mpi in mpis if mpi.rival]
        self.slow = {(mpi.key, s) for mpi in rivals for other in rivals for s in self.has(mpi, self.has(other, self.sizes))
                     if self.us[mpi.key, s] > cases.HOPELESS * self.us[other.key, s]}
        stay = []
        for mpi in mpis:
            at = [s for s in self.has(mpi, self.sizes) if (mpi.key, s) in self.slow]
            if at and at == self.has(mpi, self.sizes):
                self.leave_out(mpi, '%d times slower than another at least' % cases.HOPELESS)
                self.options.hopeless.add((mpi.key, self.benchmark))
                continue
            if at:
                self.leave_out(mpi, '%d times slower than another at least at %s' % (cases.HOPELESS, ', '.join(map(cases.size_name, at))))
            stay.append(mpi)
        for key in self.slow:
            del self.us[key]
        return stay

    def calls(self, mpi, sizes, seconds=None, wall=None):
        return {size: cases.affordable(cases.count_for(self.benchmark, self.ranks, size, self.options.quick),
                                       wall[size] if wall else self.wall[mpi.key, size], seconds or self.seconds) for size in sizes}

    def once_ready(self, mpi, size):
        """How long a call of ftmpi takes once its memory is ready, roughly, in us: the probe, in which nothing is, takes several times as long, and what is
        planned by that would time the first few calls of a job where of the others it times hundreds."""
        return self.warm.get(size) or min(self.wall[other.key, size] for other in self.mpis if size in self.has(other, [size]))

    def run(self, mpi, calls, **more):
        return runs.latencies(mpi, self.benchmark, self.ranks, calls, {size: cases.warmup(n) for size, n in calls.items()}, **more)

    def tries(self, group):
        """(MPI, setting's name) of all that a trial compares."""
        return [(mpi, name) for mpi in self.mpis if self.options.trial and len(mpi.settings(self.benchmark)) > 1 and self.has(mpi, group)
                for name in mpi.settings(self.benchmark)]

    def one_try(self, mpi, name, group):
        """{size: microseconds}, empty: it failed."""
        calls = self.calls(mpi, self.has(mpi, group), self.seconds / 5)
        planned = sum(n * 1.1 * self.wall[mpi.key, size] for size, n in calls.items()) / 1e6
        try:
            return self.run(mpi, calls, setting=mpi.settings(self.benchmark)[name], timeout=min(self.options.limit, 5 + cases.TRIAL_LIMIT * planned))
        except runs.Bad as e:
            self.say('%s, %s: %s' % (mpi.name, name, str(e).splitlines()[0]))
            return {}

    def trial(self, group, until=None):
        """Which two settings of each of the others take part at each size: those with the fastest run of some short ones of all, by turns
        (none begins after `until`, time.monotonic)."""
        tries = self.tries(group)
        found = {}  # (MPI's key, setting's name): {size: us}
        for mpi, name in tries * cases.TRIALS:
            before = found.get((mpi.key, name), {size: math.inf for size in group})
            if before and not (until and time.monotonic() > until):
                us = self.one_try(mpi, name, group)
                found[mpi.key, name] = {size: min(us[size], before[size]) for size in us}
        for mpi, name in tries:
            if (mpi.key, name) not in found:
                self.say('%s, %s: not tried, for want of time' % (mpi.name, name))
        for mpi in self.mpis:
            for size in group:
                us = {name: sizes[size] for (key, name), sizes in found.items() if key == mpi.key and size in sizes}
                if us:
                    self.best[mpi.key, size] = sorted(us, key=us.get)[:2]
                    self.say('%s, %s: %s' % (mpi.name, cases.size_name(size), ', '.join('%s %.2f' % kv for kv in sorted(us.items(), key=lambda kv: kv[1]))))

    def entries(self, group):
        """(MPI, mode, setting's name, sizes) of a block."""
        for mpi in self.mpis:
            sizes = self.has(mpi, group)
            if mpi.key == 'ftmpi':
                yield from ((mpi, mode, '', sizes) for mode in self.modes)
            else:
                names = dict.fromkeys(name for size in sizes for name in self.best[mpi.key, size])
                yield from ((mpi, '', name, [s for s in sizes if name in self.best[mpi.key, s]]) for name in names)

    def one(self, entry, last):
        """{size: (calls, microseconds)} and {size: (ns for a line to change hands before, after)} of one run; the latter as far as it is known."""
        mpi, mode, name, sizes = entry
        lines = {}
        # A settled job lives by its snapshots. ftrun takes none of a rank that shares memory, as these do meanwhile, and asks again after 2 s only.
        line = lines if self.meets(mpi) and mode != 'settled' else None
        wall = {size: self.once_ready(mpi, size) for size in sizes} if mode else None
        calls = self.calls(mpi, sizes, wall=wall)
        if mode:
            budget, calls, warmup = cases.budget(mode, self.benchmark, self.ranks, calls, wall, self.seconds)
            if mode == 'settled':
                us = self.one_settled(mpi, calls, warmup, line)
            else:
                us = runs.latencies(mpi, self.benchmark, self.ranks, calls, warmup, budget=budget, timeout=self.options.limit, line=line,
                                    kill=last and self.ranks > 1 and mode in ('within', 'sustained'))
                if mode == 'within':
                    self.warm.update(us)
        else:
            us = self.run(mpi, calls, setting=mpi.settings(self.benchmark)[name], timeout=self.options.limit, line=line)
        return {size: (calls[size], us[size]) for size in sizes}, lines

    def meets(self, mpi):
        """Whether its first and its last rank can measure how far processors are from each other (the hosts of a lab are of one machine, too, and share its
        files)."""
        return mpi.meets and self.ranks > 1 and len(os.sched_getaffinity(0)) > 1

    def one_settled(self, mpi, calls, warmup, line):
        """ftrun's own report says whether it was; if not, once more, with twice the time before, now and from now on."""
        report = os.path.join(os.path.dirname(mpi.programs[self.benchmark]), 'report.%d' % os.getpid())
        try:
            for _ in range(cases.SETTLED_TRIES):
                us = runs.latencies(mpi, self.benchmark, self.ranks, calls, warmup, budget=['--report', report], settle=self.settled, line=line,
                                    timeout=self.options.limit + self.settled)
                with open(report, encoding='utf-8') as f:
                    said = json.load(f)
                if self.options.settled is not None or cases.is_settled(said, self.benchmark, self.ranks, calls):
                    return us
                self.say('not settled after %d s: %s snapshots, %s bytes of log, %s held' %
                         (self.settled, said['snapshots']['taken'], said['log_bytes'], said['peak_log_bytes']))
                self.settled *= 2
        finally:
            if os.path.exists(report):
                os.unlink(report)
        raise runs.Bad('%s, %d ranks: not settled after %d s' % (self.benchmark, self.ranks, self.settled // 2))

    def steady(self, rows):
        return all(results.Block([r for r in rows if r['size'] == size]).steady() for size in {r['size'] for r in rows})

    def block(self, group, watch, attempt, until=None):
        """Rows for results.Table; one attempt. Which run is the last is known before it is made, since that is the one in which a
        rank is killed: the one that `until` (time.monotonic) allows, or the one after steady ones."""
        entries = list(self.entries(group))
        rows = []
        span = None
        began, repeat = time.monotonic(), self.options.repeat
        for i in range(repeat):
            now = time.monotonic()
            late = until and now + 2 * (now - began) / max(i, 1) > until
            last = i == repeat - 1 or (i and late) or (i >= self.options.enough - 1 and self.steady(rows)) or bool(until and now > until)
            for entry in entries:
                span = watch.begin(span, tries=1)
                try:
                    found, lines = self.one(entry, last)
                except runs.Bad as e:
                    self.failed(e)
                    found, lines = {}, {}
                span.stop()
                rows += [{'benchmark': self.benchmark, 'ranks': self.ranks, 'size': size, 'mpi': entry[0].name, 'mode': entry[1],
                          'setting': entry[2], 'run': i + 1, 'operations': calls, 'us': us, 'stolen_ms': span.stolen, 'others': span.others, 'attempt': attempt,
                          **span.around(lines.get(size))} for size, (calls, us) in found.items()]
            if last:
                break
        sys.stdout.flush()
        return rows
