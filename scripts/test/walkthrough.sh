#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/walkthrough.md: every name is in the sources, every name in bold is a function of the file
# beside it, and a walk has as many hops and files as it says. (reap_leader, fill_event, is_clear and
# note_recovery were named there long after they had gone.)
set -u
exec python3 - "${top_srcdir:-.}" <<'END'
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1])
text = (top / "docs/walkthrough.md").read_text(encoding="utf-8")
sources = {str(path.relative_to(top)): path.read_text(encoding="utf-8")
           for folder in ("ft", "mpi_shim", "launcher") for path in (top / folder).rglob("*.[ch]")
           if not path.name.endswith("_test.c")}
words = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.sub(r"/\*.*?\*/", "", code, flags=re.S) for code in sources.values())))
failed = []


def defines(code, function):
    """Not a declaration, nor a call: it begins a line and a body follows."""
    return re.search(r"^[A-Za-z#][^\n;]*\b" + function + r"\([^;{]*\)\s*\{", code, flags=re.M)


names = re.findall(r"`([^`\n]+)`", text)
for name in names:
    if re.fullmatch(r"(ft|mpi_shim|launcher|scripts|docs)/[\w./-]+", name):
        if not (top / name).exists():
            failed.append(f"there is no file {name}")
        continue
    for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"^grep .*|^--.*|\b[\w/]+\.[ch]\b", "", name)):
        if word not in words | {"code"}:
            failed.append(f"{name} is not in the sources")

bold = re.findall(r"\*\*`(\w+)`\*\*,? \(?`([\w./]+)`", text)
for function, path in bold:
    if path in sources and not defines(sources[path], function):
        failed.append(f"{path} has no function {function}")
if len(names) < 150 or len(bold) < 60:
    failed.append(f"only {len(names)} names, {len(bold)} of them in bold: is the page read as it is written?")

counted = 0
for section in text.split("\n## ")[1:]:
    said = re.search(r"^(\d+) hops over (\d+) files", section, flags=re.M)
    if not said:
        continue
    counted += 1
    hops = re.findall(r"^(\d+)\. \*\*`\w+`\*\* \(`([\w./]+)`\)", section, flags=re.M)
    title = section.split("\n")[0]
    if [int(n) for n, _ in hops] != list(range(1, len(hops) + 1)):
        failed.append(f"{title}: the hops are not numbered one by one")
    have = (str(len(hops)), str(len({path for _, path in hops})))
    if have != said.groups():
        failed.append(f"{title}: {have[0]} hops over {have[1]} files, not {said[1]} over {said[2]}")
if counted != 2:
    failed.append(f"{counted} walks say how long they are, not 2")
for complaint in failed:
    print("FAIL: walkthrough.md:", complaint)
sys.exit(bool(failed))
END
