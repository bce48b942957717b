#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Communicators of the ranks of one host, in a job on two: right, also when a rank is killed. One of ranks of both is an error, in one line.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT

hosts one:2,two:2 -n 4 "$built/by_host"
expect_code 0
by_rank "$tmp/out" >"$tmp/undisturbed"
cut -d, -f1,3 "$tmp/undisturbed" >"$tmp/out"
expect_out '0 place 1 of its host, error 1' '1 place 0 of its host, error 1' '2 place 1 of its host, error 1' '3 place 0 of its host, error 1'
for victim in 0 1 3; do
    hosts one:2,two:2 -n 4 "$built/by_host" $victim
    expect_code 0
    expect_err "rank $victim.*restart"
    by_rank "$tmp/out" | cmp - "$tmp/undisturbed" || fail "other output when rank $victim dies"
done
hosts one:2,two:2 -n 4 "$built/by_host" -1
expect_code 16
expect_err 'MPI_Comm_dup, rank [0-3] on .*: MPI_ERR_OTHER: rank 0 and others of it are on several hosts'
expect_err_lines 1

# A host that replaced a lost one did not know which streams were in use, and ranks met in different communicators.
hosts one:2,two:2 --survive host -n 4 "$built/by_host" -1
expect_code 16
expect_err 'MPI_Comm_split_type, rank [0-3] on .*: MPI_ERR_OTHER: with --survive host ftmpi has no communicators'
finish
