#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fortran and C++ programs on Debian's own wrappers (libmpi_mpifh, libmpi_usempif08, libmpi_cxx) over our library, compiled and linked with
# Open MPI's mpifort and mpic++: the same output with a rank killed as without, and, alone, the same as on Open MPI itself.
# shellcheck disable=SC2154,SC2015,SC1091 # lib.sh sets them; fail() does not return a failure
. "$(dirname "$0")/../lib/lib.sh"
here=${top_srcdir:-.}/compat-tests/abi/wrappers
command -v mpifort.openmpi >/dev/null && command -v mpic++.openmpi >/dev/null ||
    { echo "SKIP: apt-get install libopenmpi-dev gfortran"; exit 77; }
unset LD_LIBRARY_PATH
FTMPI_SNAPSHOT=off # the program goes by FTMPI_INCARNATION as it was at its start
export FTMPI_SNAPSHOT

flags="-w -DROUNDS=300"
fortran="$flags -cpp -ffree-line-length-none -fallow-argument-mismatch"
built=
build() { # NAME COMPILER...
    name=$1
    shift
    "$@" -o "$tmp/$name" >"$tmp/log" 2>&1 || { fail "$name cannot be compiled"; cat "$tmp/log"; return; }
    built="$built $name"
}
# shellcheck disable=SC2086
{
    build mpif.h mpifort.openmpi $fortran "$here/coll.f90"
    build use-mpi mpifort.openmpi $fortran -DUSE_MPI "$here/coll.f90"
    build mpi_f08 mpifort.openmpi $fortran -J "$tmp" "$here/f08.f90"
    build bind-now mpifort.openmpi $fortran -Wl,-z,now "$here/coll.f90"
    build c++ mpic++.openmpi $flags "$here/coll.cc"
    build c++-bind-now mpic++.openmpi $flags -Wl,-z,now "$here/coll.cc"
}

sorted() { sort -s -n -k1,1 "$tmp/out"; }
for name in $built; do
    case $name in c++*) wrapper=libmpi_cxx ;; mpi_f08) wrapper=libmpi_usempif08 ;; *) wrapper=libmpi_mpifh ;; esac
    readelf -d "$tmp/$name" | grep -q "NEEDED.*$wrapper" || fail "$name does not use $wrapper: nothing is tested"
    run -n 3 "$tmp/$name"
    expect_code 0
    sorted >"$tmp/undisturbed"
    [ "$(wc -l <"$tmp/undisturbed")" -gt 20 ] || fail "$name prints too little"
    grep -E ' F( |$)|differs' "$tmp/undisturbed" && fail "$name: something is not as expected"
    for victim in 0 2; do
        VICTIM=$victim run -n 3 "$tmp/$name"
        expect_code 0
        grep -q "rank $victim.*restart" "$tmp/err" || fail "$name: rank $victim was not restarted"
        sorted | cmp - "$tmp/undisturbed" || fail "$name: other output when rank $victim dies"
    done
    # Where ports are: in Open MPI only.
    LD_LIBRARY_PATH=$top_builddir/.libs/ftmpi timeout 120 "$tmp/$name" 2>"$tmp/err" | grep -v 'no ports' >"$tmp/ours" || fail "$name, alone"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self timeout 120 "$tmp/$name" >"$tmp/theirs.all" 2>"$tmp/err" ||
        { echo "Not compared: Open MPI does not run here: $(head -1 "$tmp/err")"; continue; }
    grep -v 'no ports' "$tmp/theirs.all" >"$tmp/theirs"
    diff "$tmp/theirs" "$tmp/ours" || fail "$name, alone, prints something else than on Open MPI (<)"
done
[ -n "$built" ] || fail "nothing was built"
finish
