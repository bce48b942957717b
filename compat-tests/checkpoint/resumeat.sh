#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Durable checkpoints at every system call by which they are written: the agent is killed there, and its successor writes the last version all the same;
# or everything is killed there, and the job goes on with --resume from the version that was on disk or the one that was being written.
# FT_EVERY=1 tries every stop.
. "$(dirname "$0")/../lib/test.sh"
sanitizers detect_leaks=0 # killat.sh
own_jobs
cd "$tmp" || exit 99
killat=$top_builddir/compat-tests/agent/killat
job="$built/resumejob 6 3000 0 local"
every=5
if quick; then every=23; fi
every=${FT_EVERY:-$every}
seeded

one() { # POINT:N, victims
    rm -rf ckpt
    what="$2 killed at $1"
    timeout -k 5 300 "$killat" "$1" "$2" "$ftrun" -q --ckpt-dir ckpt -n 2 $job >out 2>err 9>stops
    code=$?
}
newest() { for f in ckpt/checkpoint-*.ftmpi; do echo "$f"; done | tail -n 1 | sed 's/[^0-9]*0*\([0-9]*\).*/\1/'; }
one disk:0 agent
expect_code 0
final=$(grep '^final' out)
stops=$(sed -n 's/^disk //p' stops)
[ "${stops:-0}" -gt 40 ] || fail "$what: $stops stops"
resume() { # exactly what an undisturbed run ends with, and nothing to complain of
    timeout 120 "$ftrun" -q --ckpt-dir ckpt --resume"${1:+=$1}" -n 2 $job >out 2>err
    code=$?
    expect_code 0
    grep -q "^$final\$" out || fail "$what, resumed: $(tail -n 1 out)"
    grep -v '^begins with' err && fail "$what, resumed: says something"
    [ "$(newest)" = 6 ] || fail "$what, resumed: the last version on disk is $(newest)"
}
n=$((1 + seed % every))
runs=0
while [ "$n" -le "$stops" ]; do
    one "disk:$n" agent
    expect_code 0
    grep -q "^$final\$" out || fail "$what: $(tail -n 1 out)"
    resume ''
    grep -q '^begins with version 6$' err || fail "$what, resumed: $(cat err)"
    one "disk:$n" ranks+agent+front
    grep -q '^killed' stops && expect_code 137 # the last ones may not come: versions are left out as it happens
    resume auto
    n=$((n + every))
    runs=$((runs + 1))
done
for n in 1 2 3; do # in the call that makes a process: killat waited for ever to be told who that one is
    one "early:$n" ranks+agent+front
    grep -q '^killed' stops && expect_code 137
    resume auto
done
echo "$runs of $stops stops"
finish
