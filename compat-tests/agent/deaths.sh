#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that die at exact points, alone and together (docs/failure-model.md): in replays, inside MPI_Init and MPI_Finalize, after it while
# others still need the node; a majority, all at once, with a launcher process; more than are allowed.
. "$(dirname "$0")/../lib/test.sh"
deaths=$built/deaths
options=

# As run, on four ranks, with what is to happen; a fresh place to remember it in.
run_deaths() {
    rm -rf "$tmp/dir"
    mkdir "$tmp/dir"
    run -n 4 $options --report "$tmp/report" "$deaths" "$tmp/dir" "$@"
    what="deaths $* $options"
    happened=$(cat "$tmp"/dir/done.* | wc -c)
}
exact() { # entries
    run_deaths "$@"
    expect_code 0
    sort "$tmp/out" | cmp -s - "$tmp/want" || fail "$what: prints something else than without deaths"
}
# Those of which it is certain: NUMBER of restarts, and what has to be said.
restarts() {
    n=$1
    shift
    exact "$@"
    [ "$happened" = $# ] || fail "$what: only $happened of the entries were done"
    got=$(grep -c '"respawn_seconds": [0-9]' "$tmp/report")
    [ "$got" = "$n" ] || fail "$what: $got restarts, not $n"
}

run_deaths
expect_code 0
expect_err_lines 0
sort "$tmp/out" >"$tmp/want"
[ "$(wc -l <"$tmp/want")" = 16 ] || fail "$what: not 16 lines"

options="--snapshot off" # every entry has its turn: the ranks begin at the beginning
restarts 5 1:30 1:10 1:20 1:29 1:30                       # in its replays
restarts 4 1:20 1:10:others                               # in its replay it kills those that wait for it
restarts 2 1:init1 1:init2
restarts 4 0:init1 1:init1 2:init2 3:init2
restarts 4 0:finalize 1:finalize 2:finalize 3:finalize
restarts 4 0:leaving 1:leaving 2:leaving 3:leaving
restarts 3 1:after 1:finalize 1:init2                     # in the replay of one that was through
restarts 1 0:alone                                        # replays all of it, and nobody else is there
restarts 3 2:alone 2:20 2:leaving
restarts 4 0:20:all
restarts 3 3:20:most
restarts 5 1:20 2:30:all

# With the agent, once: then the one that we started goes on. How many are started again depends on what the agent had seen.
exact 1:20:self+agent 1:30 1:10
exact 1:20 1:10:others+agent 1:5:all
exact 0:20:all+agent
exact 1:init2:self+agent 2:20:most
exact 1:leaving:all+agent
exact 2:alone:self+agent 2:20

# More than are allowed, one after the other and at once; as many as are allowed.
options="--snapshot off --max-restarts 3"
for how in "1:10 1:20 2:20 1:30" "0:20:all" "1:20 1:10:others" "1:finalize:all" "2:alone 2:10 2:20 2:finalize"; do
    run_deaths $how
    expect_code 137
    expect_err '3 restarts so far'
    od -An -td4 "$tmp/dir/pids" >"$tmp/pids"
    all_gone "$tmp/pids" || fail "$what: ranks are left"
done
options="--max-restarts 0"
run_deaths 1:finalize:all
expect_code 137
expect_err_lines 1

# Woken from snapshots, where there are some.
options="--snapshot 0.001"
exact 1:30 1:29 1:40 1:20 1:30
exact 1:30 2:35:most 3:40:all
exact 1:finalize:all 1:40
exact 0:leaving 1:leaving 2:alone 2:40
exact 0:30:all+agent 1:40
finish
