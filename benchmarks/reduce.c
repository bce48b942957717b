/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, sum, to rank 0 (-k): microseconds from the moment the first rank enters the call behind a
   barrier until the last one is out of it. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Reduce(c->send, c->recv, c->count, c->type->mpi, MPI_SUM, c->root, MPI_COMM_WORLD);
}

static int64_t check(const struct bench_case *c, int iteration)
{
    return c->rank == c->root ? bench_check_sum(c, iteration) : 0;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Reduce", .rooted = true, .adds = true, .separate = true, .call = call, .fill = bench_fill, .check = check});
}
