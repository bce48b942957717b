#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI is called on the stacks of user-level threads, which are small: what the library needs of one is less than 12 KiB, whatever the operation, on one host
# and on several. (A reduction had 16 KiB there, and what came from another host 64.)
. "$(dirname "$0")/../lib/test.sh"
uses hosts
for n in 1 2 3 4; do
    run -n $n "$built/stacks"
    expect_code 0
    [ "$(wc -l <"$tmp/out")" = $n ] || fail "not $n lines: $(cat "$tmp/out")"
    [ "$(sed 's/.*: //' "$tmp/out" | sort -u | wc -l)" = 1 ] || fail "ranks differ: $(cat "$tmp/out")"
done
sort "$tmp/out" >"$tmp/here"
hosts a:2,b:2 "$built/stacks"
expect_code 0
sort "$tmp/out" | cmp - "$tmp/here" || fail "over two hosts: $(cat "$tmp/out")"
finish
