#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait for each other: the job ends with a line that says who waits for whom, for what and where. Not one whose ranks may yet go on.
. "$(dirname "$0")/../lib/test.sh"
at='at deadlock+0x[0-9a-f]*'
# dead WHAT TEXT
dead() {
    run -n 3 "$built/deadlock" "$1"
    expect_code 1
    expect_err "ftrun: deadlock: $2; the job is ended"
    expect_err_lines 1
    expect_no_out
}
from() { echo "rank $1 waits for rank $2 (message from rank $2, tag 5 $at)"; }
dead ring "$(from 0 1), $(from 1 2), $(from 2 0)"
dead tag "$(from 0 2), $(from 2 1), $(from 1 0)"
dead any "rank [01] waits for rank [01] (message from any rank $at), rank [01] waits for rank [01] (message from any rank $at)"
dead synchronous "rank 1 waits for rank 0 (MPI_Barrier $at), rank 0 waits for rank 1 (message to rank 1 to be taken $at)"
dead waitany "rank [01] waits for rank [01] (one of 2 receives $at), rank [01] waits for rank [01] (one of 2 receives $at)"
dead communicators "rank [01] waits for rank [01] (MPI_Barrier $at), rank [01] waits for rank [01] (MPI_Barrier $at)"
dead finalize "rank 1 waits for rank 0 (MPI_Finalize $at), $(from 0 1)"
# A rank that has left with code 0, and one that is in MPI_Finalize.
gone() { # how, wait, line
    run -n 3 "$built/deadlock" gone "$1" "$2"
    expect_code 1
    expect_err "$3; the job is ended"
    expect_err_lines 1
    expect_no_out
}
for how in exit _exit return; do
    left='ftrun: rank 1 (pid [0-9]*, host .*) exited with code 0 without calling MPI_Finalize, and rank 0 waits for it'
    gone $how receive "$left (message from rank 1, tag 5 $at)"
    gone $how any "$left (message from any rank $at)"
    gone $how probe "$left (message from rank 1, tag 5 $at)"
    gone $how synchronous "$left (message to rank 1 to be taken $at)"
    gone $how barrier "$left (MPI_Barrier $at)"
done
gone finalize receive "ftrun: deadlock: rank 1 waits for rank 0 (MPI_Finalize $at), rank 0 waits for rank 1 (message from rank 1, tag 5 $at)"
gone finalize synchronous "ftrun: deadlock: rank 1 waits for rank 0 (MPI_Finalize $at), rank 0 waits for rank 1 (message to rank 1 to be taken $at)"

# Messages that nobody receives have all of the log: it stood still, without a line. What can be spilled goes on.
run -n 3 --log-full forget --log-limit 16M "$built/deadlock" backlog
expect_code 1
expect_err "^ftrun: the log has reached its limit of 16 MiB, and nothing of it can be forgotten: rank 1 has not received [0-9.]* MiB that rank 0 has sent \
to it; rank 1 waits for rank 0 (message from rank 0, tag 2 $at); the job is ended (--log-limit, --log-full)"
expect_err_lines 1
run -n 3 --log-full spill --log-limit 16M --log-spill "$tmp" "$built/deadlock" backlog
expect_code 0
expect_err_lines 1

# What a rank would receive in another order is forgotten: it does not begin again, but by --start-over.
run -n 3 --log-full forget --log-limit 16M --snapshot off "$built/deadlock" decided
expect_code 1
expect_err 'it has taken messages in an order that others decided'
expect_no_out
run -n 3 --log-full forget --log-limit 16M --snapshot off --start-over always "$built/deadlock" decided
expect_code 0
sorted
expect_out '0 over' '1 over' '2 over'

for alive in busy later; do
    run -n 3 "$built/deadlock" $alive
    expect_code 0
    sorted
    expect_out '0 over' '1 over' '2 over'
done
finish
