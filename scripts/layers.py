#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks scripts/layers.table: who includes whom, who uses which names, that what is called pure
is, and that what runs while threads stand still takes no lock of theirs.

Each #include of a project file must go where the table lets its folder go.  What a pure file
calls is followed through the objects of the build tree, down to functions of other libraries.
Then the check is turned on itself: falsified inputs must make it fail.

Exit status 0: all is as the table says.  --readme prints the launcher's rows for its README.
Reads top_srcdir and top_builddir from the environment, as all tests do; "." if they are not set.
"""
import bisect
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

TREES = ("ft", "mpi_shim", "launcher", "tools")
SOURCE = (".c", ".h", ".cc")
GENERATED = ("config.h",)
INCLUDE_DIRS = ("", "mpi_shim")  # AM_CPPFLAGS: -I$(top_srcdir) -I$(top_srcdir)/mpi_shim
README = "launcher/README.md"


# The table ---------------------------------------------------------------------------------------

class Table:
    """Sections of lines "a | b | c"; # begins a comment, an indented line goes on the one above."""

    COLUMNS = {"folders": 3, "exceptions": 3, "names": 3, "pure": 3, "ends": 2, "still": 3,
               "quiet": 1, "free": 1}

    def __init__(self, path):
        self.rows = {name: [] for name in self.COLUMNS}
        section = None
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"\n[ \t]+(?=\S)", " ", file.read())
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                section = line.strip("[]")
                continue
            cells = tuple(cell.strip() for cell in line.split("|"))
            if section not in self.COLUMNS or len(cells) != self.COLUMNS[section]:
                sys.exit(f"layers: {path}: not a row of [{section}]: {line}")
            self.rows[section].append(cells)
        self.may = {folder: may.split() for folder, may, _ in self.rows["folders"]}
        self.exceptions = {tuple(cells[:2]) for cells in self.rows["exceptions"]}
        self.ends = [name for name, _ in self.rows["ends"]]
        self.free = [word for cells in self.rows["free"] for word in cells[0].split()]
        self.quiet = [word for cells in self.rows["quiet"] for word in cells[0].split()]


# Includes ----------------------------------------------------------------------------------------

class Sources:
    """The files of the trees.  overlay: contents that stand in for a file's own."""

    def __init__(self, top):
        self.top = top
        self.files = {}
        for tree in TREES:
            for folder, _, names in os.walk(os.path.join(top, tree)):
                for name in names:
                    if name.endswith(SOURCE):
                        path = os.path.join(folder, name)
                        with open(path, encoding="utf-8") as file:
                            self.files[os.path.relpath(path, top)] = file.read()

    def with_text(self, path, text):
        other = Sources.__new__(Sources)
        other.top = self.top
        other.files = {**self.files, path: text}
        return other

    def resolve(self, path, name, quoted):
        """Which project file the compiler takes for this #include; None: a system's, or none."""
        places = ([os.path.dirname(path)] if quoted else []) + list(INCLUDE_DIRS)
        for place in places:
            found = os.path.normpath(os.path.join(place, name))
            if found in self.files:
                return found
        return None


INCLUDE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include|include_next|import)[ \t]*(?:\"([^\"]+)\"|<([^>]+)>|(.*))", re.MULTILINE)


def includes_of(sources, path):
    """Yields (name, file it is or None, complaint or None) of each #include."""
    for quoted, angled, other in INCLUDE.findall(sources.files[path]):
        if other:
            yield other, None, "names no file"
            continue
        found = sources.resolve(path, quoted or angled, bool(quoted))
        if found or angled or quoted in GENERATED:
            yield quoted or angled, found, None
        else:
            yield quoted, None, "is no file of the project"


def check_includes(table, sources):
    complaints = []
    used = set()
    above = set()
    for folder, may, _ in table.rows["folders"]:
        for other in may.split():
            if other != "*" and other not in above and other not in sources.files:
                complaints.append(f"{folder} may include {other}, and no row above is that one's")
        above.add(folder)
    folders = {os.path.dirname(path) for path in sources.files}
    for folder in sorted(folders - set(table.may)):
        complaints.append(f"{folder}: no row in scripts/layers.table")
    for folder in sorted(set(table.may) - folders):
        complaints.append(f"{folder}: a row in scripts/layers.table, and no such folder")
    for path in sorted(sources.files):
        folder = os.path.dirname(path)
        may = table.may.get(folder, ["*"])
        for name, found, complaint in includes_of(sources, path):
            if complaint:
                complaints.append(f"{path} includes {name}: {complaint}")
            if not found or "*" in may or os.path.dirname(found) == folder:
                continue
            if os.path.dirname(found) in may or found in may:
                continue
            used.add((path, found))
            if (path, found) not in table.exceptions:
                allowed = " ".join(may) or "only itself"
                complaints.append(f"{path} includes {name}: {folder} may include {allowed}")
    for path, found in sorted(table.exceptions - used):
        complaints.append(f"{path} no longer includes {found}: a stale exception in the table")
    return complaints + check_circles(sources)


