/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program in which one rank keeps the others waiting: for compat-tests/control/control.sh and timeouts.sh.
     waits file RANK FILE UNITS   after UNITS allreduces RANK stays outside MPI until FILE is there; then one more
     waits hang RANK TIMES UNITS  after UNITS allreduces RANK's first TIMES incarnations stay there for ever
     waits messages RANK FILE     RANK has sent three messages to each, and sends what all wait for when FILE is there; rank 0 waits for all requests,
                                  rank 2 for one, rank 3 is outside MPI until then
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

enum { KEPT = 3, WANTED = 2, EARLY = 7, LATE = 9 };

static void send_to_all(int which, int n, int tag)
{
    char bytes[1000] = "";

    for (int to = 0; to < size; to++)
        for (int i = 0; to != which && i < n; i++)
            MPI_Send(bytes, sizeof bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void wait_for_messages(int which)
{
    MPI_Request r[WANTED + 1];
    char bytes[KEPT][1000];
    int one, n = WANTED;

    for (int i = 0; i < WANTED; i++)
        MPI_Irecv(bytes[i], sizeof bytes[i], MPI_CHAR, which, LATE, MPI_COMM_WORLD, &r[i]);
    if (rank == 0)
        MPI_Issend(bytes[WANTED], 1, MPI_CHAR, which, LATE, MPI_COMM_WORLD, &r[n++]);
    else
        MPI_Waitany(WANTED, r, &one, MPI_STATUS_IGNORE);
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < KEPT; i++)
        MPI_Recv(bytes[i], sizeof bytes[i], MPI_CHAR, which, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(int which, const char *name)
{
    char byte;

    if (rank == which) {
        send_to_all(which, KEPT, EARLY);
        await_file(name);
        send_to_all(which, WANTED, LATE);
        MPI_Recv(&byte, 1, MPI_CHAR, 0, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        if (rank == 3)
            await_file(name);
        wait_for_messages(which);
    }
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
    } else if (!strcmp(how, "messages")) {
        messages(which, argv[3]);
    } else if (!strcmp(how, "slow")) {
        sum(atoi(argv[3]), rank == which && incarnation ? 5000 : 0);
        if (rank == which && !incarnation)
            raise(SIGKILL);
        sum(1, 0);
    }
    MPI_Finalize();
    return 0;
}
