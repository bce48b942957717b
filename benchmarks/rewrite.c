/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that holds memory and rewrites some of it between collectives: what snapshots of it cost (a fork, and a copy of each page
   that is rewritten afterwards). Plain MPI.

     rewrite [-m MIB] [-r MIB] [-i STEPS]   each rank holds MIB, and rewrites MIB of it in each step, round and round;
                                            rank 0 prints the microseconds of one step, after a tenth as warm-up
     rewrite -e ...                         and behind that what was lost to steps that took longer than those around them: percent of the
                                            time beyond the median of each 512 steps. A machine that is slower for a while does not
                                            count; what happens once in a while, as snapshots do, does */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, WINDOW = 512 };

/* Eight bytes of each cache line, as a program that computes would. */
static void rewrite(char *page, long step)
{
    for (int i = 0; i < PAGE; i += 64) memcpy(page + i, &step, sizeof step);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time beyond the median of n steps; they are sorted then. */
static double excess(double *steps, int n)
{
    double sum = 0;
    qsort(steps, (size_t)n, sizeof *steps, ascending);
    for (int i = 0; i < n; i++) sum += steps[i] - steps[n / 2];
    return sum;
}

int main(int argc, char **argv)
{
    size_t pages = 64 << 8, each = 1 << 8, at = 0;
    long steps = 2000;
    int rank, lost = 0;
    for (int c; (c = getopt(argc, argv, "em:r:i:")) != -1;) {
        switch (c) {
        case 'e': lost = 1; break;
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
    double x = rank, begin = 0, beyond = 0, window[WINDOW], last = 0;
    int n = 0;
    for (long step = -steps / 10; step < steps; step++) {
        if (step == 0) begin = last = MPI_Wtime();
        for (size_t i = 0; i < each; i++, at = at + 1 < pages ? at + 1 : 0) rewrite(memory + at * PAGE, step);
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x /= 3;
        if (!lost || step < 0) continue;
        window[n++] = MPI_Wtime() - last;
        if (n == WINDOW) beyond += excess(window, n), n = 0;
        last = MPI_Wtime();
    }
    double end = MPI_Wtime();
    if (rank == 0) printf("%.2f", (end - begin) / (double)steps * 1e6);
    if (rank == 0 && lost) printf(" %.3f", beyond / (end - begin) * 100);
    if (rank == 0) puts("");
    MPI_Finalize();
    free(memory);
    return 0;
}
