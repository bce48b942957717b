#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages, by a program compiled with Open MPI's header: what it prints under ftrun it prints under Open MPI.
. "$(dirname "$0")/../lib/test.sh"
needs mpicc.openmpi libopenmpi-dev
needs mpirun.openmpi openmpi-bin
mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/messages" "$here/messages.c" "$top_srcdir/compat-tests/chaos/progress.c" ||
    { fail "messages.c does not compile with Open MPI"; finish; }
many=100000
if quick; then many=20000; fi
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END
for n in 1 2 3 4; do
    run -n $n "$tmp/messages" -n $many
    expect_code 0
    by_rank "$tmp/out" >"$tmp/ours"
    bounded 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n $n \
        sh "$tmp/to-file" "$tmp/messages" -n $many || fail "Open MPI: exit code $?"
    cat "$tmp"/theirs.* >"$tmp/theirs" # fewer than ten
    rm -f "$tmp"/theirs.?
    diff "$tmp/theirs" "$tmp/ours" || fail "$n ranks: the output differs from Open MPI's (<)"
    [ "$(wc -l <"$tmp/theirs")" -gt $((100 * n)) ] || fail "$n ranks: messages.c prints too little"
done
finish
