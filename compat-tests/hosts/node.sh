#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One node of several, against a controller that misbehaves: node.py.
. "$(dirname "$0")/../lib/test.sh"
needs python3
own_jobs # or another test's ftrun status would have its nodes call their controller, which is none
# A sanitized ftrun looks for leaks at its end in a child of its own; killed by us, that child leaves it waiting for ever.
sanitizers detect_leaks=0
cd "$tmp" || exit 99
timeout -k 5 900 python3 "$here/node.py" "$ftrun"
code=$? what=node.py
expect_code 0

# By hand it says what it is for.
run --node
expect_code 2
expect_err "^ftrun: --node is for ftrun itself"
expect_err_lines 1
echo '{"ftmpi": "0.0"}' | "$ftrun" --node 2>"$tmp/err"
code=$? what="a node of another version"
expect_code 2
expect_err "^ftrun: ftmpi here is version .*, that of the job is 0.0"
expect_err_lines 1
finish
