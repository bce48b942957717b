#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CMake's FindMPI finds an installed ftmpi, compilers and mpiexec, in each way the manual names, whatever other MPI is
# installed; what it builds runs by ctest.
# shellcheck disable=SC2154 # what is not assigned here is by: uses stage
set -u
. "$(dirname "$0")/../lib/test.sh"
needs cmake
uses stage
cp -r "$here/cmake" "$tmp/project" && chmod -R u+w "$tmp/project"

# project HOW LAUNCHER [CMAKE-ARGUMENT...]: configured, built and tested
project() {
    how=$1 launcher=$2
    shift 2
    rm -rf "$tmp/build"
    cmake -S "$tmp/project" -B "$tmp/build" "$@" >"$tmp/out" 2>&1 </dev/null || { fail "$how: cmake: exit code $?" && tail -20 "$tmp/out"; return; }
    grep -q "mpiexec is $launcher\$" "$tmp/out" || { fail "$how: another mpiexec was found" && grep 'mpiexec is' "$tmp/out"; }
    cmake --build "$tmp/build" >"$tmp/out" 2>&1 || { fail "$how: build: exit code $?" && tail -20 "$tmp/out"; return; }
    (cd "$tmp/build" && ctest --output-on-failure --timeout 120) >"$tmp/out" 2>&1 || { fail "$how: ctest: exit code $?" && tail -20 "$tmp/out"; }
    grep -q '100% tests passed.* 2$' "$tmp/out" || { fail "$how: not two tests" && tail -20 "$tmp/out"; }
    readelf -d "$tmp/build/sum_c" | grep -q 'NEEDED.*libftmpi\.so' || fail "$how: not linked with libftmpi"
    "$tmp/build/sum_c" 1 || fail "$how: does not run by itself"
}

PATH="$plain:$PATH" project PATH "$plain/mpiexec"
quick && finish
project MPI_HOME "$plain/mpiexec" -DMPI_HOME="$(dirname "$plain")"
project compilers "$prefix/bin/ftmpiexec" -DMPI_C_COMPILER="$prefix/bin/ftmpicc" -DMPI_CXX_COMPILER="$prefix/bin/ftmpicxx" \
    -DMPIEXEC_EXECUTABLE="$prefix/bin/ftmpiexec"
finish
