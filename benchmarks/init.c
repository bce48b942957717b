/* SPDX-License-Identifier: BSD-3-Clause */
/* The empty program. -q: nothing but MPI_Init and MPI_Finalize, to be timed from outside; otherwise prints, like
   osu_init, what MPI_Init took, over the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    int quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
    double begin = now_ms();
    MPI_Init(&argc, &argv);
    double mine = now_ms() - begin, sum = 0, low = 0, high = 0;
    if (!quiet) {
        int rank, ranks;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &low, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &high, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("# ftmpi MPI Init Test\nnprocs: %d, min: %.2f ms, max: %.2f ms, avg: %.2f ms\n", ranks, low, high, sum / ranks);
    }
    MPI_Finalize();
    return 0;
}
