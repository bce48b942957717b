#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs train.py under ftrun twice, first undisturbed, then with ranks killed inside training; compares the two runs.

A kill is RANK@rROUND: it waits until the victim's status file says that it is inside that round or a later one, and for the kills
before it. Exit code: 0 if every rank of both runs ended with the
same model and all the rest is as promised, 1 if not (each reason on a line of its own), 2 if nothing could be run."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from ftmpitest import descendants, kill_if  # noqa: E402

MODEL = re.compile(r"rank (\d+): SHA-256 of the model ([0-9a-f]{64})$")
GIB = 1 << 30
SAMPLE_EVERY = 0.5   # seconds between two looks at the memory in use


class Kill:
    def __init__(self, text):
        match = re.fullmatch(r"(\d+)@r(\d+)", text)
        if not match:
            raise argparse.ArgumentTypeError(f"{text}: wanted RANK@rROUND")
        self.rank = int(match[1])
        self.min_round = int(match[2])
        self.pid = self.round = self.at = self.back_after = None


def memory_in_use(root):
    """Bytes of a job: everybody's private memory, the shared memory once, and the program files of the one that
    has most of them mapped (they are the same libraries in all)."""
    private = files = 0
    shared = {}
    for pid in [root] + descendants(root):
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                rss = dict(re.findall(r"^Rss(Anon|File):\s+(\d+) kB", status.read(), re.M))
            private += int(rss.get("Anon", 0)) << 10
            files = max(files, int(rss.get("File", 0)) << 10)
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("/memfd:"):
                    stat = os.stat(f"/proc/{pid}/fd/{fd}")
                    shared[stat.st_ino] = stat.st_blocks * 512
        except OSError:
            pass
    return private + files + sum(shared.values())


class Run:
    """One ftrun job, its output shown as it comes."""

    def __init__(self, name, options, work, kills=(), extra=(), keep=None):
        self.name, self.kills = name, list(kills)
        self.status_dir = os.path.join(work, name.replace(" ", "-"))
        os.mkdir(self.status_dir)
        self.report_path = keep + ".json" if keep else os.path.join(self.status_dir, "report.json")
        self.kept = [self.report_path, keep + ".svg"] if keep else []
        if keep:
            extra = ["--timeline", keep + ".svg", *extra]
        self.command = [options.ftrun, "-n", str(options.ranks), "--rabit", "--report", self.report_path, *extra, *options.ftrun_arg,
                        "/usr/bin/python3", os.path.join(HERE, "train.py"), "--status", self.status_dir, *options.train]
        self.quiet = options.quiet
        self.lines, self.models, self.peak, self.report = [], {}, 0, {}
        self.code = self.wall = None
        self.failures = []

    def say(self, text):
        if not self.quiet:
            print(f"  {time.monotonic() - self.start:6.1f} s  {text}", flush=True)

    def forward(self, pipe, keep):
        for line in pipe:
            line = line.rstrip("\n")
            if keep:
                self.lines.append(line)
            match = MODEL.match(line)
            if match and keep:
                self.models.setdefault(int(match[1]), []).append(match[2])
            self.say(line)

    def status(self, rank):
        """(pid, state, round) as the rank last said."""
        try:
            with open(os.path.join(self.status_dir, f"rank-{rank}"), encoding="ascii") as said:
                pid, state, number = said.read().split()
            return int(pid), state, int(number)
        except FileNotFoundError:
            return 0, "starting", -1

    def try_kill(self, kill):
        """Kills if the victim is inside a round; true if that was done."""
        pid, state, number = self.status(kill.rank)
        if state != "round" or number < kill.min_round or pid in [k.pid for k in self.kills]:
            return False
        if not kill_if(pid, lambda: self.status(kill.rank) == (pid, state, number)):
            return False
        kill.pid, kill.round, kill.at = pid, number, time.monotonic()
        self.say(f"-- SIGKILL to rank {kill.rank} (pid {pid}) in round {number}")
        return True

    def watch_recovery(self):
        for kill in self.kills:
            if kill.at is None or kill.back_after is not None:
                continue
            pid, state, number = self.status(kill.rank)
            if pid != kill.pid and (number >= kill.round or state == "done"):
                kill.back_after = time.monotonic() - kill.at
                self.say(f"-- rank {kill.rank} (pid {pid}) is in round {number} again, {kill.back_after:.1f} s after its death")

    def go(self, timeout):
        self.start = time.monotonic()
        pending = list(self.kills)
        next_sample = 0.0
        with subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace") as job:
            readers = [threading.Thread(target=self.forward, args=a) for a in ((job.stdout, True), (job.stderr, False))]
            for reader in readers:
                reader.start()
            while job.poll() is None:
                now = time.monotonic() - self.start
                if pending and self.try_kill(pending[0]):
                    pending.pop(0)
                self.watch_recovery()
                if now >= next_sample:
                    self.peak = max(self.peak, memory_in_use(job.pid))
                    next_sample = now + SAMPLE_EVERY
                if now > timeout:
                    self.failures.append(f"not done after {timeout:.0f} s")
                    job.terminate()
                    try:
                        job.wait(10)
                    except subprocess.TimeoutExpired:
                        job.kill()
                time.sleep(0.004)
            for reader in readers:
                reader.join()
        self.wall = time.monotonic() - self.start
        self.watch_recovery()
        self.code = job.returncode
        self.judge(pending)

    def judge(self, pending):
        if self.code != 0:
            self.failures.append(f"ftrun ended with code {self.code}")
        if pending:
            self.failures.append(f"{len(pending)} of the kills found no victim before the end")
        try:
            with open(self.report_path, encoding="utf-8") as text:
                self.report = json.load(text)
        except (OSError, ValueError) as e:
            if self.code == 0:
                self.failures.append(f"no report from ftrun: {e}")
        if self.code == 0 and self.report:
            restarted = sorted(r["pid"] for r in self.report["restarts"])
            if restarted != sorted(k.pid for k in self.kills if k.pid):
                self.failures.append(f"restarted were processes {restarted}, which are not the ones killed")

    def peak_memory(self):
        return max(self.peak, self.report.get("peak_memory_bytes") or 0)

    def restarts(self, what, form):
        """What the report says of each restart, in order; "-" if the rank died again before it was known."""
        values = [r[what] for r in self.report.get("restarts", [])]
        return " + ".join("-" if v is None else form.format(v) for v in values) or "-"

    def row(self):
        report, spilled = self.report, self.report.get("spilled_bytes", 0)
        return [self.name, f"{self.wall:.1f} s", str(sum(k.at is not None for k in self.kills)),
                self.restarts("recover_seconds", "{:.1f} s"), self.restarts("replayed_units", "{}"),
                f"{report.get('log_bytes', 0) / 1e9:.2f} GB" + (f" ({spilled / 1e9:.2f} on disk)" if spilled else ""),
                f"{self.peak_memory() / GIB:.2f} GiB"]


