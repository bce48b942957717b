/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce, sum: microseconds a call, calls back to back. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Allreduce(c->send, c->recv, c->count, c->type->mpi, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Allreduce", .same = true, .adds = true, .call = call, .fill = bench_fill, .check = bench_check_sum});
}
