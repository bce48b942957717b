/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_dup of the world, and MPI_Comm_free: microseconds for both. -c: the new one is the world once more. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    MPI_Comm new;
    (void)c;
    MPI_Comm_dup(MPI_COMM_WORLD, &new);
    MPI_Comm_free(&new);
}

static void fill(const struct bench_case *c, int iteration)
{
    (void)c;
    (void)iteration;
}

static int64_t check(const struct bench_case *c, int iteration)
{
    MPI_Comm new;
    int result, sum = 0;
    (void)iteration;
    MPI_Comm_dup(MPI_COMM_WORLD, &new);
    MPI_Comm_compare(new, MPI_COMM_WORLD, &result);
    MPI_Allreduce(&c->rank, &sum, 1, MPI_INT, MPI_SUM, new);
    MPI_Comm_free(&new);
    return result != MPI_CONGRUENT || sum != c->ranks * (c->ranks - 1) / 2;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Comm_dup", .unsized = true, .call = call, .fill = fill, .check = check});
}
