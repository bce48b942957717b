#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Five seconds of random kills; for longer runs call stress.py.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || { echo "python3 is missing: apt-get install python3"; exit 77; }
# A sanitized ftrun looks for leaks at its end in a child of its own; killed by us, that child leaves it waiting for ever.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export ASAN_OPTIONS
timeout -k 5 120 python3 "$(dirname "$0")/stress.py" "$ftrun"
code=$? what=stress.py
expect_code 0
finish
