#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Forking fails, for a rank that is to take a snapshot and for a snapshot that is to be woken: told once, tried again, then the next
# way back. For want of memory, and for a limit of processes; root has no such limit, so that job is an unprivileged user's.
# shellcheck disable=SC2154 # what is not assigned here is by: uses snapshots
. "$(dirname "$0")/../lib/test.sh"
export FTMPI_START_OVER=always # the job adds a line to a file at each start
uses snapshots
uid=$((60000 + $$ % 5000)) # with processes of nobody else
[ "$(id -u)" = 0 ] && setpriv --reuid=$uid --clear-groups test -x "$ftrun" || skip "needs root, and a build that others can read"
undisturbed
count() { [ "$(grep -c -e "$1" "$tmp/err")" = "$2" ] || fail "$what: \"$1\" is told $(grep -c -e "$1" "$tmp/err") times, not $2"; }

# No memory: no newer snapshot, then none that can be woken, until there is.
none=$job_dir/none
without_memory() { begin_snapjob "$ftrun" --snapshot 0.3 -x NOMEM="$none" -x LD_PRELOAD="$built/.libs/nomem.so" -n 3 "$snapjob" "$@"; }
without_memory once 1500 go
: >"$none"
kill -9 "$(pid_of_rank 1)"
wait_for told 'rank 1: its snapshot cannot fork'
rm "$none"
expect_end 0
expect_err 'rank 1 .*restarted from its snapshot'
count 'rank 1: its snapshot cannot fork (no memory, or too many processes); it is tried again' 1
count 'given up' 0
expect_same

# None any more: the rank starts from the beginning.
without_memory again 1500 go
: >"$none"
kill -9 "$(pid_of_rank 1)"
expect_end 0
count 'rank 1: its snapshot cannot fork' 1
count 'rank 1: its snapshot still cannot fork and is given up' 1
count 'restarted, restart 1$' 1
expect_same

# Too many processes.
mkdir -m 777 "$FTMPI_RUN_DIR" 2>/dev/null
unset FTMPI_RUN_DIR XDG_RUNTIME_DIR
chmod 755 "$tmp"
mkdir -m 1777 "$tmp/spill"
TMPDIR=$tmp/spill # which that user may not write to otherwise
export TMPDIR
as="setpriv --reuid=$uid --clear-groups"
limit() { # of processes, for whom
    most=$1
    shift
    for pid in "$@"; do
        $as prlimit --pid "$pid" --nproc="$most": 2>/dev/null
    done
}

# Ranks that cannot fork go on without newer snapshots, and those that they have stay good.
begin_snapjob "$ftrun" --snapshot 0.3 -n 3 "$snapjob" once 1000000
limit 1 $(ranks)
wait_for told 'gets* no newer snapshot'
expect_err 'no newer snapshot: it cannot fork (no memory, or too many processes); if it is killed it goes on from the one it has'
[ "$(grep -c 'newer snapshot' "$tmp/err")" -le 3 ] || fail "$what: that there are no newer snapshots is told again and again"
kill -9 "$(pid_of_rank 1)"
wait_for told 'rank 1 .*restarted from its snapshot'
kill -TERM "$front"
expect_end 143

# A snapshot that cannot fork is asked again until it can.
begin_snapjob "$ftrun" --snapshot 0.3 -n 3 "$snapjob" once 1500 go
held() { # its snapshots, until there are no others
    snapshots >"$tmp/held"
    limit 1 $(cat "$tmp/held")
}
limit 1 $(ranks)
wait_for told 'gets* no newer snapshot'
held
kill -9 "$(pid_of_rank 1)"
wait_for told 'its snapshot cannot fork'
limit 100 $(cat "$tmp/held")
expect_end 0
expect_err 'rank 1 .*restarted from its snapshot'
count 'rank 1: its snapshot cannot fork (no memory, or too many processes); it is tried again' 1
count 'given up' 0
expect_same

# If it never can, the rank starts from the beginning.
begin_snapjob "$ftrun" --snapshot 0.3 -n 3 "$snapjob" again 1500 go
limit 1 $(ranks)
wait_for told 'gets* no newer snapshot'
held
kill -9 "$(pid_of_rank 1)"
expect_end 0
count 'rank 1: its snapshot cannot fork' 1
count 'rank 1: its snapshot still cannot fork and is given up' 1
count 'restarted, restart 1$' 1
expect_same
finish
