/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce, sum: microseconds a call, calls back to back (each one waits for everybody anyway). */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Allreduce(c->send, c->recv, c->count, c->type->mpi, MPI_SUM, MPI_COMM_WORLD);
}

static void fill(const struct bench_case *c, int iteration)
{
    bench_fill_part(c, c->send, c->rank, iteration);
}

static int64_t check(const struct bench_case *c, int iteration)
{
    return bench_wrong(c->type, c->recv, (size_t)c->count, bench_sum, c->ranks, iteration);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Allreduce", .same = true, .call = call, .fill = fill, .check = check});
}
