#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The first two batch scripts of docs/clusters.md, word for word: where their ranks are, and what becomes of them by the signal before a time
# limit and by scancel. (compat-tests/slurm/requeue.sh: the others.)
# shellcheck disable=SC2154 # id is set by submit
. "$(dirname "$0")/../lib/test.sh"
uses slurm
slurm_boot 5
batch_scripts

# ---- a job ----
program 'echo $FTMPI_RANK $SLURMD_NODENAME'
submit script.1
job_ends COMPLETED 0:0
by_rank "$tmp/out" >ranks
for rank in $(seq 0 15); do echo "$rank n$((rank / 4 + 1))"; done | cmp -s - ranks || fail "$what: $(cat ranks)"

# ---- signals ----
program 'trap "echo rank $FTMPI_RANK is told; exit 0" USR1
: >ready.$FTMPI_RANK
while :; do sleep 0.2; done'
all_ready() { [ "$(find . -name 'ready.*' | wc -l)" = 16 ]; }
begin_job() { rm -f ready.* && submit "$@" && wait_for all_ready; }
told_all() { [ "$(grep -c '^rank [0-9]* is told' "$tmp/out")" = 16 ] || fail "$what: told $(grep -c ' is told' "$tmp/out")"; }
begin_job script.2
scancel --batch --signal=USR1 "$id"
job_ends COMPLETED 0:0
told_all
# As Slurm does it itself; it looks twice in a minute.
if full; then
    begin_job script.2 --time=1 --signal=B:USR1@60
    until_true 90 job_is_over
    job_ends COMPLETED 0:0
    told_all
fi
begin_job script.2
scancel "$id"
job_ends CANCELLED 143:0
grep -q 'told to stop by signal 15 (SIGTERM); the job is ended' "$tmp/out" || fail "$what: does not say why it ended"
nothing_left
# The process that the script is dies. ftrun's other one might go on; Slurm ends it with the script.
begin_job script.2
script=$(for process in $(on_node n1); do
    [ "$(cat "/proc/$(awk '/^PPid/ { print $2 }' "/proc/$process/status")/comm")" != slurmstepd ] || tr '\0' ' ' <"/proc/$process/cmdline" | sed "s/^ftrun .*/$process/p; d"
done 2>/dev/null)
kill -KILL "$script"
job_ends FAILED 0:9
nothing_left

finish
