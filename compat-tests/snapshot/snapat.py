#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills ranks, their snapshots and launcher processes while snapshots are made and woken, and holds output, files and exit code
against those of a run in which nothing is killed.

    snapat.py KILLAT FTRUN PROGRAM all|COUNT [FIRST_SEED]

all: every stop of every point (killat.c), then 200 combinations by seed. COUNT: that many of both, by seed.

Found: a rank that started from the beginning after its snapshot had died forked one that nobody had asked for; a process that died
before it had become a snapshot was waited for for ever."""

import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ftmpitest import first_seed  # noqa: E402

KILLAT, FTRUN, PROGRAM = sys.argv[1:4]
RANKS, UNITS = 3, 120
DEAD = ["settled:2", "rank"]  # the rank has a snapshot, and is killed
VICTIMS = ["rank", "snap", "ranks", "snaps", "agent", "front", "self"]


class Run:
    """What came of one."""

    def __init__(self, plan, mode, rank):
        for name in os.listdir("."):
            if name.startswith("part.") or name == "starts":
                os.unlink(name)
        with open("input") as stdin, open("out", "w") as out, open("err", "w") as err, open("points", "w") as points:
            os.dup2(points.fileno(), 9)
            self.code = subprocess.run([KILLAT, "-r", str(rank)] + plan + [FTRUN, "--snapshot", "0.02", "-n", str(RANKS), PROGRAM,
                                       mode, str(UNITS)], stdin=stdin, stdout=out, stderr=err, pass_fds=(9,)).returncode
        lines = read("err").splitlines()
        self.out = sorted(read("out").splitlines())
        self.err = sorted(line for line in lines if line.startswith("rank "))
        self.files = [read(f"part.{r}") for r in range(RANKS)]
        self.starts = len(read("starts").splitlines())
        self.told = [line for line in lines if not line.startswith("rank ")]
        self.left = any("left behind" in line for line in self.told)
        points = [line.split() for line in read("points").splitlines()]
        self.killed = [words[1] for words in points if words[0] == "killed"]
        self.passed = {words[0]: int(words[1]) for words in points if words[0] != "killed"}


def read(name):
    try:
        with open(name) as file:
            return file.read()
    except OSError:
        return ""


def check(plan, mode, rank, wanted, seed=None):
    """True: the plan was carried out. A job whose two launcher processes were killed one right after the other is lost."""
    run = Run(plan, mode, rank)
    front = any("front" in victims for victims in plan[1::2])
    lost = run.code == 137 and run.out != wanted.out
    what = f"killat -r {rank} {' '.join(plan)}, {mode}" + (f" (seed {seed})" if seed is not None else "")
    if run.left or run.code not in (0, 137 if front or lost else 0):
        sys.exit(f"{what}: exit code {run.code}: {run.told[-4:]}")
    if lost:
        if sum(victims.count("agent") + victims.count("front") + victims.count("self") for victims in plan[1::2]) < 2:
            sys.exit(f"{what}: the job is lost: {run.told[-4:]}")
        return True
    if run.out != wanted.out or run.err != wanted.err or run.files != wanted.files:
        sys.exit(f"{what}: what was printed or written differs: {run.told[-4:]}")
    if mode == "once" and run.starts != RANKS:
        sys.exit(f"{what}: {run.starts} starts of {RANKS} ranks")
    return len(run.killed) == len(plan) // 2


def singles(passed):
    """(plan, mode): once where there is a snapshot to go on from."""
    for point, first, victims, mode in (
            ("take1", [], "self", "again"), ("take2", [], "self", "once"),
            ("born1", [], "self", "once"), ("born1", [], "self+rank", "again"),
            ("born2", [], "self", "once"), ("born2", [], "self+rank", "once"),
            ("noted1", [], "self", "once"), ("noted1", [], "self+rank", "again"),
            ("noted2", [], "self", "once"), ("noted2", [], "self+rank", "once"),
            ("wake", DEAD, "self", "again"), ("wake", DEAD, "agent", "once"),
            ("copy", DEAD, "self", "once"), ("copy", DEAD, "self+agent", "once"), ("copy", DEAD, "self+snap", "again"),
            ("death", DEAD, "self", "once"), ("death", DEAD, "self+snap", "again"),
            ("settled", [], "ranks", "once"), ("settled", [], "ranks+front", "once"), ("settled", [], "rank+snap", "again"),
            ("settled", [], "agent+snaps", "once")):
        most = {"settled": 3, "wake": 40}.get(point, min(passed[point] + 4, 150))
        for n in range(1, most + 1):
            yield first + [f"{point}:{n}", victims], mode


def combination(passed):
    def some():
        return "+".join(random.sample(VICTIMS, random.choice([1, 2, 2, 3])))

    def at(points):
        point = random.choice(points)
        return [f"{point}:{random.randint(1, 4 if point == 'settled' else min(passed[point], 150))}", some()]

    if random.random() < 0.4:
        return at(["take1", "take2", "born1", "born2", "noted1", "noted2", "settled"])
    plan = [f"settled:{random.randint(1, 3)}", random.choice(["rank", "ranks", "rank+agent", "rank+front", "rank+snap"])]
    for _ in range(random.choice([1, 2])):
        plan += at(["wake", "copy", "death"])
    return plan


def main():
    everything = sys.argv[4] == "all"
    count = 0 if everything else int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else first_seed()
    with open("input", "w") as file:
        file.writelines(f"{i}\n" for i in range(1000, 1200))
    wanted = Run([], "once", 1)
    if wanted.code == 77:
        sys.exit(77)
    if wanted.code or wanted.starts != RANKS:
        sys.exit(f"undisturbed: exit code {wanted.code}: {wanted.told}")
    passed = Run(DEAD, "once", 1).passed
    if not passed["copy"]:
        print("no snapshots are made here")
        sys.exit(0 if os.environ.get("sanitized") else 1)
    random.seed(seed)
    plans = list(singles(passed))
    if not everything:
        plans = random.sample(plans, min(len(plans), count // 2))
    done = sum(check(plan, mode, random.randrange(RANKS), wanted) for plan, mode in plans)
    combinations = 200 if everything else count - count // 2
    for s in range(seed, seed + combinations):
        random.seed(s)
        done += check(combination(passed), "again", random.randrange(RANKS), wanted, s)
    print(f"{len(plans)} single kills and {combinations} combinations from seed {seed}, {done} of them as planned: all the same in the end")


main()
