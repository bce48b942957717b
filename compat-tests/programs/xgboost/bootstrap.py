#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs checkpointed.py under ftrun undisturbed, then with ranks that die at given rounds, as Rabit's bootstrap design wants
to be verified: what XGBoost does once, in its first round, is done again by those that come back while the others are far
beyond. Every run must end with the same models, history and output. NAME chooses among the runs; without any, all are made.
Exit code 0: all is as promised, 1: not, with a line for each reason."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOGETHER = ["0@7", "4@7", "9@7", "1@8"]
PLAIN = ("--plain", "--rounds", "9")
THREADS = ("--rounds", "9", "--nthread", "2")
ONE = ("--rounds", "9")
AUTO = ("--rounds", "9", "--nthread", "2", "--method", "auto")

NEW = "a new directory"
KEPT = ["--bootstrap-cache", "--snapshot", "off"]

# name: (what is trained, options of ftrun, more arguments of the program, deaths, ways back that the report may tell of)
RUNS = {
    "snapshots": (PLAIN, ["--snapshot", "0.5"], [], TOGETHER, {"snapshot", "start"}),
    "from the start": (PLAIN, ["--snapshot", "off"], [], TOGETHER, {"start"}),
    "checkpoints": (THREADS, KEPT, ["--every", "3"], TOGETHER, {"checkpoint"}),
    "no tree method": (AUTO, ["--snapshot", "off"], ["--every", "3"], TOGETHER, {"checkpoint"}),
    "lazy checkpoints": (THREADS, [*KEPT, "--ckpt-dir", NEW], ["--every", "1", "--lazy"], TOGETHER, {"checkpoint", "start"}),
    "both": (ONE, ["--bootstrap-cache", "--snapshot", "0.5"], ["--every", "3"], TOGETHER, {"checkpoint", "snapshot"}),
    "again and again": (THREADS, KEPT, ["--every", "3"], ["4@7", "4@8", "4@6", "4@3", "0@3", "0@8"], {"checkpoint", "start"}),
    "before the first": (THREADS, KEPT, ["--every", "3"], ["0@0", "2@1", "9@2", "5@3"], {"checkpoint", "start"}),
    "everybody": (THREADS, KEPT, ["--every", "3"], [f"{r}@7" for r in range(10)], {"checkpoint", "start", "all"}),
}
LOST = "everything lost"


class Job:
    def __init__(self, options, ftrun_options, arguments, deaths, work, watch=None):
        """watch(job, marks): called when it has been started."""
        marks = tempfile.mkdtemp(dir=work)
        report = os.path.join(marks, "report")
        command = ["timeout", str(options.timeout), options.ftrun, "-n", "10", "--rabit", "--quiet", "--report", report,
                   "-x", "OMP_WAIT_POLICY=passive", *(tempfile.mkdtemp(dir=work) if option == NEW else option for option in ftrun_options),
                   "/usr/bin/python3", os.path.join(HERE, "checkpointed.py"), "--marks", marks, *arguments]
        for death in deaths:
            command += ["--die", death]
        with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err) as job:
                if watch:
                    watch(job, marks)
            out.seek(0)
            err.seek(0)
            self.code, self.said, self.lines = job.returncode, err.read(), out.read().splitlines()
        self.died = sorted(name for name in os.listdir(marks) if "@" in name)
        self.report = {}
        if os.path.exists(report) and os.path.getsize(report):
            with open(report, encoding="utf-8") as text:
                self.report = json.load(text)

    def models(self):
        return {m[1]: m[2] for m in (re.fullmatch(r"rank (\d+): SHA-256 of the model ([0-9a-f]{64})", line) for line in self.lines) if m}

    def failures(self, deaths, ways, wanted=None):
        if self.code != 0:
            return [f"exit code {self.code}"] + self.said.splitlines()[-12:]
        found = []
        if len(self.models()) != 10 or len(set(self.models().values())) != 1:
            found.append(f"{len(self.models())} ranks ended, with {len(set(self.models().values()))} models")
        if wanted and sorted(self.lines) != sorted(wanted.lines):
            found.append("the output differs:\n" + "\n".join(sorted(set(self.lines) ^ set(wanted.lines))))
        if self.died != sorted(deaths):
            found.append(f"there died {self.died}")
        restarts = [(r["rank"], r["way_back"]) for r in self.report.get("restarts", [])]
        if "all" not in ways and sorted(r for r, _ in restarts) != sorted(int(d.split("@")[0]) for d in deaths):
            found.append(f"restarted were {restarts}")
        if not {way for _, way in restarts if way} <= ways:
            found.append(f"the ways back were {restarts}")
        return found


