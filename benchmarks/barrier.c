/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier: microseconds a call, calls back to back. -c: nobody leaves before the last one has entered, by the clock that the
   processes of a host share. */
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
    double last = 0;
    (void)iteration;
    MPI_Allreduce(&c->entered, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return c->left < last;
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Barrier", .unsized = true, .call = call, .fill = fill, .check = check});
}
