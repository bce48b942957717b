/* SPDX-License-Identifier: BSD-3-Clause */
/* functions RANK: an operation of the program's own asks the system for things. That rank is killed in round 30 of 40. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int called;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct timespec now;
    char name[64];

    (void)type;
    called++;
    clock_gettime(CLOCK_REALTIME, &now);
    if (getcwd(name, 0) || access("/", F_OK) < 0)
        abort();
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum = 0, total = 0;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &op);
    for (int round = 0; round < 40; round++) {
        time_t now = time(NULL); /* recorded: a replay has to be in step */

        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        total += sum + (now == 0);
        if (round == 30 && argc > 1 && rank == atoi(argv[1]) && !strcmp(getenv("FTMPI_INCARNATION"), "0"))
            raise(SIGKILL);
    }
    if (called == 0)
        fprintf(stderr, "rank %d: its function was not called\n", rank);
    printf("%d\n", total);
    MPI_Finalize();
    return 0;
}
