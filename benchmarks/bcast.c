/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast from rank 0 (-k): microseconds until the last rank has the data, from the moment the first rank enters the call
   behind a barrier. OSU's average over the ranks is smaller: the root need not wait. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Bcast(c->send, c->count, c->type->mpi, c->root, MPI_COMM_WORLD);
}

/* The others start from something that differs in each element from what they are about to receive. */
static void fill(const struct bench_case *c, int iteration)
{
    bench_fill_part(c, c->send, c->root, c->rank == c->root ? iteration : iteration + 1);
}

static int64_t check(const struct bench_case *c, int iteration)
{
    return bench_wrong(c->type, c->send, (size_t)c->count, bench_input, c->root, iteration);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Broadcast", .recv_is_send = true, .same = true, .rooted = true, .separate = true,
        .call = call, .fill = fill, .check = check});
}
