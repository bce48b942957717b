#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fortran and C++ programs on Debian's own wrappers (libmpi_mpifh, libmpi_usempif08, libmpi_cxx) over our library, compiled and linked with
# Open MPI's mpifort and mpic++: the same output with a rank killed as without, and, alone, the same as on Open MPI itself.
. "$(dirname "$0")/../lib/test.sh"
command -v mpifort.openmpi >/dev/null && command -v mpic++.openmpi >/dev/null ||
    skip "apt-get install libopenmpi-dev gfortran"
unset LD_LIBRARY_PATH
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT

flags="-w -DROUNDS=300"
fortran="$flags -cpp -ffree-line-length-none -fallow-argument-mismatch"
made=
build() { # NAME COMPILER...
    name=$1
    shift
    "$@" -o "$tmp/$name" >"$tmp/log" 2>&1 || { fail "$name cannot be compiled"; cat "$tmp/log"; return; }
    made="$made $name"
}
{
    build mpif.h mpifort.openmpi $fortran "$here/wrappers/coll.f90"
    build use-mpi mpifort.openmpi $fortran -DUSE_MPI "$here/wrappers/coll.f90"
    build mpi_f08 mpifort.openmpi $fortran -J "$tmp" "$here/wrappers/f08.f90"
    build bind-now mpifort.openmpi $fortran -Wl,-z,now "$here/wrappers/coll.f90"
    build c++ mpic++.openmpi $flags "$here/wrappers/coll.cc"
    build messages-mpif.h mpifort.openmpi $fortran "$here/wrappers/messages.f90"
    build messages-use-mpi mpifort.openmpi $fortran -DUSE_MPI "$here/wrappers/messages.f90"
    build c++-messages mpic++.openmpi $flags "$here/wrappers/messages.cc"
    build c++-bind-now mpic++.openmpi $flags -Wl,-z,now "$here/wrappers/coll.cc"
}

for name in $made; do
    case $name in c++*) wrapper=libmpi_cxx ;; mpi_f08) wrapper=libmpi_usempif08 ;; *) wrapper=libmpi_mpifh ;; esac
    readelf -d "$tmp/$name" | grep -q "NEEDED.*$wrapper" || fail "$name does not use $wrapper: nothing is tested"
    run -n 3 "$tmp/$name"
    expect_code 0
    by_rank "$tmp/out" >"$tmp/undisturbed"
    [ "$(wc -l <"$tmp/undisturbed")" -gt 20 ] || fail "$name prints too little"
    grep -E ' F( |$)|differs' "$tmp/undisturbed" && fail "$name: something is not as expected"
    for victim in 0 2; do
        VICTIM=$victim run -n 3 "$tmp/$name"
        expect_code 0
        grep -q "rank $victim.*restart" "$tmp/err" || fail "$name: rank $victim was not restarted"
        by_rank "$tmp/out" | cmp - "$tmp/undisturbed" || fail "$name: other output when rank $victim dies"
    done
    # Where ports are: in Open MPI only.
    LD_LIBRARY_PATH=$top_builddir/.libs/ftmpi timeout 120 "$tmp/$name" 2>"$tmp/err" | grep -v 'no ports' >"$tmp/ours" || fail "$name, alone"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self timeout 120 "$tmp/$name" >"$tmp/theirs.all" 2>"$tmp/err" ||
        { echo "Not compared: Open MPI does not run here: $(head -1 "$tmp/err")"; continue; }
    grep -v 'no ports' "$tmp/theirs.all" >"$tmp/theirs"
    diff "$tmp/theirs" "$tmp/ours" || fail "$name, alone, prints something else than on Open MPI (<)"
done
[ -n "$made" ] || fail "nothing was built"
finish
