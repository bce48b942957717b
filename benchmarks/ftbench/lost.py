# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/hosts --lost: how long a job stands still when a host is lost."""

import os
import statistics
import subprocess
import threading
import time

from . import mpis

LAB = os.path.join(os.path.dirname(mpis.HERE), 'compat-tests', 'lib')
OPERATIONS = 1500   # one each millisecond, as rank 0 does them
LIVES_S = 0.7       # so long before its host is lost
PATIENCE_S = 60
WAYS = {'lose': 'silently (the cable first)', 'kill': 'loudly (its sockets are closed)'}


class Bad(Exception):
    pass


def lab(*words):
    # Processes of a host outlive this call: they must not hold a pipe that somebody reads to its end.
    subprocess.run([os.path.join(LAB, 'lab.sh')] + list(words), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def once(ftrun, program, way):
    """Milliseconds: (from the loss until ftrun says that its ranks start again, from there to the end of the call in which rank 0 was)."""
    command = [ftrun, '--launcher', 'exec:' + os.path.join(LAB, 'launch.sh'), '-n', '2', '--host', 'h1,h2,h3', '--spares', '1',
               program, '-n', str(OPERATIONS)]
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    told, gaps, begun = [], [], threading.Event()

    def read_errors():
        for line in job.stderr:
            told.append((time.monotonic_ns(), line.strip()))

    def read_output():
        for line in job.stdout:
            if line.startswith('begun'):
                begun.set()
            else:
                gaps.append([int(w) for w in line.split()])

    readers = [threading.Thread(target=f) for f in (read_errors, read_output)]
    for r in readers:
        r.start()
    try:
        begun.wait(PATIENCE_S)
        time.sleep(LIVES_S)
        lost = time.monotonic_ns()
        lab(way, 'h2')
        code = job.wait(PATIENCE_S)
    finally:
        job.kill()
        for r in readers:
            r.join()
        lab('heal', 'h2')
        lab('boot', 'h2')
    known = [t for t, line in told if 'start again' in line]
    ended = [e for called, e in gaps if e > lost]
    if code or not known or not ended:
        raise Bad('%s: code %s; %s' % (' '.join(command), code, '; '.join(line for _, line in told) or 'nothing was said'))
    return (known[0] - lost) / 1e6, (ended[0] - known[0]) / 1e6


def spread(values):
    return '%.0f (%.0f to %.0f)' % (statistics.median(values), min(values), max(values))


def run(tree, times):
    """Prints a line for each way to lose a host; whether all went well."""
    ours = mpis.Ftmpi(tree)
    mpis.build([ours], ['gap'], os.path.join(tree, 'benchmarks', 'compare.d'))
    ftrun, program = ours.launcher, ours.programs['gap']
    good = True
    print('one of two hosts is lost, a rank on each, a spare one; milliseconds, medians of %d (smallest to largest)' % times)
    for way, text in WAYS.items():
        try:
            runs = [once(ftrun, program, way) for _ in range(times)]
            print('%-34s known after %-24s next committed unit after that: %s' % (text, spread([a for a, _ in runs]), spread([b for _, b in runs])), flush=True)
        except Bad as e:
            print('FAILED: %s' % e, flush=True)
            good = False
    return good
