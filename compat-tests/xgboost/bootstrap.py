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
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOGETHER = ["0@7", "4@7", "9@7", "1@8"]
PLAIN = ("--plain", "--rounds", "9")
THREADS = ("--rounds", "9", "--nthread", "2")
ONE = ("--rounds", "9")

# name: (what is trained, options of ftrun, more arguments of the program, deaths, ways back that the report may tell of)
RUNS = {
    "snapshots": (PLAIN, ["--snapshot", "0.5"], [], TOGETHER, {"snapshot", "start"}),
    "from the start": (PLAIN, ["--snapshot", "off"], [], TOGETHER, {"start"}),
    "checkpoints": (THREADS, ["--bootstrap-cache"], ["--every", "3"], TOGETHER, {"checkpoint"}),
    "lazy checkpoints": (THREADS, ["--bootstrap-cache"], ["--every", "1", "--lazy"], TOGETHER, {"checkpoint", "start"}),
    "both": (ONE, ["--bootstrap-cache", "--snapshot", "0.5"], ["--every", "3"], TOGETHER, {"checkpoint", "snapshot"}),
    "again and again": (THREADS, ["--bootstrap-cache"], ["--every", "3"], ["4@7", "4@8", "4@6", "4@3", "0@3", "0@8"], {"checkpoint", "start"}),
    "before the first": (THREADS, ["--bootstrap-cache"], ["--every", "3"], ["0@0", "2@1", "9@2", "5@3"], {"checkpoint", "start"}),
    "everybody": (THREADS, ["--bootstrap-cache"], ["--every", "3"], [f"{r}@7" for r in range(10)], {"checkpoint", "start", "all"}),
}


class Job:
    def __init__(self, options, ftrun_options, arguments, deaths, work):
        marks = tempfile.mkdtemp(dir=work)
        report = os.path.join(marks, "report")
        command = [options.ftrun, "-n", "10", "--rabit", "--quiet", "--report", report, "-x", "OMP_WAIT_POLICY=passive", *ftrun_options,
                   "/usr/bin/python3", os.path.join(HERE, "checkpointed.py"), "--marks", marks, *arguments]
        for death in deaths:
            command += ["--die", death]
        done = subprocess.run(["timeout", str(options.timeout), *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
        self.code, self.said, self.lines = done.returncode, done.stderr, done.stdout.splitlines()
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


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--ftrun", required=True)
    args.add_argument("--timeout", type=int, default=120, help="seconds for each job")
    args.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RUNS)}")
    options = args.parse_args()
    bad = False
    undisturbed = {}
    with tempfile.TemporaryDirectory(prefix="ftmpi-bootstrap-") as work:
        for name in options.names or RUNS:
            training, ftrun_options, more, deaths, ways = RUNS[name]
            arguments = [*training, *more]
            if training not in undisturbed:
                undisturbed[training] = Job(options, ftrun_options, arguments, [], work)
                failures = undisturbed[training].failures([], set())
                print("\n".join(f"FAIL: {name}, undisturbed: {why}" for why in failures) or f"{name}, undisturbed: ok", flush=True)
                bad = bad or bool(failures)
            job = Job(options, ftrun_options, arguments, deaths, work)
            failures = job.failures(deaths, ways, undisturbed[training])
            told = ", ".join(f"{r['rank']} from {r['way_back']}" for r in job.report.get("restarts", []))
            print("\n".join(f"FAIL: {name}: {why}" for why in failures) or f"{name}: ok: {told}", flush=True)
            bad = bad or bool(failures)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
