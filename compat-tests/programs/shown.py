#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""shown.py TOP: the programs that README.md, docs/*.md and the manual pages show are those of examples/, word for word, and each file of
examples/ is shown or named there. A line for each difference; exit code 1 if there is one."""
import glob
import os
import re
import sys

PROGRAM = re.compile(r"(#include <.*>|import |from \w+ import |program )")


def of_markdown(text):
    """Its indented and its fenced blocks."""
    blocks, block = [], []
    for line in text.split("\n"):
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        elif block:
            blocks.append("\n".join(block).strip("\n"))
            block = []
    return blocks + re.findall(r"^```\w*\n(.*?)\n```", text, re.M | re.S)


def of_page(text):
    blocks = re.findall(r"^\.nf\n(.*?)\n\.fi", text, re.M | re.S)
    return [re.sub(r"\\(-|&|e|\(dq)", lambda m: {"-": "-", "&": "", "e": "\\", "(dq": '"'}[m[1]], block).strip("\n") for block in blocks]


def main():
    top = sys.argv[1]
    examples, texts, bad, shown = {}, {}, 0, 0
    for path in filter(os.path.isfile, sorted(glob.glob(f"{top}/examples/**", recursive=True))):
        with open(path, encoding="utf-8") as file:
            examples[os.path.basename(path)] = file.read().split("\n", 1)[1].strip("\n")  # without the licence's line
    for path in [f"{top}/README.md", *glob.glob(f"{top}/docs/*.md"), *glob.glob(f"{top}/docs/*.[1-8]")]:
        with open(path, encoding="utf-8") as file:
            texts[os.path.relpath(path, top)] = text = file.read()
        for block in of_markdown(text) if path.endswith(".md") else of_page(text):
            if not PROGRAM.match(block) or block.count("\n") < 3:
                continue
            shown += 1
            if block not in examples.values():
                bad += 1
                print(f"{path} shows a program that is not in examples/:\n{block}")
    for name in examples:
        if not any(name in text for text in texts.values()):
            bad += 1
            print(f"examples/{name} is neither shown nor named")
    if len(examples) < 6 or shown < 5:
        bad += 1
        print(f"{len(examples)} examples, {shown} shown: are they read as they should be?")
    return bad > 0


sys.exit(main())
