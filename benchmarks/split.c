/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split of the world into two halves, and MPI_Comm_free: microseconds for both. -c: the halves are what they should be. */
#include "bench.h"

static void halve(const struct bench_case *c, MPI_Comm *half)
{
    MPI_Comm_split(MPI_COMM_WORLD, c->rank % 2, -c->rank, half);
}

static void call(const struct bench_case *c)
{
    MPI_Comm half;
    halve(c, &half);
    MPI_Comm_free(&half);
}

static void fill(const struct bench_case *c, int iteration)
{
    (void)c;
    (void)iteration;
}

/* The last rank of the world is the first one of its half. */
static int64_t check(const struct bench_case *c, int iteration)
{
    MPI_Comm half;
    int rank, ranks, others = c->rank % 2 == 0, want = (c->ranks + others) / 2;
    (void)iteration;
    halve(c, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &ranks);
    MPI_Comm_free(&half);
    return ranks != want || rank != want - 1 - c->rank / 2;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Comm_split", .unsized = true, .call = call, .fill = fill, .check = check});
}
