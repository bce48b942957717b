#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One library under two names: a program linked with Open MPI's library gets ours under ftrun, without a flag and whatever
# it is started from; a process that asks for both names has one copy; the same from an installation, which shows Open
# MPI's name nowhere else and takes it away again.
. "$(dirname "$0")/../lib/test.sh"
command -v mpicc.openmpi >/dev/null || skip "apt-get install libopenmpi-dev"
cc=${CC:-cc}
unset MAKEFLAGS MAKELEVEL LD_LIBRARY_PATH LD_PRELOAD
ours=$(realpath "$top_builddir/.libs/libftmpi.so.0")

# Prints which files of the process's memory are an MPI library's code, once each.
cat >"$tmp/who.c" <<'EOF2'
#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[4096];
    FILE *maps;
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW))
            printf("%s\n", dlerror());
    maps = fopen("/proc/self/maps", "r");
    while (rank == 0 && fgets(line, sizeof line, maps))
        if (strstr(line, " r-xp ") && (strstr(line, "libmpi.so") || strstr(line, "libftmpi.so")))
            printf("%s", strchr(line, '/'));
    fclose(maps);
    MPI_Finalize();
    return 0;
}
EOF2
mpicc.openmpi -w "$tmp/who.c" -o "$tmp/who" -ldl || fail "mpicc.openmpi"
mpicc.openmpi -w -c "$tmp/who.c" -o "$tmp/who.o" && $cc "$tmp/who.o" -o "$tmp/relinked" -L"$top_builddir/.libs" -lftmpi -ldl ||
    fail "an object compiled with Open MPI's header does not link with -lftmpi"
readelf -d "$tmp/who" | grep -q 'NEEDED.*libmpi\.so\.40' || fail "the program does not need libmpi.so.40: nothing is tested"
readelf -d "$tmp/relinked" | grep -q 'NEEDED.*libmpi' && fail "the relinked program still needs libmpi"

one_copy() { expect_code 0; expect_out "$1"; }
run -n 2 "$tmp/who"
one_copy "$ours"
run -n 2 sh -c "cd / && '$tmp/who'"
one_copy "$ours"
system=$(dirname "$(ldd "$tmp/who" | sed -n 's/.*libmpi\.so\.40 => \([^ ]*\).*/\1/p')")
[ -e "$system/libmpi.so.40" ] || fail "no libmpi.so.40 in $system"
LD_LIBRARY_PATH=$system run -n 2 "$tmp/who"
one_copy "$ours"
run -n 2 -x LD_LIBRARY_PATH="$system" "$tmp/who"
one_copy "$ours"
[ -e "$top_builddir/.libs/libftmpi_rabit.so" ] || fail "no plug-in to preload"
run --rabit -n 2 "$tmp/who" libmpi.so.40 libftmpi.so.0
[ "$code" = 1 ] || fail "--rabit: exit code $code" # nobody used the engine
expect_out "$ours"
LD_LIBRARY_PATH=$top_builddir/.libs run -n 2 "$tmp/relinked" libmpi.so.40
one_copy "$ours"

# The user's own path stays, behind ours; nothing empty (the current directory) gets into it.
shown="$top_builddir/.libs/ftmpi"
LD_LIBRARY_PATH=/a:/b run -n 1 sh -c 'echo $LD_LIBRARY_PATH'
expect_out "$(realpath "$top_builddir")/.libs/ftmpi:/a:/b"
LD_LIBRARY_PATH='' run -n 1 sh -c 'echo $LD_LIBRARY_PATH'
expect_out "$(realpath "$top_builddir")/.libs/ftmpi"
# shellcheck disable=SC2005 # one line
[ "$(echo $(ls "$shown"))" = "libftmpi_rank.so libmpi.so.40 librabit.so python" ] || fail "$shown holds more than libftmpi_rank.so, libmpi.so.40, librabit.so and python/"

# Where it cannot work it says so.
mkdir -p "$tmp/a:b/.libs/ftmpi" "$tmp/alone"
cp "$ftrun" "$tmp/a:b/ftrun" && cp "$ftrun" "$tmp/alone/ftrun"
cp "$ours" "$tmp/a:b/.libs/libftmpi.so.0" && ln -s ../libftmpi.so.0 "$tmp/a:b/.libs/ftmpi/libmpi.so.40"
real=$ftrun
ftrun="$tmp/a:b/ftrun"
run -n 1 true
expect_code 1
expect_err_lines 1
expect_err 'a colon or semicolon'
ftrun=$tmp/alone/ftrun
libdir=$(sed -n 's/^libdir = //p' "$top_builddir/Makefile")
configured=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
case $libdir in '${exec_prefix}/lib') libdir=$configured/lib ;; esac
if [ ! -e "$libdir/ftmpi/libmpi.so.40" ]; then
    run -n 1 true
    expect_code 1
    expect_err_lines 1
    expect_err 'not completely installed: ftmpi/libmpi.so.40'
fi
ftrun=$real

# Installed, elsewhere than configured.
uses stage
stage_again "$tmp/stage"
installed=$(find "$tmp/stage" -name 'libftmpi.so.0')
ftrun=$(find "$tmp/stage" -name ftrun -type f)
if [ "$libdir" = "$configured/lib" ]; then
    run -n 2 "$tmp/who"
    one_copy "$(realpath "$installed")"
fi
find "$tmp/stage" \( -name 'libmpi*' -o -name 'mpi.h' -o -name 'mpi*.pc' \) | grep -vE '/lib[^/]*(/[^/]*)?/ftmpi/libmpi.so.40$|/include/ftmpi/' &&
    fail "these would shadow an installed Open MPI"
make -C "$top_builddir" uninstall DESTDIR="$tmp/stage" >"$tmp/log" 2>&1 || { fail "make uninstall"; tail -5 "$tmp/log"; }
find "$tmp/stage" ! -type d | grep . && fail "make uninstall leaves files"
find "$tmp/stage" -path '*lib*/ftmpi' | grep . && fail "make uninstall leaves the directory"
finish
