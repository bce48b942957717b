/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather: microseconds a call, calls back to back. Size is what one rank contributes. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Allgather(c->send, c->count, c->type->mpi, c->recv, c->count, c->type->mpi, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Allgather", .recv_all = true, .same = true, .call = call, .fill = bench_fill, .check = bench_check_gathered});
}