def check_names(table, sources):
    """Names that some files have, and no other, not even in a comment."""
    complaints = []
    for name, where, _ in table.rows["names"]:
        may = set(where.split())
        have = {path for path, text in sources.files.items() if re.search(rf"\b{name}\b", text)}
        complaints += [f"{path} has {name}: only {where} may" for path in sorted(have - may)]
        complaints += [f"{path} has no {name}: a stale row" for path in sorted(may - have)]
    return complaints


def check_circles(sources):
    """Modules of the launcher, NAME.h and NAME.c, of which each needs the other, in one folder: the
    table keeps folders from that. (The engine has some: its parts see ft.h, the door.)"""
    needs = {}
    for path in sources.files:
        if path.startswith("launcher/") and not path.endswith("_test.c"):
            needs.setdefault(path[:-2], set()).update(
                found[:-2] for _, found, _ in includes_of(sources, path) if found)
    complaints, done = [], set()

    def walk(module, trail):
        if module in trail:
            circle = trail[trail.index(module):] + [module]
            complaints.append("a circle: " + " -> ".join(circle))
        elif module not in done:
            for other in sorted(needs.get(module, set()) - {module}):
                walk(other, trail + [module])
            done.add(module)

    for module in sorted(needs):
        walk(module, [])
    return complaints


def readme_rows(table):
    """The launcher's rows as README has them."""
    rows = []
    for folder, may, purpose in table.rows["folders"]:
        if folder.startswith("launcher/"):
            may = may.replace("launcher/", "")
            rows.append(f"| `{folder[len('launcher/'):]}` | {purpose} | {may} |")
    return rows


def check_readme(table, text):
    want = readme_rows(table)
    have = [line for line in text.splitlines() if line.startswith("| `")]
    if have == want:
        return []
    return [f"{README}: not in scripts/layers.table: {row}" for row in have if row not in want] + \
        [f"{README} lacks the row {row}" for row in want if row not in have] or \
        [f"{README}: the rows are not in the order of scripts/layers.table"]


# Calls -------------------------------------------------------------------------------------------

class Unit:
    """One object: its symbols, and what each piece of it refers to."""

    def __init__(self, path):
        self.path = path
        self.spans = {}    # section -> [(start, end, name)], sorted: what is defined where
        self.places = {}   # name -> [(section, start, end)]: the same, the other way round
        self.local = set() # names that other objects do not see
        self.refs = {}     # name -> {(symbol or section, offset or None)}
        self.data = {}     # section -> [(offset, symbol, addend)]
        self.nameless = {} # words that no symbol names -> (section, number in data, end)


