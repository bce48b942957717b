/* SPDX-License-Identifier: BSD-3-Clause */
/* The library in which inlib.c makes its calls. */
#include <mpi.h>

__attribute__((visibility("default"))) void sum_of_ranks(void);

void sum_of_ranks(void)
{
    double x = 1;

    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
