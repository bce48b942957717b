#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The controller of a job on several hosts is two processes, and either is killed: before and after each of the system calls of the one that runs the
# job (killat), and by chance, with ranks and agents beside it. The output is that of an undisturbed run, each line once, wherever it goes; the report
# and who asks know of no gap; nothing is left. FT_EVERY=1 tries every stop.
# shellcheck disable=SC2154 # what is not assigned here is by: uses hosts
. "$(dirname "$0")/../lib/test.sh"
uses hosts
own_jobs
cd "$tmp" || exit 99
killat=$top_builddir/compat-tests/agent/killat
every=150
if quick; then every=300; fi
every=${FT_EVERY:-$every}
seeded

# ---- at system calls ----
cat >job <<'E'
echo "rank $FTMPI_RANK begins"
echo "an error of $FTMPI_RANK" >&2
[ "$FTMPI_RANK" = 1 ] || while read -r line; do echo "input $line"; done
if [ "$FTMPI_RANK.$FTMPI_INCARNATION" = 1.0 ]; then
    printf 'rank 1 has'
    kill -9 $$
fi
echo "rank $FTMPI_RANK has more"
echo "and an end $FTMPI_RANK"
E
seq 200 >input
# shellcheck disable=SC2002 # a pipe is meant
one() { # stop, where the output goes
    rm -rf out err own
    : >out
    case $2 in
    pipe) cat input | { job "$1" 2>err; echo $? >code; } | cat >out ;;
    append) job "$1" <input >>out 2>>err; echo $? >code ;;
    files)
        job "$1" --output-filename own:nocopy <input >nothing 2>err
        echo $? >code
        cat own/rank.*/stdout >out
        cat own/rank.*/stderr >err
        ;;
    esac
    code=$(cat code)
}
job() { # stop, options
    stop=$1
    shift
    timeout -k 5 120 "$killat" "agent:$stop" self "$ftrun" -q --launcher "exec:$go" -H a,b "$@" sh job 9>stops
}
same_as() { # file: as that of the undisturbed run, but for the order of lines
    sort "$1" | cmp -s - "wanted.$1" || fail "$where, killed at stop $n of $stops: std$1 differs: $(sort "$1" | diff - "wanted.$1" | head -3 | tr '\n' '|')"
}
all_stops() {
    where=$1
    ln ../job ../input . || exit 99
    one 0 "$where"
    [ "$code" = 0 ] || fail "$where, undisturbed: exit code $code"
    sort out >wanted.out
    sort err >wanted.err
    [ "$(wc -l <wanted.out)" = 206 ] || fail "$where, undisturbed: $(wc -l <wanted.out) lines"
    stops=$(sed -n 's/^agent //p' stops)
    n=$((1 + seed % every)) runs=0
    while [ $n -le "$stops" ]; do
        one $n "$where"
        [ "$code" = 0 ] || fail "$where, killed at stop $n of $stops: exit code $code"
        same_as out
        same_as err
        n=$((n + every))
        runs=$((runs + 1))
    done
    echo "$where: $runs runs of $stops stops"
}
for where in pipe append files; do aside apart all_stops $where; done
asides_end

# ---- by chance ----
mixed=$top_builddir/compat-tests/chaos/mixed
says() { "$ftrun" status --json 2>/dev/null | python3 -c "import json, sys; it = json.load(sys.stdin); print($1)" 2>/dev/null; }
running() { says 'it["agent_pid"]'; }
rank() { says 'it["per_rank"][1]["pid"]'; }
# That runs the node of that rank.
agent() {
    process=$(rank)
    [ -z "$process" ] || awk '/^PPid/ { print $2 }' "/proc/$process/status"
}
lines() { wc -l <out; }
got_on() { [ "$(lines)" -gt "$1" ] || is_gone "$job"; }
hosts a:2,b,c -q "$mixed" -n 300 -m 20000 -b 1000 -w 12000
expect_code 0
by_rank out >wanted
[ "$(grep -c ' done 300 ' wanted)" = 4 ] || fail "$what: $(cat wanted)"
is_listed() { [ -n "$("$ftrun" list 2>/dev/null | tail -n +2)" ]; }
is_over() { ! is_listed; }
# chance VICTIM...: killed one after the other, each a little further. The output is whole when the job has gone, though nobody can wait for it.
chance() {
    begin --launcher "exec:$go" -H a:2,b,c --report report "$mixed" -n 300 -m 20000 -b 1000 -w 12000
    wait_for is_listed
    for victim; do
        wait_for got_on "$(lines)"
        random 100
        sleep "0.$(printf %03d "$drawn")"
        kill -KILL "$("$victim" 2>/dev/null)" || fail "$what: no $victim to be killed"
    done
    wait_for is_over
    wait "$job"
    code=$?
    by_rank out | cmp -s - wanted || fail "$what, without $*: other output: $(by_rank out | diff - wanted | head -5)"
}
started() { echo "$front"; }
chance running
expect_code 0
expect_err 'the process of ftrun that ran the job was killed by signal 9 (SIGKILL); process .* goes on with it'
chance rank running agent rank
expect_code 0
[ "$(grep -c '"way_back"' report)" -ge 1 ] || fail "$what: the report does not tell of the rank"
chance started
expect_code 137
expect_err 'process .* of ftrun is gone; process .* goes on with the job'
chance running rank running agent
expect_code 137

# A node that comes back to the successor before another one does is to hear of that: its ranks dial it when they start again (they waited for
# ever, 7 of 8 times).
process_of() { says "it['per_rank'][$1]['pid']"; }
begin --launcher "exec:$go" -H a,b --snapshot off "$mixed" -n 150 -m 2000 -b 0 -e -w 20000
wait_for is_listed
wait_for got_on 2
late=$(awk '/^PPid/ { print $2 }' "/proc/$(process_of 0)/status") controller=$(running)
kill -STOP "$late"
kill -KILL "$controller"
sleep 0.3
kill -CONT "$late"
is_back() { victim=$(process_of 1) && [ -n "$victim" ]; }
wait_for is_back
sleep 0.3
kill -KILL "$victim"
ended 60
expect_code 0
[ "$(grep -c ' done 150 ' out)" = 2 ] || fail "$what: $(cat out)"

# Who does not want that.
begin --launcher "exec:$go" -H a,b --die-with-launcher sleep 1000
wait_for is_listed
kill -KILL "$(running)"
ended
expect_code 1
expect_err 'a process of ftrun was killed; the job is ended (--die-with-launcher)'
finish
