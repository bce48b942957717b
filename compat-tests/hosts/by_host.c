/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of each host have a communicator of their own, backwards; one of all is an error with one line, which all get.

     by_host [VICTIM]     kills itself in the middle, in its first life */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, place, sum, class, all = 0;
    const char *incarnation = getenv("FTMPI_INCARNATION");
    MPI_Comm host, dup;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &place);
    for (int i = 0; i < 1000; i++) {
        int mine = rank + i;

        if (i == 500 && argc > 1 && atoi(argv[1]) == rank && incarnation && atoi(incarnation) == 0)
            kill(getpid(), SIGKILL);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, host);
        if (i % 10 == 0)
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        all += sum;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_dup(MPI_COMM_WORLD, &dup), &class);
    printf("%d place %d of its host, %d, error %d\n", rank, place, all, class == MPI_ERR_OTHER && dup == MPI_COMM_NULL);
    fflush(stdout);
    if (argc > 1 && atoi(argv[1]) < 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    }
    return MPI_Finalize();
}
