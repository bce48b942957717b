#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each RULE and each section of DESIGN that a comment or a page cites is in docs/internals/rules.md. (94 comments
# cited rules that were in no file of the tree.)
set -u
exec python3 - "${top_srcdir:-.}" <<'END'
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1])
page = (top / "docs/internals/rules.md").read_text(encoding="utf-8")
rules = set(re.findall(r"^(\d+)\. ", page, flags=re.M))
design = {kind + number for kind, number in re.findall(r"^\| (DESIGN(?:-ranks)? (?:section|invariant) )(\d+)", page, flags=re.M)}
NUMBERS = r"((?:\d+(?:\.\d+)?(?:, and |, | and | to |-)?)+)"


def numbers(text):
    """"6 and 14", "1-14", "16, 17, 23", "24 to 30": the first and last of a range stand for it."""
    return re.findall(r"(?<![.\d])\d+", text)


def unknown(text):
    text = re.sub(r"\s*\n\s*(?:\*|#|//|\.\\\")?\s*", " ", text)
    cited = [("RULE " + n, n in rules) for numbered in re.findall(r"\bRULES? " + NUMBERS, text) for n in numbers(numbered)]
    for kind, what, numbered in re.findall(r"\b(DESIGN(?:-\w+)? )(section|invariant)s? " + NUMBERS, text):
        cited += [(kind + what + " " + n, f"{kind}{what} {n}" in design) for n in numbers(numbered)]
    return len(cited), [name for name, known in cited if not known]


failed, cited = [], 0
for folder in ("ft", "mpi_shim", "launcher", "compat-tests", "docs", "scripts", "tools"):
    for path in sorted((top / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".md", ".pml", ".sh", ".py", ".7", ".1") or path.stem == "rules":
            continue
        number, missing = unknown(path.read_text(encoding="utf-8", errors="replace"))
        cited += number
        failed += [f"{path.relative_to(top)} cites {name}" for name in missing]
if cited < 150 or len(rules) < 30:
    failed.append(f"only {cited} citations of {len(rules)} rules: are they read as they are written?")
if unknown("RULES 1, 99")[1] != ["RULE 99"] or unknown("(DESIGN sections 3 and 77)")[1] != ["DESIGN section 77"]:
    failed.append("what is not there is not found")
for complaint in failed:
    print("FAIL: docs/internals/rules.md:", complaint)
sys.exit(bool(failed))
END
