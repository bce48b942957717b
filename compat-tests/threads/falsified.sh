#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank with threads on a C library that is otherwise than is known (FT_TEST_THREADS says what): one line says so, it gets no newer snapshot, and it is
# right all the same. And --snapshot-threads off.
. "$(dirname "$0")/../lib/test.sh"
# taken OPTION...: snapshots of a rank with threads; its output is in $tmp/out.
taken() {
    run --timeout 60 --snapshot 0.01 --report "$tmp/report" "$@" -n 1 "$built/unnoticed" 1 times
    expect_code 0
    sed -n 's/^ *"taken": \([0-9]*\),*$/\1/p' "$tmp/report" | tail -n 1
}
[ "$(taken)" -gt 5 ] || fail "few snapshots of a rank with threads"
! grep -q 'not what is known' "$tmp/err" || fail "this C library is not known"
export FT_TEST_THREADS=number
[ "$(taken)" -le 2 ] || fail "snapshots where threads cannot be put back"
grep -q "^ftrun: rank 0: it gets no snapshot while it has more than one thread: a thread's number is not what is known" "$tmp/err" || fail "nothing is said"
unset FT_TEST_THREADS
[ "$(taken --snapshot-threads off)" -le 2 ] || fail "snapshots with --snapshot-threads off"
finish
