#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Intercommunicators on 2 to 5 ranks: made in every way, messages and collectives between the groups, merged, what hangs on them, errors,
# hundreds made and freed.
. "$(dirname "$0")/../lib/test.sh"
rounds=1000
if quick; then rounds=200; fi
for n in 2 3 4 5; do
    run -n $n "$built/intercommunicators" -o -n $rounds
    expect_code 0
    expect_err_lines 0
    [ "$(grep -c ' made: ' "$tmp/out")" = $n ] || { fail "$n ranks do not get to the end:"; tail -5 "$tmp/out"; }
done

[ -z "${sanitized-}" ] || finish # a program of one's own is none of these

# Of one rank both groups are the same.
cat >"$tmp/one.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    MPI_Comm made = MPI_COMM_WORLD;
    int class;
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, 1, &made), &class);
    printf("%d %d\n", class == MPI_ERR_COMM, made == MPI_COMM_NULL);
    return MPI_Finalize();
}
END
"${CC:-cc}" -w -std=gnu17 "$tmp/one.c" -I"$top_srcdir/mpi_shim" -o "$tmp/one" -L"$top_builddir/.libs" -lftmpi -Wl,-rpath,"$top_builddir/.libs" ||
    fail "one.c"
run -n 2 "$tmp/one"
expect_code 0
expect_out '1 1' '1 1'
call "$tmp/one"
expect_code 0
expect_out '1 1'
finish
