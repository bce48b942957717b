#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The batch scripts of docs/clusters.md that are put into the queue again, by scontrol and by themselves before their time is up: they go on from their
# checkpoint, and the output is that of one run. (Fewer nodes than in the page: they run side by side.)
# shellcheck disable=SC2154 # id is set by submit
. "$(dirname "$0")/../lib/test.sh"
uses slurm
slurm_boot 6
batch_scripts
resumejob=$top_builddir/compat-tests/checkpoint/resumejob
program "exec $resumejob 100 800 10"
rounds() { grep -a '^round \|^final' "$@"; }
call "$ftrun" -q -n 8 "$resumejob" 100 800 0
expect_code 0
rounds "$tmp/out" >wanted
[ "$(wc -l <wanted)" = 101 ] || fail "$what: $(cat wanted)"

has_begun() { [ "$(find job.ckpt -name 'checkpoint-*.ftmpi' 2>/dev/null | wc -l)" = 2 ] && [ "$(rounds "$tmp/out" | wc -l)" -ge 20 ]; }
waits_again() { job_has JobState=PENDING && job_has Restarts=1; }
# goes_on SCRIPT NODES COMMAND...: COMMAND has it put into the queue again. It begins there before Slurm would let it, but not in the second in which it
# was ended: slurmd takes it for the old one then. What was printed after the newest checkpoint comes twice.
goes_on() {
    tmp=$tmp/$1
    mkdir "$tmp" "$tmp/at" && cd "$tmp/at" && cp ../../at/program . || exit 99
    submit "../../at/$1" --nodes="$2"
    shift 2
    wait_for has_begun
    "$@" "$id"
    wait_for waits_again
    ! grep -q '^final' "$tmp/out" || fail "$what: was over when it was requeued"
    until_true 20 scontrol update jobid="$id" starttime=now+3
    job_ends COMPLETED 0:0
    grep -qa '^ftrun: resumed from checkpoint' "$tmp/out" || fail "$what: begins anew"
    rounds "$tmp/out" | awk '!seen[$0]++' | cmp -s - ../../at/wanted || { fail "$what: another output:" && cat "$tmp/out"; }
    grep -q 'told to stop by signal 15 (SIGTERM); the job is ended' "$tmp/out" || fail "$what: ftrun was not told to stop"
    exit $failed
}
(goes_on script.3 3 scontrol requeue) &
third=$!
(goes_on script.4 3 scancel --batch --signal=USR1) &
fourth=$!
wait $third || failed=1
wait $fourth || failed=1
nothing_left
finish
