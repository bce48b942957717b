#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The last way back: a rank dies and the log that it would need has been forgotten, so all start again from the beginning. Results and
# output are those of an undisturbed run, whatever happens meanwhile. FT_EVERY=1 kills the agent at each of its system calls.
. "$(dirname "$0")/../lib/test.sh"
# A sanitizer would turn SIGSEGV into an exit code.
sanitizers handle_segv=0
again=$built/again
killat=$built/killat
sanitizers detect_leaks=0 # killat.sh
cd "$tmp" || exit 99
units=600 # 64 KiB of log each
seq 7 3 100 >input
with_forget="--snapshot off --log-full forget --log-limit 16M --report report.json"
all_again() { grep -c "needs a part of the log that is gone: all ranks start again$" err; }
restarts() { grep -c '"way_back": "all"' report.json; }

undisturbed() { # ranks
    ranks=$1
    timeout -k 5 120 "$ftrun" -q -n "$ranks" "$again" $units <input >calm.out 2>calm.err || fail "undisturbed: exit code $?"
    sort -o calm.out calm.out
    sort -o calm.err calm.err
    [ "$(wc -l <calm.out)" = $((ranks * units / 100)) ] || fail "undisturbed: $(wc -l <calm.out) lines"
}
check() { # the exit code
    [ "$1" = 0 ] || fail "$what: exit code $1"
    sort out | cmp -s - calm.out || fail "$what: the output is not that of an undisturbed run: $(sort out | diff - calm.out | head -3 | tr '\n' '|')"
    grep '^rank [0-9]* is done$' err | sort | cmp -s - calm.err || fail "$what: stderr is not that of an undisturbed run"
    all_gone pid.* || fail "$what: ranks are left"
}
# died TIMES RESTARTS DEATHS...: the ranks start again together so many times, which makes so many restarts of that kind
died() {
    times=$1 wanted=$2
    shift 2
    what="deaths $*"
    timeout -k 5 120 "$ftrun" $forgetful $more -n "$ranks" "$again" $units "$@" <input >out 2>err
    check $?
    [ "$(all_again)" = "$times" ] || fail "$what: all start again $(all_again) times, not $times"
    [ "$(restarts)" = "$wanted" ] || fail "$what: $(restarts) restarts together, not $wanted"
}
forgetful=$with_forget more=
undisturbed 3
died 0 0
died 1 3 1.0:k550
died 1 3 0.0:k550
died 1 3 0.0:k550 1.0:k550 2.0:k550
died 2 6 1.0:k550 2.1:k590
died 1 3 1.0:k550 2.1:init           # the log is new, so it starts again alone
died 1 3 1.0:k550 0.1:k20 0.2:init 2.1:k30
died 1 3 0.0:left                    # the others have left with 0
more="--max-restarts 1" died 1 3 1.0:k550 # it was one

if records; then
    # A snapshot that dies with its rank, after the log before it has been released.
    forgetful="--snapshot 0.02 --log-limit 64M --report report.json" # snapshot zero goes when a quarter of that is logged
    died 1 3 1.0:x400
    died 2 6 1.0:x400 2.1:x400
    died 1 3 0.0:x400 1.0:x400 2.0:x400
    # One that lies before what has been forgotten since.
    forgetful="--snapshot 0.02 --log-full forget --log-limit 16M --report report.json"
    died 1 3 1.0:k550 0.0:n50
    forgetful=$with_forget
fi

# Without getting any further: three deaths of its own, and the unit is the furthest ever.
what="the same death again"
timeout -k 5 120 "$ftrun" $forgetful -n 3 "$again" $units '1.*:s550' <input >out 2>err
code=$?
expect_code 139
[ "$(all_again)" = 2 ] || fail "$what: all start again $(all_again) times, not 2"
expect_err 'rank 1 .*killed by signal 11 (SIGSEGV), 3 times in a row at unit 550; given up, the job is ended'

# Rank 1 is dead, but nobody can see that until `release` is there: all the others wait to be started with it.
begin_gathering() {
    what="while all are being gathered"
    rm -f go release out err front held pid.* # held: the last one's would do, and nobody be held yet
    timeout --foreground -k 5 120 sh -c 'echo $$ >front; exec "$@"' sh "$ftrun" $forgetful -n 3 "$again" $units 2.0:w550 <input >out 2>err &
    job=$!
    wait_for test -s pid.1
    "$again" hold "$(cat pid.1)" >held &
    holder=$!
    wait_for grep -q held held
    touch go
    wait_for grep -q 'all ranks start again' err
    front=$(cat front)
    second=$(other_process "$front")
}
release() {
    touch release
    wait $holder
}
touch release
sleep 60 &
sleeper=$!
if "$again" hold $sleeper >held 2>&1; then
    begin_gathering
    release
    wait $job
    check $?
    begin_gathering
    kill -9 "$second"
    wait_for grep -q 'goes on with it' err
    release
    wait $job
    check $?
    begin_gathering
    kill -9 "$front"
    wait $job
    release
    wait_for is_gone "$second"
    check 0
    begin_gathering
    kill -TERM "$front"
    wait_for grep -q 'told to stop by signal 15' err
    release
    wait $job
    code=$?
    expect_code 143
    all_gone pid.* || fail "$what: ranks are left"
else
    echo "no process can be traced here: $(cat held)"
fi
kill $sleeper

# The agent is killed before or after a system call: 1 in $every, the first by seed.
seeded
every=250
if quick; then every=700; fi
every=${FT_EVERY:-$every}
one() { # at which stop
    rm -f pid.*
    timeout -k 5 300 "$killat" "agent:$1" self "$ftrun" -q $forgetful -n 2 "$again" $units 1.0:k550 0.1:k10 <input >out 2>err 9>stops
}
undisturbed 2
one 0 || fail "traced: exit code $?"
stops=$(sed -n "s/^agent //p" stops)
n=$((1 + seed % every))
what="agent killed at 1 in $every of $stops system calls, from $n"
echo "$what"
while [ "$n" -le "$stops" ]; do
    one "$n"
    what="agent killed at stop $n of $stops" check $?
    n=$((n + every))
done
finish
