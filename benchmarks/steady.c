/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a program gets while its ranks are killed: for some seconds each step computes a little and then adds up over all ranks;
   every sum is checked. Plain MPI. All that depends on the clock comes out of an operation, so that a rank that starts over goes the
   same way again.

     steady [-t SECONDS] [-b BYTES] [-c MICROSECONDS]    rank 0 prints "STEPS SECONDS": made in this time
                   -b  of an operation (default 1024);  -c  roughly what a step computes (default 100) */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A fixed amount of work, about four nanoseconds a round. */
static double compute(long rounds)
{
    volatile double x = 1;
    for (long i = 0; i < rounds; i++) x = x * 0.999 + 0.001;
    return x;
}

int main(int argc, char **argv)
{
    double seconds = 2;
    long us = 100;
    size_t bytes = 1024;
    int rank, ranks;
    for (int c; (c = getopt(argc, argv, "t:b:c:")) != -1;) {
        switch (c) {
        case 't': seconds = atof(optarg); break;
        case 'b': bytes = strtoul(optarg, NULL, 0); break;
        case 'c': us = atol(optarg); break;
        default: return 2;
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = bytes < 16 ? 2 : (int)(bytes / 8);
    int64_t *mine = calloc((size_t)count, 8), *sum = calloc((size_t)count, 8), end = 0, step = 0;
    if (!mine || !sum) return 2;
    int64_t wanted_end = rank == 0 ? now_ns() + (int64_t)(seconds * 1e9) : 0;
    MPI_Allreduce(&wanted_end, &end, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    do {
        compute(us * 250);
        mine[0] = rank == 0 && now_ns() < end;
        for (int i = 1; i < count; i++) mine[i] = (step + i) * (rank + 1);
        MPI_Allreduce(mine, sum, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 1; i < count; i++) {
            if (sum[i] != (step + i) * ranks * (ranks + 1) / 2) {
                fprintf(stderr, "rank %d: element %d of step %" PRId64 " is wrong\n", rank, i, step);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        step++;
    } while (sum[0]);
    if (rank == 0) printf("%" PRId64 " %.3f\n", step, seconds);
    MPI_Finalize();
    free(mine);
    free(sum);
    return 0;
}
