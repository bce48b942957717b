#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Five seconds of random kills; for longer runs call stress.py.
. "$(dirname "$0")/../lib/test.sh"
needs python3
# A sanitized ftrun looks for leaks at its end in a child of its own; killed by us, that child leaves it waiting for ever.
sanitizers detect_leaks=0
timeout -k 5 120 python3 "$(dirname "$0")/stress.py" "$ftrun"
code=$? what=stress.py
expect_code 0
finish
