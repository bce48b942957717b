/* SPDX-License-Identifier: BSD-3-Clause */
/* The extensions: see ftmpi.h. */
#include "mpi_shim/ftmpi.h"

#include "mpi_shim/shim.h"

int MPIX_Replaying(MPI_Comm comm, int *flag)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "X_Replaying");
    if (!flag)
        return shim_raise(comm, "X_Replaying", MPI_ERR_ARG, "flag is a null pointer");
    *flag = ft_replaying(comm->stream);
    return MPI_SUCCESS;
}

int MPIX_Incarnation(int *n)
{
    SHIM_ENTER();
    int err = shim_check_running("X_Incarnation");

    if (err)
        return err;
    if (!n)
        return shim_raise(NULL, "X_Incarnation", MPI_ERR_ARG, "n is a null pointer");
    *n = ft_incarnation(shim.ft);
    return MPI_SUCCESS;
}

int MPIX_Mark_rabit(void)
{
    SHIM_ENTER();
    int err = shim_check_running("X_Mark_rabit");

    if (!err)
        ft_mark_rabit(shim.ft);
    return err;
}

int MPIX_Call_site(const void *address)
{
    shim.site = address ? ft_site(address) : 0;
    return MPI_SUCCESS;
}

int MPIX_Bootstrap_cache(int *there)
{
    int err = shim.stage == SHIM_BEFORE ? MPI_SUCCESS : shim_check_running("X_Bootstrap_cache");

    if (err)
        return err;
    shim.wants_cache |= shim.stage == SHIM_BEFORE;
    if (there)
        *there = shim.stage == SHIM_RUNNING && ft_has_cache(shim.ft);
    return MPI_SUCCESS;
}
