# SPDX-License-Identifier: BSD-3-Clause
"""Every single run, and what is made of them: medians, spread, ratios, geometric means against the bars."""

import collections
import csv
import math
import os
import statistics

from . import cases, machine, mpis

FIELDS = {'benchmark': str, 'ranks': int, 'size': int, 'mpi': str, 'mode': str, 'setting': str, 'run': int, 'operations': int, 'us': float,
          'line_ns_before': float, 'line_ns_after': float, 'stolen_ms': int, 'others': float, 'moved': int, 'attempt': int}
OURS = 'ftmpi'
# Measured without any MPI: limits, not rivals.
RAW, RAW_LOGGED, BARE = 'TCP', 'TCP+log', mpis.Bare.name
LIMITS = RAW, RAW_LOGGED, BARE


def median_spread(values):
    m = statistics.median(values)
    return m, (max(values) - min(values)) / m if m else 0.0


class Cell:
    """One MPI (in one mode) at one size: its better setting."""

    def __init__(self, values, setting):
        self.setting = setting
        self.us, self.spread = median_spread(values)
        self.n = len(values)


class Block:
    """All runs at one size, and those of them that count: undisturbed ones, of that state of the machine (the distance of its cores) of which there are most,
    if these are enough of each column at each of its settings; else all, and it has moved."""

    def __init__(self, rows):
        self.all = self.rows = rows
        wanted = {}     # of each column: as many as one attempt makes, if these are fewer
        for attempt in {r['attempt'] for r in rows}:
            for column, n in self.counts(r for r in rows if r['attempt'] == attempt).items():
                wanted[column] = min(cases.ENOUGH, max(n, wanted.get(column, 0)))
        good = [r for r in rows if not r['moved']]
        states = [[r for r in good if machine.same(r['line_ns_before'], line) and machine.same(r['line_ns_after'], line)]
                  for line in {r['line_ns_before'] for r in good}]

        def has(some):
            counts = self.counts(some)
            return sum(min(n, counts[column]) for column, n in wanted.items())

        best = max(states, key=lambda some: (has(some), len(some)), default=[])
        self.moved = has(best) < sum(wanted.values())
        if not self.moved:
            self.rows = best

    @staticmethod
    def counts(rows):
        return collections.Counter((r['mpi'], r['mode'], r['setting']) for r in rows)

    def steady(self):
        """Whether it has enough runs that count, and none are far from each other."""
        by_column = {}
        for r in self.rows:
            by_column.setdefault((r['mpi'], r['mode'], r['setting']), []).append(r['us'])
        return not self.moved and all(len(us) >= cases.ENOUGH and median_spread(us)[1] <= cases.STEADY for us in by_column.values())

    def state(self):
        """For people: distance, runs that count, and what was stolen by and went to others in the worst of them."""
        return '%.0f ns, %d of %d, %d ms, %.0f%%%s' % (statistics.median(r['line_ns_before'] for r in self.rows), len(self.rows), len(self.all),
                                                     max(r['stolen_ms'] for r in self.rows), max(r['others'] for r in self.rows) * 100, ' *' if self.moved else '')


