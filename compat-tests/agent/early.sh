#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftrun is killed at some system call of its first moments: the process that the user started, at calls of its own, and of the other one
# that it makes. Either nothing has been started, and nothing is left; or the other one goes on with the job to its end. Over several
# hosts all ends.
# FT_RUNS says how many stops are tried, or `all`.
# shellcheck disable=SC2154 # what is not assigned here is by: uses hosts
. "$(dirname "$0")/../lib/test.sh"
uses hosts
own_jobs
sanitizers detect_leaks=0 # it cannot look at a traced process
killat=$built/killat
runs=20
if quick; then runs=10; fi
runs=${FT_RUNS:-$runs}
LAST=12 # stops that are all tried: ranks run by then
seeded

# one STOP ARGUMENT...: killat says if a process is left (97), or stays for ever (98).
one() {
    stop=$1
    shift
    rm -f "$tmp"/begun.* "$tmp"/done.*
    call "$killat" front:0 self "$point:$stop" front "$ftrun" -q "$@" sh -c 'echo "rank $FTMPI_RANK"
        : >'"$tmp"'/begun.$FTMPI_RANK; sleep 0.02; : >'"$tmp"'/done.$FTMPI_RANK' 9>"$tmp/stops"
}
# What is in the run directory says that a job is there only until somebody asks.
nothing_is_known() {
    "$ftrun" list >"$tmp/list" 2>&1
    ls "$FTMPI_RUN_DIR"/* >/dev/null 2>&1 && fail "$what: a job is left in the run directory: $(cat "$tmp/list")"
}
# 137: the other one had nothing left to do.
all_done() { [ "$(echo "$code" | sed s/137/0/).$(sort "$tmp/out" | tr '\n' ' ')$(ls "$tmp"/done.* 2>/dev/null | wc -l)" = '0.rank 0 rank 1 2' ]; }
nothing() { [ $code = 137 ] && [ ! -s "$tmp/out" ] && ! ls "$tmp"/begun.* >/dev/null 2>&1; }
# some_stops RUNS ARGUMENT...: a job is killed so often, and "$right" says whether what has come of it may.
some_stops() {
    some=$1
    shift
    one 0 "$@"
    all_done || fail "undisturbed: exit code $code"
    stops=$(sed -n "s/^$point //p" "$tmp/stops")
    step=1
    if [ "$some" != all ]; then step=$((stops / some + 1)); fi
    for n in $(seq $((1 + seed % step)) "$step" "$stops") $(seq $((stops - LAST)) "$stops"); do
        one "$n" "$@"
        case $code in
        97 | 98) fail "$what: processes are left" ;;
        *) "$right" || fail "$what: exit code $code, and $(ls "$tmp"/begun.* "$tmp"/done.* 2>/dev/null | wc -l) signs of its ranks" ;;
        esac
        nothing_is_known
    done
}

none_or_all() { nothing || all_done; }
right=none_or_all
point=front
some_stops "$runs" -n 2
point=agent
some_stops "$runs" -n 2
point=front
# The code is that of a node, perhaps.
right=true
if [ "$runs" != all ]; then runs=$((runs / 3)); fi
some_stops "$runs" --launcher "exec:$go" -H a,b --lease 1
finish
