#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The mixed program, kept to what every MPI must compute to the same bits, prints under ftrun what it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
mpicc=$(command -v mpicc.openmpi) || skip "Open MPI's compiler wrapper is missing: apt-get install libopenmpi-dev"
mpirun=$(command -v mpirun.openmpi) || skip "Open MPI's launcher is missing: apt-get install openmpi-bin"
"$mpicc" -O2 -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/mixed" "$here/mixed.c" "$here/progress.c" || { fail "mixed.c does not compile with Open MPI"; finish; }
operations=2000 worlds="2 3 4 8"
if quick; then operations=500 worlds="3"; fi
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END
for w in $worlds; do
    seed=$((w * 11))
    bounded 300 "$ftrun" -n "$w" "$built/mixed" -e -n $operations -s $seed | by_rank >"$tmp/ours"
    bounded 300 "$mpirun" --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$w" \
        sh "$tmp/to-file" "$tmp/mixed" -e -n $operations -s $seed || fail "Open MPI: exit code $?"
    r=0
    while [ $r -lt "$w" ]; do
        cat "$tmp/theirs.$r"
        r=$((r + 1))
    done >"$tmp/theirs"
    rm -f "$tmp"/theirs.*
    cmp "$tmp/ours" "$tmp/theirs" || fail "$w ranks, seed $seed: the output differs from Open MPI's"
    [ -s "$tmp/ours" ] || fail "$w ranks: no output"
    echo "$w ranks: $operations operations, the same as Open MPI ($(wc -l <"$tmp/ours") lines)"
done
finish
