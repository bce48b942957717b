#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A node of an allocation that is lost: another one takes its place, and the output is that of an undisturbed run. Slurm hears of it, and leaves
# the job alone (--no-kill). What does not concern a job: Slurm's daemons. What ends it: the step that it is.
. "$(dirname "$0")/../lib/test.sh"
uses slurm
slurm_boot 4
mixed="$top_builddir/compat-tests/chaos/mixed -n 200 -m 2000 -b 0 -w 10000"
# lost SECONDS OPTION...: a job in an allocation, which runs in the background; $job.
lost() {
    what="salloc $*, a node is lost"
    rm -f "$tmp/progress"/rank.*
    # shellcheck disable=SC2086
    timeout -k 5 60 salloc -Q --no-kill -w 'n[1-4]' --ntasks-per-node=2 "$ftrun" -v "$@" $mixed -p "$tmp/progress" >"$tmp/out" 2>"$tmp/err" </dev/null &
    job=$!
}
# agent_of NODE: $agents, the processes of ftrun there.
agent_of() { agents=$(for process in $(on_node "$1"); do [ "$(basename "$(readlink "/proc/$process/exe")")" != ftrun ] || echo "$process"; done); }
# All its ranks compute.
computes() { [ "$(find "$tmp/progress" -name 'rank.*' 2>/dev/null | wc -l)" = 6 ]; }
same() {
    ended 60
    expect_code 0
    by_rank "$tmp/out" | diff - "$tmp/want" >"$tmp/diff" || { fail "$what: another output:"; head "$tmp/diff"; }
}
mkdir "$tmp/progress"
allocated -w n[1-3] --ntasks-per-node=2 -- "$top_builddir/compat-tests/chaos/mixed" -n 200 -m 2000 -b 0
expect_code 0
by_rank "$tmp/out" >"$tmp/want"

# The node dies, and so does what Slurm has there; Slurm says that it is down while the job runs.
lost --spares 1 --survive host
wait_for computes
lose_node n2
scontrol update nodename=n2 state=down reason=lost
wait_for told 'host n2 (ranks 2-3) .*start again'
wait_for told 'node 1 on n4 is there'
same
expect_err '2 deaths of ranks survived'
nothing_left
start_slurmd n2
scontrol update nodename=n2 state=resume
until_true 60 nodes_are_idle || fail "$what: $(sinfo -h -N -o '%N %T' | tr '\n' ' ')"

# A node's ftrun alone dies, both of its processes: it starts again there. With no slurmd and no slurmctld, a job goes on.
lost --spares 1 --survive host
wait_for computes
agent_of n3
what="$what: its ftrun alone"
# shellcheck disable=SC2086
kill -STOP $agents && kill -KILL $agents
wait_for told 'host n3 (ranks 4-5) .*start again there'
wait_for eval '[ "$(grep -c "node 2 on n3 is there" "$tmp/err")" = 2 ]'
kill -KILL "$(cat "$tmp/n3.slurmd")" "$(cat "$tmp/slurmctld.pid")"
same
finish
