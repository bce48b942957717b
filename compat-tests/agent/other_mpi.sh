#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that starts another MPI, whatever way that was found, was a silent world of one. It is told at once, by the
# library's path; and nobody is told who has that library and does not start it, or is on ours.
. "$(dirname "$0")/../lib/test.sh"
unset LD_LIBRARY_PATH
needs mpicc.openmpi libopenmpi-dev
needs mpicc.mpich libmpich-dev
python=/usr/bin/python3
openmpi=$(dirname "$(mpicc.openmpi -print-file-name=libmpi.so.40)")
mpich=$(mpicc.mpich -print-file-name=libmpich.so.12)

cat >"$tmp/hello.c" <<'EOF2'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* hello [WHEN COMMAND]: runs it before or after MPI_Init. hello spin: computes, and calls nobody. */
int main(int argc, char **argv) {
    volatile unsigned long spun = 0;
    int rank, size;
    if (argc > 2 && !strcmp(argv[1], "before") && system(argv[2])) return 9;
    MPI_Init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "after") && system(argv[2])) return 9;
    while (argc == 2) spun++;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\n", rank, size);
    return MPI_Finalize();
}
EOF2
cat >"$tmp/load.c" <<'EOF2'
#include <dlfcn.h>
#include <stdio.h>
/* load LIBRARY [NAME]: calls NAME in it, or nothing. */
int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*init)(int *, char ***) = library && argc > 2 ? (int (*)(int *, char ***))dlsym(library, argv[2]) : NULL;
    if (!library || (argc > 2 && !init)) return 9;
    if (init) init(NULL, NULL);
    puts("loaded");
    return 0;
}
EOF2
# Those on ours may have it mapped first: of a function that MPICH has and Open MPI has not.
cat >"$tmp/both.c" <<'EOF2'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank;
    if (!dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) return 9;
    for (int i = 0; i < 20; i++) fclose(fopen("/dev/null", "r"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%d\n", rank);
    return MPI_Finalize();
}
EOF2
cd "$tmp" || exit 99
mpicc.openmpi hello.c -o ours && mpicc.openmpi both.c -o both -ldl && mpicc.mpich hello.c -o mpich &&
    mpicc.openmpi hello.c -o rpath "-Wl,-rpath,$openmpi,--disable-new-dtags" && cc load.c -o load -ldl || exit 99

is_told() { # library, arguments
    library=$1
    shift
    at_most=30 run "$@"
    expect_code 126
    expect_err "^ftrun: rank [0-9]* (pid [0-9]*, host [^)]*) has started another MPI, [^ ]*$library"
    expect_err_lines 1
    expect_no_out
}
is_told 'libmpi\.so\.40' -n 2 ./rpath
is_told 'libmpi\.so\.40' -n 2 ./rpath spin # while it computes, not when it comes to print something
is_told 'libmpi\.so\.40' -n 2 --max-restarts 0 ./rpath
is_told 'libmpi\.so\.40' -n 2 --snapshot off ./rpath
is_told 'libmpi\.so\.40' -n 2 sh -c './rpath; exit 0'
is_told 'libmpi\.so\.40' -n 2 ./load "$openmpi/libmpi.so.40" MPI_Init
is_told 'libmpi\.so\.40' -n 2 "$python" -c "import ctypes; ctypes.CDLL('$openmpi/libmpi.so.40').MPI_Init(None, None); print('alone')"
is_told 'libmpi\.so\.40' -n 2 "$python" -c "import ctypes, threading
thread = threading.Thread(target=lambda: ctypes.CDLL('$openmpi/libmpi.so.40').MPI_Init(None, None))
thread.start()
thread.join()
print('alone')"
is_told 'libmpich\.so\.12' -n 2 sh -c ./mpich
is_told 'libmpich\.so\.12' -n 2 sh -c './mpich; sleep 60'
is_told 'libmpich\.so\.12' -n 2 ./load "$mpich" MPI_Init
is_told 'libmpich\.so\.12' -n 2 ./load "$mpich" PMPI_Init
# It has no descriptor of the job's.
is_told 'libmpich\.so\.12' -n 2 "$python" -c 'import subprocess; subprocess.run(["./mpich"])'
# What ftrun was told by a launcher of its own says nothing of the ranks.
PMI_FD=77 PMIX_NAMESPACE=x is_told 'libmpich\.so\.12' -n 2 sh -c './mpich; exit 0'

# What leads to ours: not a search path where the binary interface is another one; what names theirs. (It was the same for all.)
expect_err 'is alone: build what calls it (mpi4py, too) with ftmpicc, or with Open MPI.s mpicc; --other-mpi allow lets it run$'
is_told 'libmpi\.so\.40' -n 2 ./rpath
expect_err 'is alone: link it with ftmpicc, or have it find ftmpi.s libmpi.so.40, the first in LD_LIBRARY_PATH; --other-mpi allow'
MPI4PY_LIBMPI=$openmpi/libmpi.so.40 is_told 'libmpi\.so\.40' -n 2 "$python" -c "import ctypes, os; ctypes.CDLL(os.environ['MPI4PY_LIBMPI']).MPI_Init(None, None)"
expect_err 'is alone: MPI4PY_LIBMPI names it: leave that unset'
# Over several hosts once, with the host's name as the user knows it. (Each host told it, with the machine's.)
printf '#!/bin/sh\nshift\nexec "$@"\n' >go
chmod +x go
is_told 'libmpi\.so\.40' --launcher "exec:$tmp/go" --iface lo -H x1,x2 ./rpath
expect_err ', host x[12])'

is_quiet() { # lines of output, arguments
    lines=$1
    shift
    at_most=60 run "$@"
    expect_code 0
    expect_err_lines 0
    sort -o "$tmp/out" "$tmp/out"
    [ "$(tr '\n' ';' <"$tmp/out")" = "$lines" ] || { fail "$what: prints"; cat "$tmp/out"; }
}
is_quiet '0 of 2;1 of 2;' -n 2 ./ours
is_quiet 'loaded;loaded;' -n 2 ./load "$openmpi/libmpi.so.40"
is_quiet 'loaded;loaded;' -n 2 ./load "$mpich"
is_quiet '0;1;' -n 2 ./both "$openmpi/libmpi.so.40"
is_quiet '0;1;' -n 2 ./both "$mpich"
# Tools of a rank that is on ours, or will be, and jobs of another launcher's.
is_quiet '0 of 1;0 of 1;0 of 2;1 of 2;' -n 2 ./ours before ./mpich
is_quiet '0 of 1;0 of 1;0 of 2;1 of 2;' -n 2 ./ours after ./mpich
is_quiet '0 of 2;1 of 2;' -n 1 mpiexec.mpich -n 2 ./mpich
is_quiet '0 of 1;' -n 1 sh -c './mpich; exit 0' # is right
is_quiet '' -n 2 sh -c 'mpicc.openmpi --version >out.$$; mpichversion >>out.$$'
is_quiet '0 of 1;0 of 1;' --other-mpi allow -n 2 ./rpath
is_quiet '0 of 1;0 of 1;' --other-mpi allow -n 2 ./mpich
FTMPI_OTHER_MPI=allow is_quiet '0 of 1;0 of 1;' -n 2 sh -c './mpich; exit 0'

run --other-mpi perhaps -n 1 true
expect_code 2
expect_err 'wanted: end|allow'
finish