def table(runs, ranks):
    head = ["run", "wall time", "kills", "time to recover", "replayed units", "log", "peak memory"]
    rows = [run.row() for run in runs]
    width = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print()
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width[i]) if i in (0, 3, 4) else cell.rjust(width[i]) for i, cell in enumerate(row)).rstrip())
    print("\nSHA-256 of the model")
    for run in runs:
        for rank in range(ranks):
            print(f"  {run.name.ljust(width[0])}  rank {rank}  {' and '.join(run.models.get(rank, ['none']))}")
    print(flush=True)


def verdict(runs, options):
    failures = [f"{run.name}: {why}" for run in runs for why in run.failures]
    models = [m for run in runs for rank in range(options.ranks) for m in run.models.get(rank, [None])]
    if len(models) != 2 * options.ranks or None in models:
        failures.append("not every rank printed its model exactly once")
    if len(set(models) - {None}) > 1:
        failures.append("the models differ")
    if len(runs) == 2 and sorted(runs[0].lines) != sorted(runs[1].lines) and not failures:
        failures.append("the models are the same, the output is not")
    for run in runs:
        if run.peak_memory() > options.max_memory * GIB:
            failures.append(f"{run.name}: {run.peak_memory() / GIB:.2f} GiB of memory at the peak, allowed are {options.max_memory:g}")
        held = run.report.get("peak_log_bytes", 0)
        if options.max_log is not None and run.report and not 0 < held <= options.max_log * GIB:
            failures.append(f"{run.name}: the log held {held / GIB:.2f} GiB of {run.report['log_bytes'] / GIB:.2f} at its peak, allowed are {options.max_log:g}")
    return failures


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--ftrun", required=True)
    args.add_argument("-n", "--ranks", type=int, default=4)
    args.add_argument("--kill", action="append", type=Kill, default=[], metavar="RANK@rROUND")
    args.add_argument("--no-respawn", action="store_true", help="ftrun may not restart a rank: the second run must fail")
    args.add_argument("--ftrun-arg", action="append", default=[], metavar="ARG", help="one more argument for ftrun")
    args.add_argument("--max-memory", type=float, default=12, metavar="GIB")
    args.add_argument("--max-log", type=float, metavar="GIB", help="what the log may hold at its peak, however much is written")
    args.add_argument("--timeout", type=float, default=600, help="seconds for each of the two runs")
    args.add_argument("--keep", metavar="NAME", help="NAME.json and NAME.svg: report and picture of the second run")
    args.add_argument("--quiet", action="store_true")
    args.add_argument("train", nargs="*", help="arguments of train.py, after --")
    options = args.parse_args()
    if not os.access(options.ftrun, os.X_OK):
        print(f"drive.py: {options.ftrun} cannot be run", file=sys.stderr)
        return 2

    with tempfile.TemporaryDirectory(prefix="ftmpi-train-") as work:
        first = Run("undisturbed", options, work)
        second = Run(f"{len(options.kill)} kill" + ("s" if len(options.kill) != 1 else ""), options, work, options.kill,
                     ["--max-restarts", "0"] if options.no_respawn else [], options.keep)
        runs = [first, second]
        for run in runs:
            print(f"{run.name}: {options.ranks} ranks", flush=True)
            run.go(options.timeout)
            if run is first and run.failures:
                runs = [first]
                break
    table(runs, options.ranks)
    if runs[-1].kept:
        print(f"What happened in the run with kills: {' (a report), '.join(runs[-1].kept)} (a picture)\n", flush=True)
    failures = verdict(runs, options)
    for why in failures:
        print(f"FAILED: {why}")
    if not failures:
        print(f"The model is the same on every rank of both runs: killing {len(options.kill)} times changed nothing.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
