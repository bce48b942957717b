/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of docs/recipes.md, with something to look at: PROBLEM in the environment is crash, crash-once, hang or overrun, and
   happens to rank 1 (hang: rank 2) in a function of its own. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *problem = "none";

static __attribute__((noinline)) void culprit(volatile int *p)
{
    *p = 1;
}

static __attribute__((noinline)) void lost(void)
{
    for (;;)
        pause();
}

static __attribute__((noinline)) int overrun(void)
{
    volatile int *p = malloc(4 * sizeof *p);
    volatile int index = 4;
    int value = p ? p[index] : 0;

    free((void *)p);
    return value != 0;
}

static void trouble(int rank)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");

    if (rank == 1 && (!strcmp(problem, "crash") || (!strcmp(problem, "crash-once") && incarnation && !strcmp(incarnation, "0"))))
        culprit(NULL);
    if (rank == 2 && !strcmp(problem, "hang"))
        lost();
    if (rank == 1 && !strcmp(problem, "overrun") && overrun())
        putchar('\0');
}

int main(int argc, char **argv)
{
    int rank, sum = 0;

    if (getenv("PROBLEM"))
        problem = getenv("PROBLEM");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (i == 10)
            trouble(rank);
    }
    if (rank == 0)
        printf("%d\n", sum);
    return MPI_Finalize();
}