class Graph:
    """Who refers to whom, by function, over all objects.  A function whose address stands in a
    table counts as called by all that refer to the table."""

    SYMBOL = re.compile(r"^([0-9a-f]+) (.{7}) (\S+)\t([0-9a-f]+)(?: \.hidden| \.internal)? (\S+)$")
    LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
    CODE = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
    RELOCATION = re.compile(r"([0-9a-f]+): (R_\S+)\t(\S+)")
    RECORD = re.compile(r"^([0-9a-f]+) (R_\S+) +(\S+)$")
    TARGET = re.compile(r"<([^>+]+)(?:\+0x[0-9a-f]+)?>$")

    def __init__(self, objects):
        self.units = [Unit(path) for path in objects]
        self.by_path = {unit.path: unit for unit in self.units}
        self.owner = {}
        self.ready = set()
        self.read_tables()

    @staticmethod
    def objdump(*args):
        result = subprocess.run(["objdump", *args], capture_output=True, text=True, check=True)
        return result.stdout.splitlines()

    def read_tables(self):
        """Symbols, and relocations of data: of all objects at once, it is quick."""
        unit = section = None
        for line in self.objdump("-tr", *self.by_path):
            if ":     file format " in line:
                unit = self.by_path[line.split(":     file format ")[0]]
                section = None
            elif line.startswith("RELOCATION RECORDS FOR"):
                section = line[line.index("[") + 1:-2]
            elif m := self.SYMBOL.match(line):
                value, flags, where, size, name = m.groups()
                if where == "*UND*" or "d" in flags or "f" in flags:
                    continue
                start = int(value, 16)
                unit.spans.setdefault(where, []).append((start, start + int(size, 16), name))
                if flags[0] == "l":
                    unit.local.add(name)
                elif flags[0] != "w" or name not in self.owner:
                    self.owner[name] = unit
            elif not section or section.startswith((".debug", ".eh_frame", ".text")):
                pass
            elif m := self.RECORD.match(line):
                unit.data.setdefault(section, []).append((int(m[1], 16), *self.split(m[3])))
        for unit in self.units:
            for words in unit.data.values():
                words.sort()
            for section, spans in unit.spans.items():
                spans.sort()
                for start, end, name in spans:
                    unit.places.setdefault(name, []).append((section, start, end))

    @staticmethod
    def split(value):
        m = re.match(r"^(.+?)(?:([+-])0x([0-9a-f]+))?$", value)
        return m[1], int(f"{m[2]}{m[3]}", 16) if m[2] else 0

    def read_code(self, unit):
        """What the functions of an object refer to: read when the walk gets there."""
        self.ready.add(unit.path)
        name = None
        pending = []  # relative to the next instruction, whose address is not known yet
        for line in self.objdump("-drw", "--no-show-raw-insn", unit.path):
            if m := self.LABEL.match(line):
                self.settle(unit, name, pending, None)
                name = m[1]
                unit.refs.setdefault(name, set())
            elif name and (m := self.CODE.match(line)):
                self.settle(unit, name, pending, int(m[1], 16))
                pending = [(int(where, 16), kind, *self.split(value))
                           for where, kind, value in self.RELOCATION.findall(m[2])]
                if not pending and (t := self.TARGET.search(m[2])) and t[1] != name:
                    unit.refs[name].add((t[1], None))
        self.settle(unit, name, pending, None)

    @staticmethod
    def settle(unit, name, pending, following):
        for where, kind, symbol, addend in pending:
            if kind.startswith("R_X86_64_") and re.search("PC32|PLT32|GOTPC|PC64", kind):
                addend += following - where if following else 4
            unit.refs[name].add((symbol, addend))
        pending.clear()

    def nodes(self, unit, symbol, offset):
        """The pieces (unit, name) that a reference means; (None, name): of another library."""
        if symbol in unit.local or (symbol in self.owner and not symbol.startswith(".")):
            return [(unit if symbol in unit.local else self.owner[symbol], symbol)]
        if symbol not in unit.spans and symbol not in unit.data:
            return [] if symbol.startswith((".", "*", "$")) else [(None, symbol)]
        spans = unit.spans.get(symbol, [])
        after = bisect.bisect_right(spans, offset, key=lambda span: span[0])
        for start, end, name in reversed(spans[:after]):
            if offset < max(end, start + 1):
                return [(unit, name)]
            if start < offset and end > start:
                break
        # A constant without a name: up to the next that has one.
        return self.rest(unit, symbol, offset, spans[after][0] if after < len(spans) else 1 << 62)

    def rest(self, unit, section, start, end):
        """The first word of a constant without a name; the walk goes on from there to the next."""
        words = unit.data.get(section, [])
        at = bisect.bisect_left(words, (start,))
        if at == len(words) or words[at][0] >= end:
            return []
        name = f"{section}+{words[at][0]:#x}"
        unit.nameless[name] = (section, at, end)
        return [(unit, name)]

    def word(self, unit, section, at, end):
        """Jump tables of other functions may stand there, too: these point into functions, tables
        of functions at their beginnings."""
        where, target, addend = unit.data[section][at]
        into = unit.spans.get(target, ())
        begin = bisect.bisect_left(into, (addend,))
        begins = begin < len(into) and into[begin][0] == addend
        found = self.rest(unit, section, where + 1, end)
        if begins or not into or section.startswith(".data"):
            found += self.nodes(unit, target, addend)
        return found

    def table(self, unit, section, start, end):
        """What a piece of data with a name points to."""
        words = unit.data.get(section, [])
        found = []
        for where, target, addend in words[bisect.bisect_left(words, (start,)):]:
            if where >= end:
                break
            found += self.nodes(unit, target, addend)
        return found

    def calls(self, node):
        unit, name = node
        if unit.path not in self.ready:
            self.read_code(unit)
        if name in unit.nameless:
            return self.word(unit, *unit.nameless[name])
        found = []
        for symbol, offset in sorted(unit.refs.get(name, ()), key=str):
            found += self.nodes(unit, symbol, offset or 0)
        for place in unit.places.get(name, ()):
            found += self.table(unit, *place)
        return found

    def functions(self, unit):
        if unit.path not in self.ready:
            self.read_code(unit)
        return sorted(unit.refs)