class Table:
    def __init__(self):
        self.rows = []
        self.known = {}     # blocks, and of how many rows they were made

    @classmethod
    def read(cls, path):
        table = cls()
        with open(path, newline='', encoding='utf-8') as f:
            for row in csv.DictReader(f):
                table.rows.append({k: None if k == 'size' and row[k] == '' else kind(row[k]) for k, kind in FIELDS.items()})
        return table

    @classmethod
    def read_if_there(cls, path):
        return cls.read(path) if os.path.exists(path) else cls()

    def write(self, path):
        with open(path, 'w', newline='', encoding='utf-8') as f:
            out = csv.writer(f, lineterminator='\n')
            out.writerow(FIELDS)
            for row in self.rows:
                out.writerow(['' if row[k] is None else '%.4f' % row[k] if k in ('us', 'others') else int(row[k]) if k == 'moved' else row[k]
                              for k in FIELDS])

    def block(self, benchmark, ranks, size):
        key = benchmark, ranks, size
        made, block = self.known.get(key, (None, None))
        if made != len(self.rows):
            block = Block([r for r in self.rows if (r['benchmark'], r['ranks'], r['size']) == key])
            self.known[key] = len(self.rows), block
        return block

    def cell(self, benchmark, ranks, size, column):
        """column: (MPI's name, mode). None without a run."""
        tried = {}
        for r in self.block(benchmark, ranks, size).rows:
            if (r['mpi'], r['mode']) == column:
                tried.setdefault(r['setting'], []).append(r['us'])
        return min((Cell(v, s) for s, v in tried.items()), key=lambda c: c.us, default=None)

    def columns(self):
        """The others first, then our modes."""
        seen = dict.fromkeys((r['mpi'], r['mode']) for r in self.rows)
        return sorted(seen, key=lambda c: c[0] == OURS)

    def kinds(self):
        """(benchmark, ranks), as measured."""
        return list(dict.fromkeys((r['benchmark'], r['ranks']) for r in self.rows))

    def sizes(self, benchmark, ranks):
        return list(dict.fromkeys(r['size'] for r in self.rows if (r['benchmark'], r['ranks']) == (benchmark, ranks)))

    def best_other(self, benchmark, ranks, size):
        cells = [self.cell(benchmark, ranks, size, c) for c in self.columns() if c[0] not in (OURS,) + LIMITS]
        return min((c.us for c in cells if c), default=None)

    def ratio(self, benchmark, ranks, size, mode):
        """The better of the others over ftmpi: above 1, ftmpi is faster. None if one of the two is missing."""
        return self.lead(benchmark, ranks, size, (OURS, mode))

    def lead(self, benchmark, ranks, size, column):
        mine, best = self.cell(benchmark, ranks, size, column), self.best_other(benchmark, ranks, size)
        return best / mine.us if mine and best and mine.us else None

    @staticmethod
    def mean(ratios):
        """Geometric, of those there are; None of none."""
        logs = [math.log(r) for r in ratios if r]
        return math.exp(statistics.fmean(logs)) if logs else None

    def summary(self):
        """For each case and mode: geometric mean, smallest point and its size, sizes, the bar (None: none), what a log leaves at most (None: not
        known), moved blocks."""
        for benchmark, ranks in self.kinds():
            for mode in [c[1] for c in self.columns() if c[0] == OURS]:
                ratios = {s: self.ratio(benchmark, ranks, s, mode) for s in self.sizes(benchmark, ranks)}
                ratios = {s: r for s, r in ratios.items() if r}
                if not ratios:
                    continue
                least = min(ratios, key=ratios.get)
                yield {'benchmark': benchmark, 'ranks': ranks, 'mode': mode, 'points': len(ratios), 'least': ratios[least],
                       'least_size': least, 'mean': self.mean(ratios.values()),
                       'most': self.mean(self.lead(benchmark, ranks, s, (BARE, '')) for s in ratios),
                       'bar': cases.MESSAGE_BAR if benchmark in cases.MESSAGES else cases.BARS.get(ranks, {}).get(benchmark),
                       'moved': sum(self.block(benchmark, ranks, s).moved for s in ratios)}


def summary_text(table):
    """The same as lines."""
    lines = []
    for s in table.summary():
        bar = '' if s['bar'] is None else ', wanted %.1fx: %s' % (s['bar'], 'reached' if s['mean'] >= s['bar'] else 'MISSED')
        low = ' BELOW %.1fx' % cases.POINT_BAR if s['least'] < cases.POINT_BAR else ''
        moved = ', %d blocks in which the machine moved' % s['moved'] if s['moved'] else ''
        most = ', %.2fx by %s' % (s['most'], BARE) if s['most'] else ''
        lines.append('%-11s %3d ranks  %-9s geometric mean of %d: %.2fx%s%s; least %.2fx at %s%s%s' % (
            s['benchmark'], s['ranks'], s['mode'], s['points'], s['mean'], bar, most, s['least'], cases.size_name(s['least_size']), low, moved))
    return lines
