/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program in which one rank keeps the others waiting: for compat-tests/control/control.sh and timeouts.sh.
     waits file RANK FILE UNITS   after UNITS allreduces RANK stays outside MPI until FILE is there; then one more
     waits hang RANK TIMES UNITS  after UNITS allreduces RANK's first TIMES incarnations stay there for ever
     waits slow RANK UNITS        RANK dies after UNITS allreduces; its successor takes 5 ms for each */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, incarnation;

static void sum(int n, int pause_us)
{
    double x = rank;

    for (int i = 0; i < n; i++) {
        usleep(pause_us);
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x /= size;
    }
    if (rank == 0)
        printf("%d allreduces: %.6f\n", n, x);
    fflush(stdout);
}

static void await_file(const char *name)
{
    while (access(name, F_OK) != 0)
        usleep(10000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 3 ? argv[1] : "";
    int which = argc > 3 ? atoi(argv[2]) : 0;

    incarnation = atoi(getenv("FTMPI_INCARNATION") ? getenv("FTMPI_INCARNATION") : "0");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "file") && argc > 4) {
        sum(atoi(argv[4]), 0);
        if (rank == which)
            await_file(argv[3]);
        sum(1, 0);
    } else if (!strcmp(how, "hang") && argc > 4) {
        sum(atoi(argv[4]), 0);
        while (rank == which && incarnation < atoi(argv[3]))
            pause();
        sum(1, 0);
    } else if (!strcmp(how, "slow")) {
        sum(atoi(argv[3]), rank == which && incarnation ? 5000 : 0);
        if (rank == which && !incarnation)
            raise(SIGKILL);
        sum(1, 0);
    }
    MPI_Finalize();
    return 0;
}
