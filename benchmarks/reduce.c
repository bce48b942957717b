/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, sum, to rank 0: microseconds until the last rank is out of the call. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Reduce(c->send, c->recv, c->count, c->type->mpi, MPI_SUM, c->root, MPI_COMM_WORLD);
}

static void fill(const struct bench_case *c, int iteration)
{
    bench_fill_part(c, c->send, c->rank, iteration);
}

static int64_t check(const struct bench_case *c, int iteration)
{
    if (c->rank != c->root) return 0;
    return bench_wrong(c->type, c->recv, (size_t)c->count, bench_sum, c->ranks, iteration);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Reduce", .separate = true, .call = call, .fill = fill, .check = check});
}
