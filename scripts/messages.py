#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The messages of ftrun and of its libraries, read from the sources, and the page that explains them.

A message is a string literal that a function for people gets: one declared with
__attribute__((format(printf, ...))), and fprintf to stderr.  So is any other literal of three words
or more: it is a reason, which goes into such a line.  Left out, as classes:
  - lines of --verbose (ft_say_detail), and broken invariants of ftmpi itself;
  - answers to a question: what --help, status, list, --report, --timeline and ftmpi_info print;
  - names of things (X-macros), and what programs read (JSON, HTTP, assembler, /proc).

  messages.py check [PAGE...]
                       each message is in docs/troubleshooting.md, and none there is gone; each
                       example there is a message filled in; counts agree with their nouns;
                       things are called by one name
  messages.py list     the messages, with their places
  messages.py LINE     what the page says of this line
Reads top_srcdir from the environment, as all tests do; "." if it is not set.
"""
import functools
import os
import pathlib
import re
import sys

TOP = pathlib.Path(os.environ.get("top_srcdir") or ".")
PAGE = "docs/troubleshooting.md"

DETAIL = {"ft_say_detail", "ft_say_step", "ft_say_debug"}
NOT_FOR_PEOPLE = {"ft_options_keep", "FT_INVARIANT", "_Static_assert", "__attribute__", "asm", "volatile", "_Pragma", "X", "json_string", "sscanf",
                  "strstr", "strcmp", "strncmp", "evbuffer_add_printf", "add_header", "ft_service_error"}
ANSWERS = ("launcher/control/show.c", "launcher/report/svg.c", "launcher/report/bands.c", "launcher/options/help.c",
           "launcher/rdzv/service.c", "launcher/options/settings.c", "launcher/policy/phases.c", "ft/base/sig.c", "ft/base/reduce.c", "ft/base/util.c")
OF_PROGRAMS = {"Traceback (most recent call last):\\n"}  # what ftrun looks for in the programs' own lines
PRINTS = {"printf", "puts", "fputs", "fprintf"}

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\s+|.', re.S)
CONVERSION = re.compile(r"%[-+ 0#]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")


class Message:
    """text: as in the page, with … where something is filled in.  raw: the format."""

    def __init__(self, raw, path, line):
        self.raw, self.path, self.line = raw, path, line
        self.text = in_page(raw)


def in_page(raw):
    text = raw.replace('\\"', '"').replace("\\n", "").replace("\\t", " ")
    text = CONVERSION.sub("…", text).replace("%%", "%")
    return re.sub("…{2,}", "…", text).strip()


@functools.cache
def words(raw):
    """How many: names of options, numbers and what is filled in are none."""
    return len(re.findall(r"(?<![\w-])[A-Za-z][A-Za-z']*", CONVERSION.sub(" … ", raw.replace("\\n", " "))))


# Sources -----------------------------------------------------------------------------------------

def runtime_sources():
    """What local.mk's build ftrun and the libraries of."""
    found = set()
    for makefile in sorted(TOP.glob("*/local.mk")) + sorted(TOP.glob("*/*/local.mk")):
        text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
        for name, files in re.findall(r"^(\w+)_SOURCES\s*\+?=(.*)$", text, flags=re.M):
            if name == "ftrun" or name.startswith("lib") and name.endswith("_la"):
                found.update(re.findall(r"\S+\.[ch]\b", files))
    return sorted(path for path in found if "/test/" not in path and not path.startswith("compat-tests/") and (TOP / path).exists())


def tokens(text):
    line = 1
    for match in TOKEN.finditer(text):
        token = match.group()
        if not token.isspace() and not token.startswith(("/*", "//")):
            yield token, line
        line += token.count("\n")


def speakers(code):
    """Functions that format a line, and which argument is the format."""
    found = {"fprintf": 1}
    for name, number in re.findall(r"(\w+)\)?\([^;{]*?\bformat\(printf, (\d+)", code):
        found[name] = int(number) - 1
    return found


def macros(code):
    """#define NAME "text" ["text"]..."""
    found = {"PACKAGE_VERSION": "%s"}
    for name, body in re.findall(r'^#define (\w+) ((?:"(?:\\.|[^"\\\n])*"(?:\s*\\\n)?\s*)+)$', code, flags=re.M):
        found[name] = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', body))
    return found


def literals(code, defined):
    """(literal, line, the calls around it as (function, argument's number), innermost last)."""
    have = list(tokens(code))
    around, at = [], 0
    while at < len(have):
        token, line = have[at]
        before = have[at - 1][0] if at else ""
        if token in "([{":
            around.append([before if token == "(" and re.match(r"[A-Za-z_]", before) else token, 0])
        elif token in ")]}" and around:
            around.pop()
        elif token == "," and around:
            around[-1][1] += 1
        elif token.startswith('"') or token in defined:
            text = ""
            while at < len(have) and (have[at][0].startswith('"') or have[at][0] in defined or have[at][0].startswith("PRI")):
                part = have[at][0]
                text += part[1:-1] if part.startswith('"') else "u" if part.startswith("PRI") else defined[part]
                at += 1
            yield text, line, [tuple(call) for call in around]
            continue
        at += 1


