/* SPDX-License-Identifier: BSD-3-Clause */
/* What a communicator is asked (MPI 3.1 section 6.4.1). There are no intercommunicators, no topologies, no parent. */
#include "mpi_shim/shim.h"

SHIM_ALIAS(int, Comm_rank, (MPI_Comm comm, int *rank));
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    SHIM_ENTER();

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
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Comm_size");
    if (!size)
        return shim_raise(comm, "Comm_size", MPI_ERR_ARG, "size is a null pointer");
    *size = comm->size;
    return MPI_SUCCESS;
}

/* A process is its rank in MPI_COMM_WORLD. */
static bool is_in(MPI_Comm comm, int process)
{
    for (int r = 0; r < comm->size; r++)
        if (comm->members.ranks[r] == process)
            return true;
    return false;
}

SHIM_ALIAS(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result));
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    SHIM_ENTER();
    const char *me = "Comm_compare";

    if (!shim_comm_ok(comm1) || !shim_comm_ok(comm2))
        return shim_bad_comm(shim_comm_ok(comm1) ? comm2 : comm1, me);
    if (!result)
        return shim_raise(comm1, me, MPI_ERR_ARG, "result is a null pointer");
    *result = comm1 == comm2 ? MPI_IDENT : comm1->size == comm2->size ? MPI_CONGRUENT : MPI_UNEQUAL;
    for (int r = 0; r < comm1->size && *result != MPI_IDENT && *result != MPI_UNEQUAL; r++)
        if (comm1->members.ranks[r] != comm2->members.ranks[r])
            *result = is_in(comm2, comm1->members.ranks[r]) ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_test_inter, (MPI_Comm comm, int *flag));
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Comm_test_inter");
    if (!flag)
        return shim_raise(comm, "Comm_test_inter", MPI_ERR_ARG, "flag is a null pointer");
    *flag = 0;
    return MPI_SUCCESS;
}

static int no_remote_group(MPI_Comm comm, const char *me)
{
    return shim_comm_ok(comm) ? shim_raise(comm, me, MPI_ERR_COMM, "the communicator has no remote group: it is no intercommunicator")
                              : shim_bad_comm(comm, me);
}

SHIM_ALIAS(int, Comm_remote_size, (MPI_Comm comm, int *size));
int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    SHIM_ENTER();

    (void)size;
    return no_remote_group(comm, "Comm_remote_size");
}

SHIM_ALIAS(int, Comm_remote_group, (MPI_Comm comm, MPI_Group *group));
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    SHIM_ENTER();

    (void)group;
    return no_remote_group(comm, "Comm_remote_group");
}

SHIM_ALIAS(int, Topo_test, (MPI_Comm comm, int *status));
int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Topo_test");
    if (!status)
        return shim_raise(comm, "Topo_test", MPI_ERR_ARG, "status is a null pointer");
    *status = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_get_parent, (MPI_Comm *parent));
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    SHIM_ENTER();
    int err = shim_check_running("Comm_get_parent");

    if (err)
        return err;
    if (!parent)
        return shim_raise(NULL, "Comm_get_parent", MPI_ERR_ARG, "parent is a null pointer");
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
