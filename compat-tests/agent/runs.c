/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command, which the shell is given, between MPI_Init and MPI_Finalize, and exits with its code. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    if (argc != 2)
        return 2;
    fflush(stdout);
    status = system(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
