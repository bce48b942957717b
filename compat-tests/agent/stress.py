#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills processes of a running job at random, leaders and descendants, and holds the output against what it must be.

    stress.py FTRUN [FIRST_SEED [SECONDS]]

Found: a SIGTERM for a rank that had not yet exec'd ran ftrun's own handler in it and ended the job (spawn.c,
reset_signals)."""

import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ftmpitest import descendants, first_seed  # noqa: E402

LINES = 3000
RANKS = 4
PROGRAM = f"""
i=0
while [ $i -lt {LINES} ]; do
    i=$((i + 1))
    echo "r $FTMPI_RANK l $i"
    echo "e $FTMPI_RANK l $i" >&2
    [ $((i % 500)) = 0 ] && {{ sleep 0.003 & setsid sleep 0.004 & }}
done
printf "end $FTMPI_RANK"
"""


def kill_some(job, limit):
    """SIGKILLs and SIGTERMs to what is below ftrun at random times until the job ends or `limit` have been sent. Returns how many."""
    kills, end = 0, time.monotonic() + limit[1]
    while job.poll() is None and time.monotonic() < end:
        time.sleep(random.random() * 0.02)
        pids = descendants(job.pid)
        if pids and kills < limit[0]:
            try:
                pid = random.choice(pids)
                launcher = os.readlink(f"/proc/{pid}/exe") == os.readlink(f"/proc/{job.pid}/exe")
                os.kill(pid, 9 if launcher else random.choice([9, 9, 9, 15])) # SIGTERM to ftrun ends the job
                kills += 1
            except OSError:
                pass
    return kills


def check(seed, code, out, err):
    own = [line for line in err.splitlines() if not line.startswith("e ")]
    if code or own:
        sys.exit(f"seed {seed}: exit code {code}: {own}")
    for rank in range(RANKS):
        if out.count(f"end {rank}") != 1:
            sys.exit(f"seed {seed}: rank {rank}'s last, unfinished line is there {out.count(f'end {rank}')} times")
        out = out.replace(f"end {rank}", "")
    for rank in range(RANKS):
        for text, letter in (out, "r"), (err, "e"):
            got = [line for line in text.splitlines() if line.startswith(f"{letter} {rank}")]
            if got != [f"{letter} {rank} l {i}" for i in range(1, LINES + 1)]:
                sys.exit(f"seed {seed}: rank {rank}: {len(got)} lines ({letter}), not each of {LINES} once")


def run(ftrun, seed):
    random.seed(seed)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        job = subprocess.Popen([ftrun, "-q", "-n", str(RANKS), "sh", "-c", PROGRAM], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        kills = kill_some(job, (random.randrange(25), 60))
        if job.poll() is None:
            job.kill()
            sys.exit(f"seed {seed}: the job hangs")
        out.seek(0)
        err.seek(0)
        check(seed, job.returncode, out.read().decode(), err.read().decode())
    return kills


def main():
    ftrun = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else first_seed()
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    end, seed, kills = time.monotonic() + seconds, first, 0
    while time.monotonic() < end:
        kills += run(ftrun, seed)
        seed += 1
    print(f"{seed - first} runs from seed {first}, {kills} kills: output exactly once")


main()
