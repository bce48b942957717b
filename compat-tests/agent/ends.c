/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that ends as its argument says: for compat-tests/agent/mpi_ends.sh. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, incarnation;

static double sum(double x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

/* Rank 1 dies of `signal` at every tenth unit, as often as it is told to. */
static void work(int signal, int times)
{
    double x = rank;

    for (int i = 0; i < 100; i++) {
        x = sum(x / size + i);
        if (rank == 1 && i == 10 * (incarnation + 1) && incarnation < times)
            raise(signal);
    }
    printf("rank %d of %d: %.6f\n", rank, size, x);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    incarnation = atoi(getenv("FTMPI_INCARNATION") ? getenv("FTMPI_INCARNATION") : "0");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "work"))
        work(argc > 2 ? atoi(argv[2]) : SIGKILL, argc > 3 ? atoi(argv[3]) : 0);
    else if (!strcmp(how, "abort") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    else if (!strcmp(how, "abort"))
        sum(0);
    else if (!strcmp(how, "mismatch") && rank == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (!strcmp(how, "mismatch"))
        sum(0);
    else if (!strcmp(how, "no-finalize"))
        exit(0);
    else if (!strcmp(how, "same-unit") && rank == 1 && sum(1) > 0)
        raise(SIGSEGV);
    else if (!strcmp(how, "same-unit"))
        sum(sum(1));
    MPI_Finalize();
    if (!strcmp(how, "die-after") && rank == 1 && incarnation == 0)
        raise(SIGKILL);
    return !strcmp(how, "code") && rank == 1 ? 5 : 0;
}
