#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each page (NAME.md) that a comment, a page or a manual names is there, and each section that is named with
# it (docs/page.md, "Section") is a heading of that page. Every page is in the tarball and has an entry in
# README.md or in the index of its folder. The pages of docs/internals are short, and the files and the
# names (ft_...) that they give are in the sources. README is README.md.
set -u
exec python3 - "${top_srcdir:-.}" <<'PYTHON'
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1])
FOLDERS = ("benchmarks", "compat-tests", "docs", "examples", "ft", "launcher", "mpi_shim", "scripts", "tools")
KINDS = (".c", ".h", ".cc", ".md", ".pml", ".sh", ".py", ".mk", ".in", ".1", ".7", ".table", "")
LONGEST = 25000
PAGE = r"(?<![\w./*${}-])(?:\.\./)*((?:[\w-]+/)*[\w.-]+\.md)\b"
NAME = r'"([^"]{2,80})"'
NAMED = re.compile(PAGE + r"`?(?:,? | \()" + NAME + r"((?:(?:, and |, | and )" + NAME + ")*)")


def joined(text):
    """Without the ends of lines, and what begins a line of a comment."""
    return re.sub(r"\s*\n[ \t]*(?:\*(?!\*)|#+|//|\.\\\")?[ \t]*", " ", text)


def headings(text):
    return [line.lstrip("#").strip().replace("`", "") for line in text.split("\n") if line.startswith("#")]


def has(titles, section):
    """By its first words, which end where a sign does: "Single copy" of "Single copy (Emerald Rapids)"."""
    return any(re.match(re.escape(section) + r"(?:$|[:,.(]| \()", title) for title in titles)


def find(name, place):
    """A page by its path from the top, from where it is named, or, in docs, by its name alone."""
    for folder in (top, place, top / "docs"):
        if (folder / name).is_file():
            return folder / name
    return None


def wrong(text, place):
    text = joined(text)
    pages = set(re.findall(PAGE, text))
    failed = [f"names {name}, which is not there" for name in sorted(pages) if not find(name, place)]
    sections = 0
    for match in NAMED.finditer(text):
        page = find(match.group(1), place)
        names = re.findall(NAME, match.group(0))
        sections += len(names)
        titles = headings(page.read_text(encoding="utf-8")) if page else []
        failed += [f'names "{section}", which is no heading of {match.group(1)}' for section in names if page and not has(titles, section)]
    return len(pages), sections, failed


failed, pages, sections = [], 0, 0
files = [path for folder in FOLDERS for path in sorted((top / folder).rglob("*"))]
for path in [top / "README.md", top / "Makefile.am"] + files:
    if path.suffix not in KINDS or not path.is_file() or path.is_symlink() or path.name == "texts.sh":
        continue
    named, with_sections, complaints = wrong(path.read_text(encoding="utf-8", errors="replace"), path.parent)
    pages, sections = pages + named, sections + with_sections
    failed += [f"{path.relative_to(top)} {complaint}" for complaint in complaints]

indexes = {top / "docs": "README.md", top / "docs/performance": "docs/performance.md", top / "docs/internals": "docs/internals/README.md"}
listed = (top / "Makefile.am").read_text(encoding="utf-8").split()
for folder, index in indexes.items():
    entries = (top / index).read_text(encoding="utf-8")
    failed += [f"{index} does not name {page.relative_to(top)}" for page in sorted(folder.glob("*.md"))
               if page.name not in entries and page != top / index]
    failed += [f"Makefile.am does not list {page.relative_to(top)}" for page in sorted(folder.glob("*.md"))
               if str(page.relative_to(top)) not in listed]
failed += [f"{page.relative_to(top)} is longer than {LONGEST} bytes: split it" for page in sorted((top / "docs/internals").glob("*.md"))
           if page.stat().st_size > LONGEST]

tree = [str(path.relative_to(top)) for path in files]
code = [path for path in files if path.suffix in (".c", ".h") and path.parts[len(top.parts)] in ("ft", "launcher", "mpi_shim")]
words = {word for path in code for word in re.findall(r"ft_\w+", path.read_text(encoding="utf-8", errors="replace"))}
for page in sorted((top / "docs/internals").glob("*.md")):
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"`(?:struct )?(ft_\w+)`", text))
    failed += [f"{page.relative_to(top)} names {name}, which is not in the sources" for name in sorted(names - words)]
    sources = set(re.findall(r"`([\w./-]+\.(?:c|h|pml|sh|py))`", text)) - {"mpif.h"}
    failed += [f"{page.relative_to(top)} names {source}, which is not there" for source in sorted(sources)
               if not any(("/" + path).endswith("/" + source) for path in tree)]

if (top / "README").read_bytes() != (top / "README.md").read_bytes():
    failed.append("README differs from README.md: cp README.md README")
if pages < 300 or sections < 40:
    failed.append(f"only {pages} names of pages and {sections} of sections: are they read as they are written?")
nowhere = wrong('/* docs/nowhere.md,\n   "Nothing" and docs/internals/log.md, "Not\n   there" */', top)[2]
if len(nowhere) != 2:
    failed.append("what is not there is not found")
for complaint in failed:
    print("FAIL:", complaint)
sys.exit(bool(failed))
PYTHON
