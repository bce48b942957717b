/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that holds memory and rewrites some of it between collectives: what snapshots of it cost (a fork, and a copy of each page
   that is rewritten afterwards). Plain MPI.

     rewrite [-m MIB] [-r MIB] [-i STEPS]   each rank holds MIB, and rewrites MIB of it in each step, round and round;
                                            rank 0 prints the microseconds of one step, after a tenth as warm-up
     rewrite -s ...                         every second time that all of it was rewritten begins with a snapshot of each rank; rank 0
                                            prints the milliseconds that those times take longer: medians of both, by turns */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* ftmpi's; without it there is no -s. */
extern int MPIX_Snapshot(int *taken) __attribute__((weak));

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

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return values[n / 2];
}

static char *memory;
static size_t pages = 64 << 8, each = 1 << 8, at;
static double x;

static void one(long step)
{
    for (size_t i = 0; i < each; i++, at = at + 1 < pages ? at + 1 : 0) rewrite(memory + at * PAGE, step);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    x /= 3;
}

/* Seconds of a time in which everything is rewritten. */
static double round_of(long steps, int with)
{
    double begin = MPI_Wtime();
    int taken = 1;
    if (with && (MPIX_Snapshot(&taken) != MPI_SUCCESS || !taken)) {
        fputs("rewrite: there is no snapshot\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (long step = 0; step < steps; step++) one(step);
    return MPI_Wtime() - begin;
}

static void by_turns(int rank, long steps)
{
    long all = (long)((pages + each - 1) / each), n = steps / all / 2;
    double *without = calloc((size_t)n + 1, sizeof *without), *with = calloc((size_t)n + 1, sizeof *with);
    if (!without || !with || n < 1 || !MPIX_Snapshot) {
        fputs("rewrite: -s needs ftmpi, memory, and steps enough to rewrite everything twice\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    round_of(all, 1); /* the next one replaces it, and what that costs counts */
    for (long i = 0; i < n; i++) {
        without[i] = round_of(all, 0);
        with[i] = round_of(all, 1);
    }
    if (rank == 0) printf("%.3f\n", (median(with, n) - median(without, n)) * 1e3);
    free(without);
    free(with);
}

static void plain(int rank, long steps)
{
    double begin = 0;
    for (long step = -steps / 10; step < steps; step++) {
        if (step == 0) begin = MPI_Wtime();
        one(step);
    }
    if (rank == 0) printf("%.2f\n", (MPI_Wtime() - begin) / (double)steps * 1e6);
}

int main(int argc, char **argv)
{
    long steps = 2000;
    int rank, snapshots = 0;
    for (int c; (c = getopt(argc, argv, "sm:r:i:")) != -1;) {
        switch (c) {
        case 's': snapshots = 1; break;
        case 'm': pages = strtoul(optarg, NULL, 0) << 8; break;
        case 'r': each = strtoul(optarg, NULL, 0) << 8; break;
        case 'i': steps = atol(optarg); break;
        default: return 2;
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memory = malloc(pages * PAGE);
    if (!memory || !pages || !each) return 2;
    memset(memory, 1, pages * PAGE);
    x = rank;
    (snapshots ? by_turns : plain)(rank, steps);
    MPI_Finalize();
    free(memory);
    return 0;
}
