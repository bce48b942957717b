/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather: microseconds a call, calls back to back. Size is what one rank contributes. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Allgather(c->send, c->count, c->type->mpi, c->recv, c->count, c->type->mpi, MPI_COMM_WORLD);
}

static void fill(const struct bench_case *c, int iteration)
{
    bench_fill_part(c, c->send, c->rank, iteration);
}

static int64_t check(const struct bench_case *c, int iteration)
{
    int64_t wrong = 0;
    for (int r = 0; r < c->ranks; r++)
        wrong += bench_wrong(c->type, (char *)c->recv + (size_t)r * c->bytes, (size_t)c->count, bench_input, r, iteration);
    return wrong;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Allgather", .recv_all = true, .same = true, .call = call, .fill = fill, .check = check});
}
