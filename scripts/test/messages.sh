#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/troubleshooting.md has each message that the sources have, and no other; its examples are
# messages; counts agree with their nouns, and one thing has one name. A page, or a source, that does
# not is found.
# shellcheck disable=SC2016
src=$(cd "${top_srcdir:-.}" && pwd)
page=$src/docs/troubleshooting.md
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
export top_srcdir="$src" PYTHONDONTWRITEBYTECODE=1
failed=0
fail() { echo "FAIL: $*" && failed=1; }
messages() { python3 "$src/scripts/messages.py" "$@"; }

# wrong WHAT SED-COMMAND: the page, changed so, will be complained about.
pages=0
wrong() {
    pages=$((pages + 1))
    sed "$2" "$page" >"$tmp/page$pages"
    cmp -s "$page" "$tmp/page$pages" && fail "$1: nothing was changed"
    echo "$1" >>"$tmp/wrong"
}
wrong 'not in PAGE: the time is up' '/^`the time is up/d'
wrong 'PAGE: no source has: the time is over' 's/^`the time is up/`the time is over/'
wrong 'PAGE: twice: out of memory' 's/^`out of memory` .*/&\n&/'
wrong 'PAGE: no message is like this example: ftrun: told to halt' 's/^    ftrun: told to stop/    ftrun: told to halt/'

# The sources are read once.
messages check "$page" "$tmp"/page[0-9] >"$tmp/said" && fail "nothing is wrong"
grep -F "$tmp/page" "$tmp/said" >"$tmp/found"
grep -vF "$tmp/page" "$tmp/said" && fail "see above"
while read -r what; do
    n=$((${n:-0} + 1))
    grep -qF "$(echo "$what" | sed "s|PAGE|$tmp/page$n|")" "$tmp/found" || fail "$what: not found"
done <"$tmp/wrong"
[ "$(grep -c '^`.*` \\$' "$page")" -ge 600 ] || fail "few messages: is the page read as it is written?"
[ "$(grep -c '^    ftrun: ' "$page")" -ge 15 ] || fail "few examples"

# nouns RAW EXPECTED: those that would have the wrong number.
nouns() {
    said=$(PYTHONPATH=$src/scripts python3 -c 'import sys, messages; print(*messages.disagreeing(sys.argv[1]))' "$1")
    [ "$said" = "$2" ] || fail "$1: \"$said\""
}
nouns '%u ranks are left, of %llu spare hosts' 'ranks hosts'
nouns '%u rank%s: rank %u replays' ''
nouns 'cannot map %llu bytes' ''

# named RAW EXPECTED: the names that it should use.
named() {
    said=$(PYTHONPATH=$src/scripts python3 -c 'import sys, messages; print(*messages.other_names(sys.argv[1]))' "$1")
    [ "$said" = "$2" ] || fail "$1: \"$said\""
}
named 'resumed from version %llu by a new agent' 'ftrun, or a process of ftrun checkpoint'
named 'resumed from checkpoint %llu: ftmpi here is version 0.1.0' ''

messages 'ftrun: the time is up (--timeout 5); the job is ended' | grep '^Somebody asked' >/dev/null || fail "a line is not explained"
messages 'ftrun: no such line' && fail "a line is explained that is none"
exit $failed
