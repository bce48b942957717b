/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that holds memory and rewrites some of it between collectives: what snapshots of it cost (a fork, and a copy of each page
   that is rewritten afterwards). Plain MPI.

     rewrite [-m MIB] [-r MIB] [-i STEPS]   each rank holds MIB, and rewrites MIB of it in each step, round and round;
                                            rank 0 prints the microseconds of one step, after a tenth as warm-up */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Eight bytes of each cache line, as a program that computes would. */
static void rewrite(char *page, long step)
{
    for (int i = 0; i < PAGE; i += 64) memcpy(page + i, &step, sizeof step);
}

int main(int argc, char **argv)
{
    size_t pages = 64 << 8, each = 1 << 8, at = 0;
    long steps = 2000;
    int rank;
    for (int c; (c = getopt(argc, argv, "m:r:i:")) != -1;) {
        switch (c) {
        case 'm': pages = strtoul(optarg, NULL, 0) << 8; break;
        case 'r': each = strtoul(optarg, NULL, 0) << 8; break;
        case 'i': steps = atol(optarg); break;
        default: return 2;
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *memory = malloc(pages * PAGE);
    if (!memory || !pages) return 2;
    memset(memory, 1, pages * PAGE);
    double x = rank, begin = 0;
    for (long step = -steps / 10; step < steps; step++) {
        if (step == 0) begin = MPI_Wtime();
        for (size_t i = 0; i < each; i++, at = at + 1 < pages ? at + 1 : 0) rewrite(memory + at * PAGE, step);
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x /= 3;
    }
    double end = MPI_Wtime();
    if (rank == 0) printf("%.2f\n", (end - begin) / (double)steps * 1e6);
    MPI_Finalize();
    free(memory);
    return 0;
}
