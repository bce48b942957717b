# SPDX-License-Identifier: BSD-3-Clause
"""One run of a program: its command, its end, its rows."""

import os
import re
import signal
import subprocess
import tempfile

from . import cases


class Bad(Exception):
    pass


class Late(Bad):
    """text: what it had printed until then."""

    def __init__(self, told, text):
        super().__init__(told)
        self.text = text


def end(job):
    """Nothing stays behind: launchers end their ranks, which have sessions of their own."""
    if job.poll() is None:
        job.terminate()
        try:
            job.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def output(command, env=None, timeout=300):
    """What it prints on standard output; raises Bad unless it ends well in time."""
    # A session of its own, so that a launcher that hangs can be ended with everything it started.
    job = subprocess.Popen(command, env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = job.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as e:
        raise Late('no end after %d s: %s' % (timeout, ' '.join(command)), (e.output or b'').decode(errors='replace')) from e
    finally:
        end(job)    # also when we are told to stop ourselves
    text = out.decode(errors='replace')
    if job.returncode != 0:
        raise Bad('exit code %d: %s\n%s%s' % (job.returncode, ' '.join(command), text[-500:], err.decode(errors='replace')[-800:]))
    return text


def rows(text):
    """{size: microseconds} as OSU's programs print them; size None if there is no such column."""
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if not fields or not all(re.fullmatch(r'[0-9.]+', f) for f in fields[:2]):
            continue
        found[int(fields[0]) if len(fields) > 1 else None] = float(fields[1] if len(fields) > 1 else fields[0])
    return found


def walls(text):
    """{size: microseconds} of a call with all that is around it (a barrier, say), as --wall has them printed."""
    found = (re.fullmatch(r'# Wall +([0-9]+|-) +([0-9.]+)', line) for line in text.splitlines())
    return {None if m[1] == '-' else int(m[1]): float(m[2]) for m in found if m}


def lines(text):
    """{size: (ns before, ns after)}, as --line-file has them printed, where both are known."""
    found = (re.fullmatch(r'# Line +([0-9]+|-) +([0-9.]+) +([0-9.]+)', line) for line in text.splitlines())
    return {None if m[1] == '-' else int(m[1]): (float(m[2]), float(m[3])) for m in found if m and float(m[2]) and float(m[3])}


def latencies(mpi, benchmark, ranks, calls, warmup, setting=([], {}), budget=(), kill=False, settle=0, timeout=300, wall=None, line=None):
    """{size: microseconds} of one run over the sizes of calls, {size: number} (None: the operation has no sizes). kill: rank 1 dies after the
    last, is brought back, and all results are verified. settle: seconds of calls before all. wall, line: dictionaries that get what walls and lines say."""
    command, env = mpi.command(mpi.programs[benchmark], ranks, setting, budget)
    sizes = list(calls)
    command += mpi.arguments(benchmark, calls, warmup)
    if ranks > len(os.sched_getaffinity(0)):
        command += ['--start', str(cases.START_MS)]
    if settle:
        command += ['--settle', str(settle)]
    if sizes != [None] and mpi.program is None:
        command += ['-M', str(max(1 << 30, max(sizes) * (ranks + 1)))]
    if kill:
        command += ['--kill', '1']
    if wall is not None and mpi.meets:
        command += ['--wall']
    if line is None:
        text = output(command, env, timeout)
    else:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(mpi.programs[benchmark])) as meeting:     # which a lab's hosts see, too
            text = output(command + ['--line-file', os.path.join(meeting, 'line')], env, timeout)
        line.update(lines(text))
    if kill and 'verification: Pass' not in text:
        raise Bad('no verification after the kill: %s\n%s' % (' '.join(command), text[-500:]))
    found = rows(text)
    if wall is not None:
        wall.update(walls(text))
    if set(found) != set(sizes):
        raise Bad('rows are missing: %s\n%s' % (' '.join(command), text[-500:]))
    return found
