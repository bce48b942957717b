/* SPDX-License-Identifier: BSD-3-Clause */
/* Fails unless it is run by as many ranks as its argument says, with ftmpi. */
#include <mpi.h>
#include <stdlib.h>
#ifndef FTMPI
#error another MPI was found
#endif

int main(int argc, char **argv)
{
    int one = 1, sum;

    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return argc == 2 && sum == atoi(argv[1]) ? 0 : 3;
}
