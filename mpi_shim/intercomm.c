/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators (MPI 3.1 section 6.6): made of two communicators, and made one. Other ways to make one are in comm_new.c. */
#include "ft/intercomm.h"

#include "mpi_shim/request.h"

/* What the others say of them counts for nothing. */
static int check_leader(MPI_Comm local, const char *me, MPI_Comm peer, int remote, int tag)
{
    if (!shim_comm_ok(peer))
        return shim_bad_comm(peer, me);
    if (remote < 0 || remote >= shim_comm_peers(peer))
        return shim_raise(local, me, MPI_ERR_ARG, "remote_leader is %d; peer_comm has the ranks 0 to %d", remote, shim_comm_peers(peer) - 1);
    return tag < 0 ? shim_bad_tag(local, me, tag, false) : MPI_SUCCESS;
}

SHIM_ALIAS(int, Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                                   MPI_Comm *newintercomm));
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm *newintercomm)
{
    SHIM_ENTER();
    const char *me = "Intercomm_create";
    struct ft_error e;
    MPI_Comm new;
    bool shared;
    int err = MPI_SUCCESS;

    if (!shim_comm_ok(local_comm))
        return shim_bad_comm(local_comm, me);
    if (local_comm->inter)
        return shim_raise(local_comm, me, MPI_ERR_COMM, "local_comm is an intercommunicator");
    if (!newintercomm)
        return shim_raise(local_comm, me, MPI_ERR_ARG, "newintercomm is a null pointer");
    if (local_leader < 0 || local_leader >= local_comm->size)
        return shim_raise(local_comm, me, MPI_ERR_ARG, "local_leader is %d; the communicator has the ranks 0 to %d", local_leader,
                          local_comm->size - 1);
    if (local_comm->rank == local_leader)
        err = check_leader(local_comm, me, peer_comm, remote_leader, tag);
    if (err)
        return err;
    *newintercomm = MPI_COMM_NULL;
    new = shim_comm_new();
    if (!new)
        return shim_raise(local_comm, me, MPI_ERR_NO_MEM, "no memory for a communicator");
    err = ft_intercomm_create(shim.ft, &local_comm->members, (uint32_t)local_leader, local_comm->rank == local_leader ? &peer_comm->members : NULL,
                              remote_leader, tag, &new->members, &shared, SHIM_SITE(), &e);
    if (err || shared) {
        shim_comm_put_back(new);
        return shared ? shim_raise(local_comm, me, MPI_ERR_COMM, "the two groups have a rank in common")
                      : shim_comm_failed(local_comm, me, err, &e);
    }
    *newintercomm = shim_comm_finish(local_comm, new);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newcomm));
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm)
{
    SHIM_ENTER();
    const char *me = "Intercomm_merge";
    struct ft_error e;
    MPI_Comm new;
    int err;

    if (!shim_comm_ok(intercomm))
        return shim_bad_comm(intercomm, me);
    if (!intercomm->inter)
        return shim_raise(intercomm, me, MPI_ERR_COMM, "the communicator is no intercommunicator");
    if (!newcomm)
        return shim_raise(intercomm, me, MPI_ERR_ARG, "newcomm is a null pointer");
    *newcomm = MPI_COMM_NULL;
    new = shim_comm_new();
    if (!new)
        return shim_raise(intercomm, me, MPI_ERR_NO_MEM, "no memory for a communicator");
    err = ft_intercomm_merge(shim.ft, &intercomm->members, high != 0, &new->members, SHIM_SITE(), &e);
    if (err) {
        shim_comm_put_back(new);
        return shim_comm_failed(intercomm, me, err, &e);
    }
    *newcomm = shim_comm_finish(intercomm, new);
    return MPI_SUCCESS;
}