def kill_all(marks):
    """Both processes of ftrun and all ranks: those on whose command line the job's own directory stands."""
    found = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    for pid in found:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if marks.encode() in line.read():
                    os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def lost(options, work, undisturbed):
    """Everything is killed at once while rank 4 stands in round 7; the job is resumed from the files. The failures."""
    files = tempfile.mkdtemp(dir=work)
    kept = [*KEPT, "--ckpt-dir", files]

    def watch(job, marks):
        end = time.monotonic() + options.timeout
        while job.poll() is None and time.monotonic() < end:
            if os.path.exists(f"{marks}/4@7") and any(name.endswith(".ftmpi") for name in os.listdir(files)):
                kill_all(marks)
                break
            time.sleep(0.02)
        kill_all(marks)  # what was just being forked

    first = Job(options, kept, [*THREADS, "--every", "3", "--stall"], ["4@7"], work, watch)
    if first.code == 0 or first.models() or not os.listdir(files):
        return [f"code {first.code}, {len(first.models())} models of a job of which nothing is left", *os.listdir(files), *first.said.splitlines()]
    shutil.copytree(files, files + ".again")
    second = Job(options, [*kept, "--resume"], [*THREADS, "--every", "3"], ["0@8", "4@8"], work)
    if any(r["way_back"] == "all" for r in second.report.get("restarts", [])) and second.models() == undisturbed.models():
        # Seen once, on a busy machine: right, but not the ways that are meant. Twice is a failure.
        print("all ranks had to begin again; once more, it said:", *second.said.splitlines(), sep="\n    ", flush=True)
        second = Job(options, [*KEPT, "--ckpt-dir", files + ".again", "--resume"], [*THREADS, "--every", "3"], ["0@8", "4@8"], work)
    rounds = [line for line in second.lines if line.startswith("[")]
    # Resumed behind round 5 it makes no checkpoint before round 8, and begins with the one of the files again.
    failures = second.failures(["0@8", "4@8"], {"start" if len(rounds) == 3 else "checkpoint"})
    if second.models() != undisturbed.models():
        failures.append("the models differ")
    if rounds != [line for line in undisturbed.lines if line.startswith("[")][-len(rounds):] or len(rounds) not in (3, 6):
        failures.append(f"printed were the rounds {rounds}")
    return failures


def tell(name, failures, told=""):
    print("\n".join(f"FAIL: {name}: {why}" for why in failures) or f"{name}: ok{': ' if told else ''}{told}", flush=True)
    return bool(failures)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--ftrun", required=True)
    args.add_argument("--timeout", type=int, default=200, help="seconds for each job")
    args.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join([*RUNS, LOST])}")
    options = args.parse_args()
    bad = False
    undisturbed = {}
    with tempfile.TemporaryDirectory(prefix="ftmpi-bootstrap-") as work:
        for name in options.names or [*RUNS, LOST]:
            training, ftrun_options, more, deaths, ways = RUNS.get(name, (THREADS, ["--bootstrap-cache"], [], [], set()))
            if training not in undisturbed:
                undisturbed[training] = Job(options, ftrun_options, [*training, *more], [], work)
                bad |= tell(f"{name}, undisturbed", undisturbed[training].failures([], set()))
            if name == LOST:
                bad |= tell(name, lost(options, work, undisturbed[training]))
                continue
            job = Job(options, ftrun_options, [*training, *more], deaths, work)
            told = ", ".join(f"{r['rank']} from {r['way_back']}" for r in job.report.get("restarts", []))
            bad |= tell(name, job.failures(deaths, ways, undisturbed[training]), told)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
