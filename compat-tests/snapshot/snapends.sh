#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Snapshots are processes in groups of their own: however a job ends, none of them is left; and stopping and continuing a job, or
# losing all of ftrun, does not pass them by.
# shellcheck disable=SC2154 # what is not assigned here is by: uses snapshots
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # the job adds a line to a file at each start
uses snapshots
long="-n 3 $snapjob once 1000000"
some="-n 3 $snapjob once 1500 go" # does not end before it may
undisturbed

# Ended from outside.
begin_snapjob timeout 1000 "$ftrun" --snapshot 0.3 $long
kill -ALRM "$front" # its time is up
expect_end 124
begin_snapjob nohup "$ftrun" --snapshot 0.3 $long
kill -HUP "$front"
kill -HUP "$(other_process "$front")"
sleep 0.2 # nothing is to come of it
is_gone "$front" && fail "nohup: SIGHUP ended it"
"$ftrun" stop >/dev/null 2>&1 || fail "ftrun stop: exit code $?"
expect_end 143
begin_snapjob "$ftrun" --snapshot 0.3 $long
kill -TERM "$front"
expect_end 143
begin_snapjob "$ftrun" --snapshot 0.3 --timeout 20 $long
expect_end 110

# A rank that was woken ends with the others.
begin_snapjob "$ftrun" --snapshot 0.3 $long
kill -SEGV "$(pid_of_rank 1)"
wait_for told 'rank 1 .*restarted from its snapshot'
kill -TERM "$front"
expect_end 143

# One of ftrun's processes with --die-with-launcher, both without: the kernel ends everything.
begin_snapjob "$ftrun" --snapshot 0.3 --die-with-launcher $long
kill -9 "$(other_process "$front")"
expect_end 1
begin_snapjob "$ftrun" --snapshot 0.3 $long
kill -9 "$front" "$(other_process "$front")"
expect_end 137
begin_snapjob "$ftrun" --snapshot 0.3 $long
kill -STOP $(processes /snapjob)
kill -9 "$front" "$(other_process "$front")"
expect_end 137

# Stopped and continued as by a terminal; a rank that dies meanwhile is woken after that.
begin_snapjob "$ftrun" --snapshot 0.3 $some
kill -TSTP "$front"
wait_for is_stopped "$(pid_of_rank 1)"
wait_for is_stopped "$front" # continued before, it would stop after that
kill -9 "$(pid_of_rank 1)"
kill -CONT "$front" "$(other_process "$front")"
expect_end 0
expect_err 'rank 1 .*restarted from its snapshot'
expect_same

# A stopped rank is not dead; with --hang-timeout it is killed, and its snapshot goes on.
begin_snapjob "$ftrun" --snapshot 0.3 --hang-timeout 1 $some
kill -STOP "$(pid_of_rank 1)"
expect_end 0
expect_err 'rank 1 .*--hang-timeout); it is killed'
expect_err 'rank 1 .*restarted from its snapshot'
expect_same
finish
