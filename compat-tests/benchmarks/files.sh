#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# benchmarks/files measures each of its calls, with a record and without.
. "$(dirname "$0")/../lib/test.sh"
sanitizers detect_leaks=0
bounded 120 "$top_srcdir/benchmarks/files" "$top_builddir" 1 1 >"$tmp/out" 2>"$tmp/err"
code=$? what="benchmarks/files"
expect_code 0
[ "$(grep -cE '^[a-z0-9 B]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$' "$tmp/out")" = 12 ] || { fail "$what: not 12 lines"; cat "$tmp/out" "$tmp/err"; }
bounded 20 "$top_srcdir/benchmarks/files" "$tmp" 1 1 >"$tmp/out" 2>"$tmp/err"
code=$? what="benchmarks/files of no build"
expect_code 2
finish
