#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A function that ftmpi has not is named, whatever the error handler: by the text of its error code, and by one line of each rank that
# calls it. Handles that it would give are null. (It was an error without a name, and handles were what had lain there.)
. "$(dirname "$0")/../lib/test.sh"
theirs=$(mpicc.openmpi --showme:incdirs 2>/dev/null | tr ' ' '\n' | head -1)
[ -n "$theirs" ] && [ -f "$theirs/mpi.h" ] || skip "no Open MPI to compare with: apt-get install libopenmpi-dev"
ours=$top_srcdir/mpi_shim
libs=$top_builddir/.libs
cc=${CC:-cc}

# Each function, by both names.
printf '#include <mpi.h>\n#include <mpi-ext.h>\n' | $cc -E -P -x c -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -I"$theirs" - |
    /usr/bin/python3 "$here/missing.py" "$ours/mpi_missing.h" "$ours/missing.h" >"$tmp/all.c" &&
    $cc -w -std=gnu17 "$tmp/all.c" -I"$ours" -o "$tmp/all" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || fail "all.c"
call "$tmp/all"
expect_code 0
grep -qE '^[3-9][0-9]{2} calls, ([5-9]|1[0-9])[0-9] handles$' "$tmp/out" || { fail "missing.py finds too little"; cat "$tmp/out"; }
functions=$(sed 's/ .*//' "$tmp/out")
expect_err_lines $((functions / 2)) # once, though called by both names
expect_err '^ftmpi: rank 0 on .*: MPI_Ibcast fails: ftmpi has no MPI_Ibcast yet; run this program with another MPI$'

# Ranks: one line of each rank and function. The error goes to a handler of the program's with its code.
cat >"$tmp/ranks.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int MPI_Ibcast(), MPI_Comm_join();
static int noted;
static void note(MPI_Comm *comm, int *code, ...) { (void)comm; noted = *code; }
int main(void)
{
    void *request = &noted, *comm = &noted;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler handler;
    int n, code;
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++)
        MPI_Ibcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    code = MPI_Comm_join(0, &comm);
    MPI_Error_string(noted, text, &n);
    printf("%d %d %d %s\n", request == MPI_REQUEST_NULL, comm == MPI_COMM_NULL, noted == code, text);
    return MPI_Finalize();
}
END
$cc -w -std=gnu17 "$tmp/ranks.c" -I"$ours" -o "$tmp/ranks" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || fail "ranks.c"
run -n 2 "$tmp/ranks"
expect_code 0
text='1 1 1 MPI_ERR_UNSUPPORTED_OPERATION: ftmpi has no MPI_Comm_join yet; run this program with another MPI'
expect_out "$text" "$text"
expect_err_lines 4
for function in MPI_Ibcast MPI_Comm_join; do
    [ "$(grep -c "^ftmpi: rank [01] on .*: $function fails: ftmpi has no $function yet" "$tmp/err")" = 2 ] ||
        fail "not one line of each rank about $function"
done

# What has no class of its own: the text of MPI_ERR_OTHER is why it was raised last. (It was "error that has no class of its own".)
cat >"$tmp/other.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, code;
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_string(MPI_ERR_OTHER, text, &n);
    printf("%s\n", text);
    code = MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_string(code, text, &n);
    printf("%d %s\n", code == MPI_ERR_OTHER, text);
    return MPI_Finalize();
}
END
$cc -w -std=gnu17 "$tmp/other.c" -I"$ours" -o "$tmp/other" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || fail "other.c"
run -n 1 "$tmp/other"
expect_code 0
expect_out "MPI_ERR_OTHER: error that has no class of its own" '1 MPI_ERR_OTHER: rank 0 waits for a message, and there is nobody else who could send one'
expect_err_lines 0

# The compiler tells, in each language; no warning of the header itself, however many are asked for.
cat >"$tmp/scans.c" <<'END'
#include <mpi.h>
int main(void) { MPI_Init(0, 0); int x = 0, y; MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); return MPI_Finalize(); }
END
cp "$tmp/scans.c" "$tmp/scans.cc"
for compiler in "$cc -std=c99 -Wstrict-prototypes" "$cc -std=gnu17 -Wall -Wextra -pedantic" "$cc -std=c2x" "${CXX:-c++} -Wall -Wextra" \
    clang; do
    command -v ${compiler%% *} >/dev/null || continue
    for source in "$tmp/scans.c" "$tmp/scans.cc"; do
        case $source,$compiler in *.cc,*std*|*.c,*c++*|*.c,*g++*) continue ;; esac
        $compiler -c "$source" -I"$ours" -o "$tmp/scans.o" 2>"$tmp/err" || fail "$compiler: the program is not compiled"
        [ "$(grep -c 'warning:' "$tmp/err")" = 1 ] && grep -q 'ftmpi has no MPI_Scan yet' "$tmp/err" ||
            fail "$compiler: says something else"
    done
done

# Fortran, by its own binding's functions.
command -v mpifort.openmpi >/dev/null || finish
cat >"$tmp/f.f90" <<'END'
program f
    include 'mpif.h'
    integer ierr, request, length, class, again, x
    character(MPI_MAX_ERROR_STRING) text
    call MPI_Init(ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Ibcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Error_class(ierr, class, again)
    call MPI_Error_string(ierr, text, length, again)
    print '(L1,1X,A)', class == MPI_ERR_UNSUPPORTED_OPERATION, text(:length)
    call MPI_Finalize(ierr)
end program
END
mpifort.openmpi -w "$tmp/f.f90" -o "$tmp/f" || fail "f.f90"
run -n 1 "$tmp/f"
expect_code 0
expect_out 'T MPI_ERR_UNSUPPORTED_OPERATION: ftmpi has no MPI_Ibcast yet; run this program with another MPI'
expect_err_lines 1
finish
