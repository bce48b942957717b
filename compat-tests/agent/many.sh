#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 512 ranks, some of which die.
. "$(dirname "$0")/../lib/test.sh"
run -q -n 512 sh -c '[ $((FTMPI_RANK % 100)) = 7 ] && [ $FTMPI_INCARNATION = 0 ] && kill -9 $$; echo $FTMPI_RANK'
expect_code 0
expect_err_lines 0
sort -n "$tmp/out" >"$tmp/sorted"
seq 0 511 | cmp -s - "$tmp/sorted" || fail "not every rank printed its line once"
finish
