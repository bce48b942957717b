#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages on 1 to 4 ranks: every function of MPI 3.1 chapter 3 and generalized requests, errors, stale handles, many under way. What ends
# a job says why.
. "$(dirname "$0")/../lib/test.sh"
many=100000
if quick; then many=20000; fi
for n in 1 2 3 4; do
    for program in "messages -n $many" "requests -n $many" statuses; do
        # shellcheck disable=SC2086
        run -n $n "$built/"$program -o
        expect_code 0
        expect_err_lines 0
        [ "$(grep -c ' rounds of all to all: \| synchronous ones at a time$\| probed$' "$tmp/out")" = $n ] ||
            { fail "$program: $n ranks do not get to the end:"; tail -5 "$tmp/out"; }
    done
done

# Without a handler of the program's, one line for each kind of error: the function, what is wrong, its value.
cat >"$tmp/wrong.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int x[2] = {0, 0};
    MPI_Request r = MPI_REQUEST_NULL, stale;
    MPI_Init(&argc, &argv);
    switch (atoi(argv[1])) {
    case 0: MPI_Send(x, 1, MPI_INT, 5, 0, MPI_COMM_WORLD); break;
    case 1: MPI_Irecv(x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, &r); break;
    case 2: MPI_Send(x, 2, MPI_INT, 0, 3, MPI_COMM_WORLD); MPI_Recv(x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 3: MPI_Send(x, 2, MPI_INT, 0, 3, MPI_COMM_WORLD); MPI_Irecv(x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &r); MPI_Waitall(1, &r, MPI_STATUSES_IGNORE); break;
    case 4: MPI_Irecv(x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r); stale = r; MPI_Wait(&r, MPI_STATUS_IGNORE); MPI_Wait(&stale, MPI_STATUS_IGNORE); break;
    case 5: MPI_Bsend(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); break;
    case 6: MPI_Startall(-2, &r); break;
    case 7: MPI_Recv(NULL, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    }
    return MPI_Finalize();
}
END
"${CC:-cc}" -w "$tmp/wrong.c" -I"$top_srcdir/mpi_shim" -o "$tmp/wrong" -L"$top_builddir/.libs" -lftmpi -Wl,-rpath,"$top_builddir/.libs" ||
    fail "wrong.c"
wrong() { # CASE CLASS LINE
    run -n 1 "$tmp/wrong" "$1"
    expect_err_lines 1
    expect_err "^ftrun: MPI_$3"
    expect_err ": MPI_ERR_$2: "
}
if [ -z "${sanitized-}" ]; then
    wrong 0 RANK 'Send, rank 0 on .*: the destination is 5; MPI_COMM_WORLD has the ranks 0 to 0\.'
    wrong 1 TAG 'Irecv, rank 0 on .*: the tag is -7; it must be 0 or more, or MPI_ANY_TAG\.'
    wrong 2 TRUNCATE 'Recv, rank 0 on .*: the message from rank 0 with tag 3 is longer than the 4 bytes there is room for\.'
    wrong 3 IN_STATUS 'Waitall, rank 0 on .*: the first error is in status 0: MPI_ERR_TRUNCATE\.'
    wrong 4 REQUEST 'Wait, rank 0 on .*: 0x[0-9a-f]* is not a request; was it freed?\.'
    wrong 5 BUFFER 'Bsend, rank 0 on .*: no buffer is attached; call MPI_Buffer_attach first\.'
    wrong 6 ARG 'Startall, rank 0 on .*: count is -2; it must be 0 or more\.'
    wrong 7 BUFFER 'Recv, rank 0 on .*: the buffer is a null pointer for 8 bytes\.'
fi
finish
