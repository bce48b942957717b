#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a rank's end means for the job, with programs that are not MPI programs.
. "$(dirname "$0")/../lib/test.sh"
first='[ "$FTMPI_INCARNATION" = 0 ]'
rank1='[ "$FTMPI_RANK" = 1 ]'

run -n 4 true
expect_code 0
expect_err_lines 0
run -n 2 sh -c "$rank1 && exit 3; exec sleep 100"
expect_code 3
expect_err 'rank 1 .*exited with code 3'
expect_err_lines 1
run -n 1 sh -c 'exit 128'
expect_code 128
run -n 1 sh -c 'exit 160'
expect_code 160

# Deaths are made good: signals and the codes shells give them.
for death in 'kill -9 $$' 'kill -15 $$' 'kill -11 $$' 'kill -6 $$' 'exit 129' 'exit 137' 'exit 159'; do
    run -n 2 sh -c "$rank1 && $first && { $death; }; exit 0"
    expect_code 0
    expect_err 'rank 1 .*; restarted, restart 1$'
    expect_err '1 death of a rank survived: 1 from the start\(;\|$\)'
    expect_err_lines 2
done
run -q -n 2 sh -c "$rank1 && $first && kill -9 \$\$; exit 0"
expect_code 0
expect_err_lines 0

# Not for ever, and not against the user's will.
run -n 1 sh -c 'kill -11 $$'
expect_code 139
expect_err 'killed by signal 11 (SIGSEGV), 3 times in a row at unit 0; given up'
expect_err_lines 3
run -q -n 1 sh -c 'exit 134'
expect_code 134
# It can be seen that nobody else has killed it: it was restarted a hundred times. Where nothing is recorded it cannot.
run -n 1 sh -c 'kill -9 $$'
expect_code 137
if records; then
    expect_err 'killed by signal 9 (SIGKILL), 3 times in a row at unit 0; given up'
    expect_err_lines 3
fi
run -q --snapshot off -n 1 sh -c 'kill -9 $$'
expect_code 137
expect_err 'killed by signal 9 (SIGKILL), 100 times in a row within a second of its start; given up'
run --max-restarts 2 --snapshot off -n 1 sh -c 'kill -9 $$'
expect_code 137
expect_err '2 restarts so far'
expect_err_lines 3
run --max-restarts 0 -n 1 sh -c 'kill -9 $$'
expect_code 137
expect_err_lines 1
run --restart-on none -n 1 sh -c 'exit 139'
expect_code 139
run --restart-on 7 -n 1 sh -c "$first && exit 7; exit 0"
expect_code 0
run --restart-on 7 -n 1 sh -c 'kill -9 $$'
expect_code 137
expect_err 'not restarted (--restart-on)'
finish
