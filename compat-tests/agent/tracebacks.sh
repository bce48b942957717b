#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that die of the same Python error: its traceback is shown once, with a count (each was shown, hundreds of lines). Nothing is lost: each rank's
# own file has it, and a traceback that is not the same, or not the end of its rank, is shown.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
python=/usr/bin/python3
cat >"$tmp/boom.py" <<'END'
import atexit, os, sys, time, traceback
rank, size = os.environ["FTMPI_RANK"], int(os.environ["FTMPI_SIZE"])
def meet(where):
    open(f"{sys.argv[1]}/{where}.{rank}", "w").close()
    while sum(name.startswith(where) for name in os.listdir(sys.argv[1])) < size:
        time.sleep(0.01)
meet("here")  # tracebacks are held for a few seconds, which on a busy machine is less than interpreters need to start
atexit.register(meet, "met")  # all have printed before one of them ends
def fail(what):
    raise ValueError(what)
def work():
    if sys.argv[2] == rank:
        fail("another")
    fail("boom")
if sys.argv[2] != "log":
    work()
try:
    work()
except ValueError:
    traceback.print_exc()
END
# boom WHO ARGUMENT...: the ranks but WHO have the same.
boom() {
    who=$1
    shift
    rm -f "$tmp"/met.* "$tmp"/here.*
    run "$@" $python "$tmp/boom.py" "$tmp" "$who"
    "$python" - "$tmp/err" >"$tmp/blocks" <<'END'
import re, sys
print(*sorted(re.findall(r"^ValueError: (\w+)", open(sys.argv[1]).read(), re.M)))
END
}
shown() { [ "$(cat "$tmp/blocks")" = "$*" ] || fail "$what: shown are: $(cat "$tmp/blocks")"; }

boom - -n 4 --output-filename "$tmp/own"
expect_code 1
shown boom
expect_err '^ftrun: 3 more ranks ended with the same traceback as rank [0-3]: [0-3, -]*$'
[ "$(grep -c . "$tmp/err")" = $(($(grep -c . "$tmp/own/rank.0/stderr") + 2)) ] || fail "$what: there is more than one traceback and two lines"
for rank in 1 2 3; do cmp "$tmp/own/rank.0/stderr" "$tmp/own/rank.$rank/stderr" || fail "rank $rank: its file has something else"; done
grep -q '^ValueError: boom$' "$tmp/own/rank.3/stderr" || fail "no traceback in a rank's file"

boom 2 -n 4 --tag-output
expect_code 1
[ "$(grep -c '^\[1,.\]<stderr>:ValueError: boom' "$tmp/err")" = 1 ] || fail "$what: not one boom"
[ "$(grep -c '^\[1,2\]<stderr>:ValueError: another' "$tmp/err")" = 1 ] || fail "$what: not the other one"
expect_err '^ftrun: 2 more ranks ended with the same traceback as rank [013]: [0-3, -]*$'

# They go on: that is none of ftrun's business.
boom log -n 3
expect_code 0
shown boom boom boom
! grep -q '^ftrun' "$tmp/err" || fail "$what: ftrun says something"

# Of each host one; the controller writes the files.
boom - --launcher "exec:$tmp/go" -H a:2,b:2 --output-filename "$tmp/hosts"
expect_code 1
shown boom boom
[ "$(grep -c '^ftrun: 1 more rank ended with the same traceback as rank [0-3]: [0-3]$' "$tmp/err")" = 2 ] || fail "$what: not said of each host"
for rank in 1 2 3; do cmp "$tmp/hosts/rank.0/stderr" "$tmp/hosts/rank.$rank/stderr" || fail "rank $rank: its file has something else"; done
finish
