# SPDX-License-Identifier: BSD-3-Clause
"""What happened to the machine meanwhile: a virtual one moves, and two moments of it are two machines."""

import os
import platform
import subprocess
import time

from .mpis import HERE, fresh

SAME = 1.5      # distances of the cores of one state of the machine are no further apart than this factor: 25 to 36 ns within a second, and 150 to 180
STOLEN, STOLEN_MS = 0.01, 20    # of its time, and no less: a run is disturbed. The counter's step is 10 ms


def same(one, other):
    return max(one, other) <= SAME * min(one, other)


def children():
    """Ticks of the processors that we have used, and those we have waited for."""
    t = os.times()
    return (t.children_user + t.children_system + t.user + t.system) * os.sysconf('SC_CLK_TCK')


def everybody():
    """The same of all processes that /proc has, living or collected."""
    ticks = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid, encoding='utf-8', errors='replace') as f:
                ticks += sum(int(v) for v in f.read().rpartition(')')[2].split()[11:15])
        except OSError:
            pass    # it has just been collected
    return ticks


class Watch:
    """cpus: the two whose distance is measured. lab: all processes that /proc has here are our own or of the jobs we measure; without one, jobs are our
    children. (A lab's are not: nodes that were detached are collected by their host's first process.)"""

    def __init__(self, directory, lab=False):
        self.own = everybody if lab else children
        os.makedirs(directory, exist_ok=True)
        self.line = os.path.join(directory, 'cacheline')
        self.cpus = sorted(os.sched_getaffinity(0))[:2]
        subprocess.run(['cc', '-O2', '-pthread', '-o', fresh(self.line), os.path.join(HERE, 'cacheline.c')], check=True)
        os.replace(fresh(self.line), self.line)

    def begin(self, after=None, tries=3):
        """after: the span that has just ended."""
        return Span(self, after, tries)

    def distance(self, tries):
        """ns for a cache line to change hands; the best of so many tries (the median of each). 0 with one processor."""
        if self.cpus[0] == self.cpus[-1]:
            return 0.0
        return min(float(subprocess.run([self.line] + [str(c) for c in self.cpus], stdout=subprocess.PIPE, check=True)
                         .stdout.split()[0]) for _ in range(tries))


class Span:
    """Between two moments. stop() fills after, stolen (ms), others (share of the processors that went elsewhere), moved."""

    def __init__(self, watch, after, tries):
        self.watch, self.tries = watch, tries
        self.before = after.after if after else watch.distance(tries)
        self.began = time.monotonic()
        self.stat, self.own = self.ticks(), watch.own()

    @staticmethod
    def ticks():
        with open('/proc/stat', encoding='ascii') as f:
            n = [int(v) for v in f.readline().split()[1:]]
        return {'busy': n[0] + n[1] + n[2] + n[5] + n[6], 'stolen': n[7]}

    def stop(self):
        cores, tick = len(os.sched_getaffinity(0)), os.sysconf('SC_CLK_TCK')
        wall = max(time.monotonic() - self.began, 0.001) * tick * cores
        now = self.ticks()
        stolen = now['stolen'] - self.stat['stolen']
        self.stolen = stolen * 1000 // tick
        self.others = max(0.0, (now['busy'] - self.stat['busy'] - (self.watch.own() - self.own)) / wall)
        self.after = self.watch.distance(self.tries)
        self.disturbed = (stolen / wall > STOLEN and self.stolen > STOLEN_MS) or self.others > 0.05
        self.moved = not same(self.before, self.after) or self.disturbed
        return self

    def around(self, line=None):
        """What a row says of it; line: (before, after) of its own part, if that is known."""
        before, after = line or (self.before, self.after)
        return {'line_ns_before': before, 'line_ns_after': after, 'moved': not same(before, after) or self.disturbed}

    def text(self):
        return '%.0f -> %.0f, %d, %.0f%%%s' % (self.before, self.after, self.stolen, self.others * 100, ' *' if self.moved else '')


def describe():
    """One line for the report."""
    model = next((l.partition(':')[2].strip() for l in open('/proc/cpuinfo', encoding='utf-8') if l.startswith('model name')), platform.machine())
    return '%s, %d processors, Linux %s' % (model, len(os.sched_getaffinity(0)), platform.release())