def object_source(path, build):
    """launcher/policy/.libs/liblaunch_la-rank_policy.o -> launcher/policy/rank_policy."""
    folder, name = os.path.split(os.path.relpath(path, build))
    if os.path.basename(folder) == ".libs":
        folder = os.path.dirname(folder)
    return os.path.join(folder, re.sub(r"^lib[a-z0-9_]+_la-|\.o$", "", name))


def find_objects(build, sources):
    """Those of the libraries whose source is still there."""
    objects = []
    for tree in ("ft", "launcher"):
        for folder, _, names in os.walk(os.path.join(build, tree)):
            if not re.search(r"/(test|model)(/|$)", folder):
                objects += [os.path.join(folder, name) for name in sorted(names)
                            if name.endswith(".o") and os.path.basename(folder) == ".libs"]
    return [path for path in objects if object_source(path, build) + ".c" in sources.files]


def walk(graph, starts, may_end):
    """All that is reached, each with what led there by a shortest way."""
    came = {start: None for start in starts}
    queue = list(starts)
    for node in queue:
        for call in graph.calls(node):
            if call not in came and not may_end(*call):
                came[call] = node
                if call[0]:
                    queue.append(call)
    return came


def chain(came, node):
    nodes = []
    while node:
        nodes.insert(0, node)
        node = came[node]
    return nodes


def check_pure(table, graph, source_of):
    """A walk from what each pure file shows to others; complaints with the way there."""
    complaints = []
    for what, besides, _ in table.rows["pure"]:
        doors = table.ends + besides.split()
        units = [unit for unit in graph.units if covers(what, source_of(unit.path))]
        for one in what.split():
            if not any(covers(one, source_of(unit.path)) for unit in graph.units):
                complaints.append(f"{one} is pure, and has no object in the build tree")
        starts = [(unit, name) for unit in units for name in graph.functions(unit)
                  if name not in unit.local and name not in table.ends]
        came = walk(graph, starts, lambda unit, name: unit not in units and matches(name, doors))
        for unit, name in came:
            if not unit and not matches(name, table.free):
                way = chain(came, (unit, name))
                source = source_of(way[0][0].path)
                names = [n for u, n in way if not u or n not in u.nameless]
                complaints.append(f"{source} is pure, but {' -> '.join(names)}")
    return complaints


def check_still(table, graph, source_of):
    """A walk from what runs while threads stand still, to functions of other libraries."""
    complaints = []
    for functions, ends, _ in table.rows["still"]:
        doors = table.ends + ends.split()
        for function in functions.split():
            source, _, name = function.rpartition(":")
            starts = [(unit, name) for unit in graph.units if name in graph.functions(unit)
                      and (source_of(unit.path) == source if source else name not in unit.local)]
            if not starts:
                complaints.append(f"{function} runs while threads stand still, and is no function")
            came = walk(graph, starts, lambda unit, name: matches(name, doors))
            for unit, called in came:
                if not unit and not matches(called, table.quiet):
                    way = [n for u, n in chain(came, (unit, called)) if not u or n not in u.nameless]
                    complaints.append(f"while threads stand still: {' -> '.join(way)}")
    return complaints


def covers(what, source):
    return any(source == one or source.startswith(one + "/") for one in what.split())


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


# The check, checked -------------------------------------------------------------------------------

# (who, what it includes, how): one for each tree, and each way to write it.
FALSE_INCLUDES = (
    ("ft/base", "ft/core", '"{}"'),
    ("ft/core", "ft/net", "<{}>"),
    ("mpi_shim", "ft/shm", '"{}"'),
    ("mpi_shim", "launcher/base", '"../{}"'),
    ("launcher/policy", "launcher/agent", '"{}"'),
    ("launcher/base", "launcher/options", "<{}>"),
)

