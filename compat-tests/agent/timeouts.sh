#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --timeout ends a job, --hang-timeout restarts the rank that all others wait for, and a long replay is told.
. "$(dirname "$0")/../lib/test.sh"
waits=$top_builddir/compat-tests/control/waits
own_jobs
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT
cd "$tmp" || exit 99
seconds_since() { echo $(($(date +%s) - $1)); }

# The time is up: 110, one line, nothing left, ranks that do not listen to SIGTERM included.
time_is_up() {
    begin=$(date +%s)
    run --timeout 1 --grace 0.2 -n 3 sh -c 'trap "" TERM; echo $$ >>pids; while :; do sleep 0.05; done'
    expect_code 110
    expect_err 'the time is up (--timeout 1); the job is ended'
    expect_err_lines 1
    all_gone pids || fail "$what: ranks are left"
    [ "$(seconds_since "$begin")" -ge 1 ] || fail "$what: ended before the time was up"
    [ "$(seconds_since "$begin")" -lt 100 ] || fail "$what: took $(seconds_since "$begin") s"
    run --timeout 100 -n 2 true
    expect_code 0
    expect_err_lines 0

    # Open MPI's and Hydra's variable; the command line is stronger.
    MPIEXEC_TIMEOUT=1 run -n 1 sleep 1000
    expect_code 110
    FTMPI_TIMEOUT=1 MPIEXEC_TIMEOUT=1000 run -n 1 sleep 1000
    expect_code 110
    MPIEXEC_TIMEOUT=1 run --timeout 100 -n 1 sleep 2
    expect_code 0
    MPIEXEC_TIMEOUT=soon run -n 1 true
    expect_code 2
    expect_err 'MPIEXEC_TIMEOUT'
}

# The time stands when a launcher process is killed.
listed() { [ "$("$ftrun" list 2>/dev/null | sed 1d | wc -l)" = 1 ]; }
time_stands() {
    timeout -k 5 300 "$ftrun" --timeout 4 -n 1 sleep 1000 2>err &
    job=$!
    wait_for listed
    kill -9 "$("$ftrun" status --json | sed -n 's/.*"agent_pid": \([0-9]*\).*/\1/p')"
    wait $job
    code=$? what="ftrun --timeout 4 whose agent is killed"
    expect_code 110
    expect_err 'the time is up'
}

hangs() {
    # A rank that hangs once is killed and restarted, and the job completes as if nothing had been. (Who does not get to its first call in that time, where the
    # others wait, hangs, too.)
    run --hang-timeout 6 -n 4 "$waits" hang 1 1 10
    expect_code 0
    expect_out '10 allreduces: 1.500000' '1 allreduces: 1.500000'
    expect_err 'rank 1 .* has kept all others waiting for 6 s at unit 10 (--hang-timeout); it is killed'
    [ "$(grep -c 'it is killed' err)" = 1 ] || fail "$what: killed more than once"
    expect_err 'rank 1 .*restarted, restart 1$'

    # One that hangs at the same place again and again is given up.
    run -q --hang-timeout 1.5 --grace 0.2 -n 2 "$waits" hang 0 9 3
    expect_code 137
    expect_err 'rank 0 .* 3 times in a row at unit 3; given up'
    expect_err_lines 1
}

# Without it nobody is killed, neither for hanging nor for being stopped; nor with it while not all wait.
does_not_hang() {
    run --timeout 3 -n 2 "$waits" hang 1 1 10
    expect_code 110
    expect_err_lines 1
    run --timeout 3 --hang-timeout 0.3 -n 3 sleep 1000
    expect_code 110
    expect_err_lines 1
}

# While the whole job is suspended nobody waits, and nobody is killed.
suspended() {
    timeout --foreground -k 5 300 sh -c 'echo $$ >launcher; exec "$@"' sh "$ftrun" --hang-timeout 6 -n 2 "$waits" file 1 "$tmp/go" 10 >out 2>err &
    job=$!
    wait_for grep -q '10 allreduces' out
    launcher=$(cat launcher)
    kill -TSTP "$launcher"
    wait_for is_stopped "$launcher"
    sleep 8
    : >go
    kill -CONT "$launcher"
    wait $job
    code=$? what="ftrun --hang-timeout 6, suspended for 8 s"
    expect_code 0
    ! grep -q 'is killed' err || fail "$what: a rank was killed"
}

# Who waits for a replaying rank sees why; -q does not want to know.
replays() {
    run -n 3 "$waits" slow 1 1000
    expect_code 0
    expect_out '1000 allreduces: 1.000000' '1 allreduces: 1.000000'
    expect_err '^ftrun: rank 1 replays: unit [0-9]* of 1000 ([0-9]*%)$'
    [ "$(grep -c replays err)" -le 20 ] || fail "$what: floods"
    run -q -n 3 "$waits" slow 1 1000
    expect_code 0
    [ ! -s err ] || fail "$what: says $(cat err)"
    begin=$(date +%s%N)
    run -n 3 "$waits" slow 1 100
    [ $(($(date +%s%N) - begin)) -ge 2000000000 ] || ! grep -q replays err || fail "$what: told at once, not after a while"
}

for part in time_is_up time_stands hangs does_not_hang suspended replays; do aside apart $part; done
asides_end
finish
