#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ft/outcome/calls.table names every function that the recorder takes the place of, and no other.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-.}
library=$build/.libs/liboutcome_test.so
command -v nm >/dev/null || exit 77
[ -e "$library" ] || exit 77
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
bad=0

grep -v '^#' "$top/ft/outcome/calls.table" | grep . >"$tmp/rows"
awk -F '|' 'NF != 5 { print "FAIL: a row has " NF " parts: " $0; bad = 1 } END { exit bad }' "$tmp/rows" || bad=1
cut -d '|' -f 2 "$tmp/rows" | sed 's/([^)]*)//g' | tr -s ' ' '\n' | grep . | sort >"$tmp/table"
nm -D --defined-only "$library" | awk '$2 == "T" || $2 == "W" || $2 == "i" { print $3 }' |
    grep -vE '^(ft_|test_|_init$|_fini$)' | sort -u >"$tmp/library"
uniq -d "$tmp/table" | sed 's/^/FAIL: twice in the table: /' | grep . && bad=1
sort -u "$tmp/table" | comm -23 - "$tmp/library" | sed 's/^/FAIL: in the table, not taken the place of: /' | grep . && bad=1
sort -u "$tmp/table" | comm -13 - "$tmp/library" | sed 's/^/FAIL: not in the table: /' | grep . && bad=1
[ "$(wc -l <"$tmp/library")" -ge 150 ] || { echo "FAIL: the library takes the place of too few" && bad=1; }
exit $bad
