#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/failure-model.md: each row names a test (or says that there is none), and make check runs every test that is named.
model=${top_srcdir:-.}/docs/failure-model.md
src=${top_srcdir:-.}
# The words of every list of tests in the makefiles, and the files of unit tests, without their
# directories and suffixes.
tests=$(cat "$src"/Makefile.am "$src"/*/local.mk "$src"/*/*/local.mk "$src"/*/*/*/local.mk | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
    grep -E '^[a-zA-Z_]*([tT][eE][sS][tT][sS](_alone|_first)?|check_PROGRAMS|_unit_SOURCES) *\+?=' |
    tr -s '[:space:]' '\n' | sed 's|.*/||; s|_test\.c$|_test|')
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}

# The last column of the tables, less their heads.
last=$(grep '^|' "$model" | grep -v -e '^|---' -e '^| what fails' | sed 's/ *|$//; s/.*| *//')
[ "$(echo "$last" | wc -l)" -ge 25 ] || fail "only $(echo "$last" | wc -l) rows"
echo "$last" | grep -v -e '`' -e '^-$' && fail "rows that name no test (above)"

# shellcheck disable=SC2016
for test in $(echo "$last" | grep -o '`[^`]*`' | tr -d '`' | sort -u); do
    # A program that is built for make check, or a script; both are there to be run.
    echo "$tests" | grep -q -x -F -e "${test##*/}" || fail "$test is no test of make check"
done

# The page said "One host.", with 25 rows about several: the tables about those are named in its beginning.
sed '/^## /,$d' "$model" >"${TMPDIR:-/tmp}/failure_model.$$"
sed -n 's/^## \(.*[Nn]odes.*\)/\1/p' "$model" | sed 's/ *[,(].*//' | while read -r title; do
    grep -qF "\"$title\"" "${TMPDIR:-/tmp}/failure_model.$$" || echo "$title"
done | grep . && fail "the beginning does not say that these tables are about several hosts"
rm -f "${TMPDIR:-/tmp}/failure_model.$$"
exit $failed
