#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several programs in one job: each its own ranks, directory, variables and command line.
. "$(dirname "$0")/../lib/test.sh"
mkdir "$tmp/dir"
say='echo $FTMPI_RANK/$FTMPI_SIZE $A $(basename "$PWD") $*'
run -n 2 -x A=a sh -c "$say" one 1 : -n 1 -wdir "$tmp/dir" -x A=b sh -c "$say" two 2
expect_code 0
sorted
directory=$(basename "$PWD")
expect_out "0/3 a $directory 1" "1/3 a $directory 1" "2/3 b dir 2"
run -n 1 true : -n 2 no-such-program-anywhere
expect_code 127
expect_err 'no-such-program-anywhere: command not found'
expect_err_lines 1
run -n 1 true :
expect_code 2
expect_err 'part 2'
run -n 1 true : -n 1 sh -c 'exit 7'
expect_code 7

# A rank of the second program dies and comes back as what it was.
run -q -n 1 true : -n 2 sh -c '[ $FTMPI_INCARNATION = 1 ] || [ $FTMPI_RANK = 1 ] || kill -9 $$; echo second $FTMPI_RANK $FTMPI_INCARNATION $FTMPI_APPNUM'
expect_code 0
sorted
expect_out 'second 1 0 1' 'second 2 1 1'
finish
