#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpicc and ftmpicxx: what they hand to the compiler, what they answer, and that programs made with them run; in the build
# tree, and from an installation that was moved. And pkg-config's file, and the plain names.
# shellcheck disable=SC2154 # what is not assigned here is by: uses stage
set -u
. "$(dirname "$0")/../lib/test.sh"
uses stage
build=$(cd "$top_builddir" && pwd -P)
src=$(cd "$top_srcdir" && pwd -P)

cat >"$tmp/a program.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#ifndef FTMPI
#error not our mpi.h
#endif
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", sum);
    return MPI_Finalize();
}
END
cp "$tmp/a program.c" "$tmp/a program.cc"
# Stands for the compiler: prints its arguments, one on a line.
printf '#!/bin/sh\necho "<${0##*/}>"\nfor a; do echo "$a"; done\n' >"$tmp/echo cc" && chmod +x "$tmp/echo cc"

prints() { expect_code 0 && expect_out "$@"; }

# made_and_run COMPILER RUNNER SOURCE: alone (it finds its library by itself), and as three ranks
made_and_run() {
    rm -f "$tmp/a out"
    call "$1" -Wall -Werror "$3" -o "$tmp/a out" && expect_code 0
    call "$tmp/a out" && prints 1
    call timeout 120 "$2" -n 3 "$tmp/a out" && prints 9
}

made_and_run "$build/ftmpicc" "$ftrun" "$tmp/a program.c"
made_and_run "$build/ftmpicxx" "$ftrun" "$tmp/a program.cc"
made_and_run "$prefix/bin/ftmpicc" "$prefix/bin/ftrun" "$tmp/a program.c"
readelf -d "$tmp/a out" | grep -q "$prefix/lib" || fail "the program is not linked with what is installed"
made_and_run "$prefix/bin/ftmpic++" "$prefix/bin/ftmpiexec" "$tmp/a program.cc"
made_and_run "$plain/mpicxx" "$plain/mpiexec" "$tmp/a program.cc"
made_and_run "$plain/mpicc" "$plain/mpirun" "$tmp/a program.c"
call env PATH="$plain:$PATH" sh -c "cd '$tmp' && mpicc -c 'a program.c' -o one.o && mpicc one.o -o one && mpiexec -n 2 ./one" && prints 4

# What reaches the compiler: our flags last, link flags only when it links, nothing when there is nothing to compile.
inc=-I$src/mpi_shim lib=$build/.libs
export FTMPI_CC="$tmp/echo cc" FTMPI_CXX="$tmp/echo cc"
call "$build/ftmpicc" 'a b.c' -o "it's" -lm && prints '<echo cc>' 'a b.c' -o "it's" -lm "$inc" "-L$lib" "-Wl,-rpath,$lib" -lftmpi
for flag in -c -S -E -M -MM -fsyntax-only; do
    call "$build/ftmpicxx" $flag x.cc && prints '<echo cc>' $flag x.cc "$inc"
done
call "$build/ftmpicc" -E - && prints '<echo cc>' -E - "$inc"
call "$build/ftmpicc" @args && prints '<echo cc>' @args "$inc" "-L$lib" "-Wl,-rpath,$lib" -lftmpi
call "$build/ftmpicc" --version && prints '<echo cc>' --version
call "$build/ftmpicc" -o out -x c && prints '<echo cc>' -o out -x c
call "$build/ftmpicc" -o -c '*.c' '' && prints '<echo cc>' -o -c '*.c' '' "$inc" "-L$lib" "-Wl,-rpath,$lib" -lftmpi
call "$build/ftmpicc" && prints '<echo cc>'

# Which compiler: the argument, then our variable, then those that Open MPI's and MPICH's users set.
ln -s 'echo cc' "$tmp/other"
call env FTMPI_CC=false "$build/ftmpicc" "-cc=$tmp/other" -v && prints '<other>' -v
call env OMPI_CC=false "$build/ftmpicc" -v && prints '<echo cc>' -v
unset FTMPI_CC FTMPI_CXX
call env OMPI_CC="$tmp/other" MPICH_CC=false "$build/ftmpicc" -v && prints '<other>' -v
call env MPICH_CXX="$tmp/other" OMPI_CC=false "$build/ftmpicxx" -v && prints '<other>' -v
call env FTMPI_CC="env X=1 $tmp/other" "$build/ftmpicc" -v && prints '<other>' -v
call "$build/ftmpicc" -cc=no-such-compiler x.c && expect_code 127 && expect_err 'no-such-compiler' && expect_err_lines 1
call "$build/ftmpicc" -cxx=g++ x.c && expect_code 1 && expect_err '-cc=' && expect_err_lines 1
call "$build/ftmpicc" && expect_code 1
call "$build/ftmpicc" "$tmp/missing.c" && expect_code 1

