#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Signals to ftrun reach the ranks; the job ends with 128 + signal and leaves nothing.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99

# Starts ftrun in the background (with SIGINT as in the foreground) and waits until n lines of pids are there.
begin_lines() { # lines, arguments
    rm -f pids
    n=$1
    shift
    what="ftrun $*"
    env --default-signal=INT,HUP,TERM timeout --foreground -k 5 120 env --default-signal=INT,HUP,TERM sh -c 'echo $$ >launcher; exec "$0" "$@"' \
        "$ftrun" "$@" >out 2>err &
    job=$!
    wait_for has_lines "$n" pids
    launcher=$(cat launcher)
}
end() { # code
    wait $job
    code=$?
    expect_code "$1"
    all_gone pids || fail "$what: ranks are left"
}

for signal in INT:130 TERM:143 HUP:129; do
    begin_lines 2 -n 2 sh -c 'echo $$ >>pids; while :; do sleep 0.05; done'
    kill -${signal%:*} $launcher
    end ${signal#*:}
    what="ftrun after SIG${signal%:*}"
    expect_err "signal .* (SIG${signal%:*})"
done

# The ranks get the signal itself first, and their own exit code does not matter.
begin_lines 2 --grace 100 -n 2 sh -c 'trap "echo caught; exit 0" INT; echo $$ >>pids; while :; do sleep 0.05; done'
kill -INT $launcher
end 130
[ "$(grep -c caught out)" = 2 ] || fail "the ranks did not get SIGINT"

# Deaf ranks: TERM, then KILL, each after the grace period; a second signal does not wait.
begin_lines 2 --grace 0.2 -n 2 sh -c 'trap "" INT TERM; echo $$ >>pids; while :; do sleep 0.05; done'
kill -INT $launcher
end 130
begin_lines 2 --grace 1000 -n 2 sh -c 'trap "" INT TERM; echo $$ >>pids; while :; do sleep 0.05; done'
kill -INT $launcher
wait_for grep -q 'told to stop' err
sleep 0.15 # within a tenth of a second the same sender's counts once: timeout sends two
kill -INT $launcher
end 130

# Nobody is restarted once the job is told to stop.
begin_lines 2 --grace 0.2 -n 2 sh -c 'trap "kill -9 \$\$" INT; echo $$ >>pids; while :; do sleep 0.05; done'
kill -INT $launcher
end 130
[ "$(wc -l <pids)" = 2 ] || fail "a rank was restarted"

# Others are passed on and change nothing.
begin_lines 1 -n 1 sh -c 'trap "echo usr1; exit 0" USR1; echo $$ >>pids; while :; do sleep 0.05; done'
kill -USR1 $launcher
end 0
grep -q usr1 out || fail "SIGUSR1 is not passed on"
finish
