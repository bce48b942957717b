#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpi_store, the store for Python: what it gives, what it refuses, with ranks that are killed, and without ftrun.
. "$(dirname "$0")/../lib/test.sh"
needs python3
PYTHONPATH=$top_builddir/.libs/ftmpi/python
export PYTHONPATH

run -n 3 python3 "$here/shared.py"
expect_code 0
[ "$(grep -c 'done' "$tmp/out")" = 3 ] || fail "$what: not all are through"
run -n 3 python3 "$here/shared.py" die
expect_code 0
[ "$(grep -c 'done' "$tmp/out")" = 3 ] || fail "$what: not all are through"
[ "$(sed -n 's/.*ticket //p' "$tmp/out" | sort | tr '\n' ' ')" = '1 2 3 ' ] || fail "$what: not each ticket once"
[ "$(grep -c '(SIGKILL)' "$tmp/err")" -ge 2 ] || fail "$what: not two deaths"
! grep -q 'not what it was before' "$tmp/err" || fail "$what: a line was printed differently"

LD_LIBRARY_PATH=$top_builddir/.libs call python3 "$here/shared.py"
expect_code 0
expect_out '0 ticket 1' '0 done'
call python3 -c 'import ftmpi_store; ftmpi_store.Store()'
expect_code 1
expect_err 'ftmpi_store: this process finds no libmpi.so.40 of ftmpi.s, or one without a store: start it with ftrun'
finish