FALSE_CALL = """
void *ft_shared_new(unsigned long bytes);
void *ft_falsified(int way, unsigned long bytes);
static void *deep(unsigned long bytes) { return ft_shared_new(bytes); }
static void *(*const ways[])(unsigned long) = { 0, deep };
void *ft_falsified(int way, unsigned long bytes) { return ways[way](bytes); }
void *malloc(unsigned long bytes);
void *ft_falsified_still(int list);
static void *make_list(void) { return malloc(8); }
static void *(*const lists[])(void) = { 0, make_list };
void *ft_falsified_still(int list) { return lists[list](); }
"""


def first(sources, folder, suffix):
    return min(path for path in sources.files
               if os.path.dirname(path) == folder and path.endswith(suffix))


def check_check(table, sources, readme, graph, falsified):
    """Each falsified input must be complained of, by name."""
    complaints = []
    usual = set(check_includes(table, sources))

    def expect(what, found, *words):
        if not any(all(word in line for word in words) for line in set(found) - usual):
            complaints.append(f"the check does not see {what}")

    def expect_include(path, line, *words):
        changed = sources.with_text(path, f"{sources.files[path]}\n#include {line}\n")
        expect(f"{path} with #include {line}", check_includes(table, changed), *words)

    for folder, other, form in FALSE_INCLUDES:
        path = first(sources, folder, ".c")
        header = first(sources, other, ".h")
        expect_include(path, form.format(header), path, header, f"{folder} may include")
    expect_include(first(sources, "mpi_shim", ".c"), '"h.h"', "is no file of the project")
    expect_include(first(sources, "launcher/base", ".c"), "HEADER", "names no file")
    expect_include("launcher/agent/act.h", '"launcher/agent/loop.h"', "a circle: ",
                   "launcher/agent/loop -> launcher/agent/act")
    unknown = sources.with_text("launcher/falsified/file.c", "")
    expect("a folder without a row", check_includes(table, unknown), "launcher/falsified: no row")
    path, name = first(sources, "ft/core", ".c"), table.rows["names"][0][0]
    used = sources.with_text(path, f"{sources.files[path]}\nint x(struct v *v) {{ v->{name}++; }}\n")
    expect(f"{name} in {path}", check_names(table, used), path, name)
    row = readme_rows(table)[0]
    expect("a row of README that differs", check_readme(table, readme.replace(row, row + "x")), row)
    expect("a call of mmap three functions away", check_pure(table, graph, falsified),
           "policy/falsified is pure, but ft_falsified -> ways -> deep -> ft_shared_new -> mmap")
    table.rows["still"].append(("ft_falsified_still", "", ""))
    expect("a call of malloc three functions away", check_still(table, graph, falsified),
           "while threads stand still: ft_falsified_still -> lists -> make_list -> malloc")
    table.rows["still"].pop()
    return complaints


def compile_false_call(tmp):
    path = os.path.join(tmp, "falsified")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(FALSE_CALL)
    compiler = (os.environ.get("CC") or "cc").split()
    subprocess.run([*compiler, "-fPIC", "-O1", "-c", "-o", path + ".o", path + ".c"], check=True)
    return path + ".o"


def main():
    src = os.environ.get("top_srcdir") or "."
    build = os.environ.get("top_builddir") or "."
    table = Table(os.path.join(src, "scripts/layers.table"))
    if "--readme" in sys.argv:
        print("\n".join(readme_rows(table)))
        return 0
    sources = Sources(src)
    with open(os.path.join(src, README), encoding="utf-8") as file:
        readme = file.read()
    with tempfile.TemporaryDirectory() as tmp:
        false = compile_false_call(tmp)
        objects = find_objects(build, sources)
        graph = Graph([false, *objects])
        engine = Graph([false, *(o for o in objects if object_source(o, build).startswith("ft/"))])

        def source_of(path):
            return "falsified" if path == false else object_source(path, build)

        def falsified(path):
            return "launcher/policy/falsified" if path == false else "other"

        complaints = check_includes(table, sources) + check_names(table, sources)
        complaints += check_readme(table, readme)
        complaints += check_pure(table, graph, source_of)
        complaints += check_still(table, engine, source_of)
        complaints += check_check(table, sources, readme, graph, falsified)
    for line in complaints:
        print(f"layers: {line}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
