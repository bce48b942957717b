/* SPDX-License-Identifier: BSD-3-Clause */
/* What a communicator is asked (MPI 3.1 section 6.4.1). There are no topologies, no parent. */
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
static bool is_in(const int *ranks, int n, int process)
{
    for (int r = 0; r < n; r++)
        if (ranks[r] == process)
            return true;
    return false;
}

static int compare(const int *a, int na, const int *b, int nb)
{
    int result = na == nb ? MPI_CONGRUENT : MPI_UNEQUAL;

    for (int r = 0; r < na && result != MPI_UNEQUAL; r++)
        if (a[r] != b[r])
            result = is_in(b, nb, a[r]) ? MPI_SIMILAR : MPI_UNEQUAL;
    return result;
}

/* The worse of two: congruent, similar, unequal, in the order of their numbers. */
static int compare_both(MPI_Comm a, MPI_Comm b)
{
    int own = compare(shim_comm_ranks(a), a->size, shim_comm_ranks(b), b->size);
    int other = a->inter ? compare(a->members.ranks, shim_comm_peers(a), b->members.ranks, shim_comm_peers(b)) : own;

    return own > other ? own : other;
}
_Static_assert(MPI_CONGRUENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL, "the worse is the larger");

SHIM_ALIAS(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result));
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    SHIM_ENTER();
    const char *me = "Comm_compare";

    if (!shim_comm_ok(comm1) || !shim_comm_ok(comm2))
        return shim_bad_comm(shim_comm_ok(comm1) ? comm2 : comm1, me);
    if (!result)
        return shim_raise(comm1, me, MPI_ERR_ARG, "result is a null pointer");
    *result = comm1 == comm2 ? MPI_IDENT : comm1->inter != comm2->inter ? MPI_UNEQUAL : compare_both(comm1, comm2);
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
    *flag = comm->inter;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_remote_size, (MPI_Comm comm, int *size));
int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    SHIM_ENTER();
    const char *me = "Comm_remote_size";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!comm->inter)
        return shim_raise(comm, me, MPI_ERR_COMM, "the communicator has no remote group: it is no intercommunicator");
    if (!size)
        return shim_raise(comm, me, MPI_ERR_ARG, "size is a null pointer");
    *size = shim_comm_peers(comm);
    return MPI_SUCCESS;
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