# Questions.
export FTMPI_CC=cc1
for flag in -showme --showme -show --show; do
    call "$build/ftmpicc" $flag && prints "cc1 $inc -L$lib -Wl,-rpath,$lib -lftmpi"
done
call "$build/ftmpicc" -show -c 'a b.c' && prints "cc1 -c 'a b.c' $inc"
call "$build/ftmpicc" x.c -showme -o x && prints "cc1 x.c -o x $inc -L$lib -Wl,-rpath,$lib -lftmpi"
for dashes in - --; do
    call "$build/ftmpicc" ${dashes}showme:command && prints cc1
    call "$build/ftmpicc" ${dashes}showme:compile && prints "$inc"
    call "$build/ftmpicc" ${dashes}showme:link && prints "-L$lib -Wl,-rpath,$lib -lftmpi"
    call "$build/ftmpicc" ${dashes}showme:incdirs && prints "$src/mpi_shim"
    call "$build/ftmpicc" ${dashes}showme:libdirs && prints "$lib"
    call "$build/ftmpicc" ${dashes}showme:libs && prints ftmpi
    call "$build/ftmpicc" ${dashes}showme:help && expect_code 0
    grep -q -e '-showme:libdirs' "$tmp/out" || fail "$what"
done
for flag in -compile-info -compile_info; do call "$build/ftmpicc" $flag && prints "cc1 $inc"; done
for flag in -link-info -link_info; do call "$build/ftmpicc" $flag && prints "cc1 -L$lib -Wl,-rpath,$lib -lftmpi"; done
version=$("$ftrun" --version | sed 's/.* //')
call "$build/ftmpicxx" -showme:version && prints "ftmpicxx: ftmpi $version, binary interface of Open MPI 4.1.4 (Language: C++)"
call "$build/ftmpicc" -showme:nonsense && expect_code 1 && expect_err '-showme:help' && expect_err_lines 1

# What is shown of the moved installation means the same to a shell.
call "$plain/mpicc" -showme:incdirs && prints "\"$prefix/include/ftmpi\""
unset FTMPI_CC
call sh -c "cd '$tmp' && $("$prefix/bin/ftmpicc" -show 'a program.c' -o shown) && ./shown" && prints 1
call sh -c "cd '$tmp' && cc 'a program.c' $("$prefix/bin/ftmpicc" -showme:compile) $("$prefix/bin/ftmpicc" -showme:link) -o two && ./two" && prints 1

# pkg-config.
if command -v pkg-config >/dev/null; then
    pc() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --define-prefix "$@"; }
    [ "$(pc --modversion ftmpi)" = "$version" ] || fail "pkg-config --modversion"
    call sh -c "cd '$tmp' && cc 'a program.c' $(pc --cflags --libs ftmpi) -o three && ./three" && prints 1
fi

# Plain names are nowhere but in their own directory, and nothing is left after uninstalling.
found=$(cd "$prefix" && find . -name 'mpi[crCe]*' ! -name '*.h' | sort | tr '\n' ' ')
[ "$found" = "./lib/ftmpi/bin/mpiCC ./lib/ftmpi/bin/mpic++ ./lib/ftmpi/bin/mpicc ./lib/ftmpi/bin/mpicxx ./lib/ftmpi/bin/mpiexec ./lib/ftmpi/bin/mpirun " ] ||
    fail "plain names: $found"
grep -rlI "$build\|$tmp" "$prefix" | grep -v '\.la$' | grep . && fail "these name the build tree"
stage_again "$tmp/again"
make -C "$build" uninstall DESTDIR="$tmp/again" >/dev/null 2>&1 || fail "make uninstall"
find "$tmp/again" ! -type d | grep . && fail "uninstall leaves the above"
finish
