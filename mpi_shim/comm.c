/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators (MPI 3.1 chapter 6). */
#include "mpi_shim/shim.h"

SHIM_ALIAS(int, Comm_rank, (MPI_Comm comm, int *rank));
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Comm_rank");
    if (!rank)
        return shim_raise(comm, "Comm_rank", MPI_ERR_ARG, "rank is a null pointer");
    *rank = comm->rank;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_size, (MPI_Comm comm, int *size));
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Comm_size");
    if (!size)
        return shim_raise(comm, "Comm_size", MPI_ERR_ARG, "size is a null pointer");
    *size = comm->size;
    return MPI_SUCCESS;
}
