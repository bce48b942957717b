#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rabit's recovery scenarios (recover.py says which) over librabit.so, the same program with its ranks killed at any instruction, and
# a bootstrap operation that nothing can answer.
. "$(dirname "$0")/../../lib/test.sh"
recover=$built/recover
tier=quick seeds=2
if quick; then seeds=1; fi
! full || tier=full
aside bounded 900 python3 "$here/recover.py" --ftrun "$ftrun" --program "$recover" --tier $tier

for how in 'local off before' 'global off keys' 'global auto before'; do
    set -- $how
    aside bounded 300 python3 "$here/../../chaos/chaos.py" --ftrun "$ftrun" --ranks 4 --seeds $seeds --kills 4 --ftrun-args "--snapshot $2" -- \
        "$recover" model="$1" boot="$3" rounds=40 floats=2000 'progress={dir}'
done
asides_end

# Without the cache, what a restarted rank does once more after its load is another call than the log has, or than the others
# make: upstream aborts, or waits for ever. Here: one line with both calls.
for at in 1,2 1,0; do
    bounded 120 "$ftrun" -n 4 --quiet --snapshot off "$recover" boot=site floats=200 mock=1,$at,0 >"$tmp/out" 2>"$tmp/err"
    code=$?
    [ $code -ne 0 ] && [ $code -ne 124 ] && [ $code -ne 137 ] || fail "a bootstrap operation without the cache, $at: exit code $code"
    grep -q 'MPI_Allreduce.*uint64.*MPI_Allreduce.*float\|MPI_Allreduce.*float.*MPI_Allreduce.*uint64' "$tmp/err" ||
        { fail "a bootstrap operation without the cache, $at: it does not say what differs:"; cat "$tmp/err"; }
done
finish
