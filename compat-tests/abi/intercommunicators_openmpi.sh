#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Intercommunicators, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
needs mpicc.openmpi libopenmpi-dev
needs mpirun.openmpi openmpi-bin
mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/intercommunicators" "$here/intercommunicators.c" \
    "$top_srcdir/compat-tests/chaos/progress.c" || { fail "intercommunicators.c does not compile with Open MPI"; finish; }
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END
for n in 2 3 4; do
    run -n $n "$tmp/intercommunicators" -n 50
    expect_code 0
    by_rank "$tmp/out" >"$tmp/ours"
    bounded 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n $n \
        sh "$tmp/to-file" "$tmp/intercommunicators" -n 50 || fail "Open MPI: exit code $?"
    cat "$tmp"/theirs.* >"$tmp/theirs" # fewer than ten
    rm -f "$tmp"/theirs.?
    diff "$tmp/theirs" "$tmp/ours" || fail "$n ranks: the output differs from Open MPI's (<)"
    [ "$(wc -l <"$tmp/theirs")" -gt $((50 * n)) ] || fail "$n ranks: intercommunicators.c prints too little"
done
finish
