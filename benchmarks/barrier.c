/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier: microseconds a call, calls back to back. */
#include "bench.h"

static void call(const struct bench_case *c)
{
    (void)c;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fill(const struct bench_case *c, int iteration)
{
    (void)c;
    (void)iteration;
}

static int64_t check(const struct bench_case *c, int iteration)
{
    (void)c;
    (void)iteration;
    return 0;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Barrier", .unsized = true, .call = call, .fill = fill, .check = check});
}