def messages():
    paths = runtime_sources()
    codes = {path: (TOP / path).read_text(encoding="utf-8") for path in paths}
    all_code = "\n".join(codes.values())
    speak, defined = speakers(all_code), macros(all_code)
    found = []
    for path, code in codes.items():
        code = re.sub(r"^[ \t]*#(?!define \w+\()(?:[^\\\n]|\\[^\n]|\\\n)*", lambda m: "\n" * m.group().count("\n"), code, flags=re.M)
        for raw, line, around in literals(code, defined):
            calls = [call for call in around if re.match(r"[A-Za-z_]", call[0])]
            names = {name for name, _ in calls}
            if names & (DETAIL | NOT_FOR_PEOPLE) or ("json_pack", 0) in calls or path.endswith("error_class.h") or raw in OF_PROGRAMS:
                continue
            spoken = any(name in speak and number == speak[name] and name != "fprintf" for name, number in calls)
            if not spoken and (path in ANSWERS or names & PRINTS and not (("fprintf", 1) in calls and is_to_stderr(code, line))):
                continue
            if spoken and re.search("[A-Za-z]{2}", in_page(raw)) or words(raw) >= 3 and " " in raw.strip():
                found.append(Message(raw, path, line))
    return found


def is_to_stderr(code, line):
    return "stderr" in code.split("\n")[line - 1]


# The page ----------------------------------------------------------------------------------------

def in_document(text):
    """Its messages: lines that are `this` \\, and its examples, indented after "ftrun: "."""
    return re.findall(r"^`(.+)` \\$", text, flags=re.M), re.findall(r"^    ((?:ftrun|ftmpi): .+)$", text, flags=re.M)


@functools.cache
def pattern(text):
    """What a message is when it is filled in. After a colon at its end comes more."""
    return re.compile(".*".join(re.escape(part) for part in text.split("…")) + (".*$" if text.endswith(":") else "$"), re.S)


# Counts ------------------------------------------------------------------------------------------

# "%u nouns", and not "rank %u verbs".
COUNTED = re.compile(r"(?<!rank )(?<!node )(?<!process )(?<!range )(?<!descriptor )(?<!steps of )%(?:ll|z)?[ud] (?:(?!in )[a-z]+ )?(?!times\b)([a-z]{2,}[a-rt-z]s|processes)\b")
NO_NOUNS = {"goes", "has", "is", "was", "does", "its", "this", "exceeds"}
# The number is above a limit, or is one, so it is more than 1.
ABOVE = re.compile(r"too many|at least|at most|cannot map|cannot size|longer than|must have|more than memory|4 GiB|63 bits|share processors"
                   r"|at %u per host")


def disagreeing(raw):
    return [] if ABOVE.search(raw) else [noun for noun in COUNTED.findall(raw) if noun not in NO_NOUNS]


# One name for one thing: what no message says, and what it says instead. The page has a table of the words.
OTHER_NAMES = (
    (r"\bincarnation", "restart, or predecessor"), (r"\brespawn", "restart"),
    (r"\bagent\b|\bcontroller\b|\blauncher process", "ftrun, or a process of ftrun"),
    (r"(?<!is )\bversion %", "checkpoint"), (r"\bcop(?:y|ies) of (?:it|a rank|the rank)\b", "snapshot"),
    (r"\bfrom (?:the|its) beginning\b", "from the start"), (r"\bheard of\b", "heard from"),
    (r"\b(?:another|other|no) nodes?\b", "host"),
)


def other_names(raw):
    """Not of what a fault of ftmpi itself would say, in the words of its protocol."""
    return [better for name, better in OTHER_NAMES if re.search(name, raw) and not re.search(r"\b(?:CALLS|CELLS|REPORT)\b", raw)]


def check(page, have):
    failed = []
    told, examples = in_document(pathlib.Path(page).read_text(encoding="utf-8"))
    for message in have:
        if message.text not in told:
            failed.append(f"{message.path}:{message.line}: not in {page}: {message.text}")
        failed += [f"{message.path}:{message.line}: another name for {name}: {message.raw}" for name in other_names(message.raw)]
        for noun in disagreeing(message.raw):
            if any(re.search(rf" {noun[:-1]}\b", " " + one.raw) for one in have if one.path == message.path and one.raw != message.raw):
                continue  # there is one for 1
            failed.append(f"{message.path}:{message.line}: 1 {noun}? (ft_plural): {message.raw}")
    texts = {message.text for message in have}
    failed += [f"{page}: no source has: {one}" for one in told if one not in texts]
    failed += [f"{page}: twice: {one}" for one in sorted({one for one in told if told.count(one) > 1})]
    for example in examples:
        if not any(words(one) >= 2 and pattern(one).match(example.split(": ", 1)[1]) for one in texts):
            failed.append(f"{page}: no message is like this example: {example}")
    return failed


def explain(line):
    """Prints what the page says of it; False: nothing."""
    text = (TOP / PAGE).read_text(encoding="utf-8")
    line = re.sub(r"^(ftrun|ftmpi): ", "", line)
    found = False
    for entry in text.split("\n\n"):
        own = [one for one in in_document(entry)[0] if words(one) and pattern(one).match(line)]
        if own:
            print(*own, *(prose for prose in entry.split("\n") if not prose.startswith("`")), "", sep="\n")
            found = True
    return found


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "list":
        for message in messages():
            print(f"{message.path}:{message.line}: {message.text}")
    elif what == "check":
        have = messages()
        failed = [complaint for page in sys.argv[2:] or [TOP / PAGE] for complaint in check(page, have)]
        for complaint in failed:
            print("FAIL:", complaint)
        return bool(failed)
    elif what:
        return not explain(what)
    else:
        print(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
