# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp, here and others
# uses openmpi: what a program compiled with Open MPI's header prints under ftrun it prints under Open MPI.
needs mpicc.openmpi libopenmpi-dev
needs mpirun.openmpi openmpi-bin

# theirs NAME SOURCE...: compiles $tmp/NAME from NAME.c and more of the test's folder.
theirs() {
    name=$1
    shift
    (cd "$here" && mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/$name" "$name.c" "$@" ../chaos/progress.c) ||
        { fail "$name.c does not compile with Open MPI"; finish; }
}
# One file a rank: mpirun tears lines of different ranks apart.
cat >"$tmp/to-file" <<END
exec "\$@" >"$tmp/theirs.\$OMPI_COMM_WORLD_RANK"
END
# as_theirs RANKS NAME ARGUMENT...: fewer than ten ranks. What all print, by rank, is in $tmp/theirs then.
as_theirs() {
    ranks=$1 name=$2
    shift 2
    run -n "$ranks" "$tmp/$name" "$@"
    expect_code 0
    by_rank "$tmp/out" >"$tmp/ours"
    bounded 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" \
        sh "$tmp/to-file" "$tmp/$name" "$@" || fail "Open MPI: exit code $?"
    cat "$tmp"/theirs.? >"$tmp/theirs"
    rm -f "$tmp"/theirs.?
    diff "$tmp/theirs" "$tmp/ours" || fail "$ranks ranks: the output differs from Open MPI's (<)"
}
