/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of intercommunicators (MPI 3.1 section 5.2.2): coll.c and reduce.c come here with their arguments. A root is a rank of the other
   group; in its own group it is MPI_ROOT, and all others are MPI_PROC_NULL. */
#include "ft/intercomm.h"

#include "mpi_shim/layout.h"

_Static_assert(MPI_ROOT == FT_ROOT && MPI_PROC_NULL == FT_NOT_ROOT, "roots go to the engine as they are");

int shim_inter_check_root(MPI_Comm comm, const char *me, int root)
{
    if ((root >= 0 && root < shim_comm_peers(comm)) || root == MPI_ROOT || root == MPI_PROC_NULL)
        return MPI_SUCCESS;
    return shim_raise(comm, me, MPI_ERR_ROOT, "the root is %d; the other group has the ranks 0 to %d, and its own says MPI_ROOT or MPI_PROC_NULL", root,
                      shim_comm_peers(comm) - 1);
}

int shim_inter_barrier(MPI_Comm comm, uint64_t site)
{
    struct ft_error e;

    return shim_finish(ft_intercomm_barrier(&comm->members, site, &e), &e);
}

int shim_inter_bcast(MPI_Comm comm, const char *me, void *buffer, int count, MPI_Datatype type, int root, uint64_t site)
{
    struct ft_error e;
    int err = shim_inter_check_root(comm, me, root);

    if (err || root == MPI_PROC_NULL)
        return err;
    err = shim_check_data(comm, me, "count", count, type, buffer);
    if (err)
        return err;
    return shim_finish(ft_intercomm_bcast(&comm->members, buffer, (uint64_t)count * type->per, shim_base(type), root, site, &e), &e);
}

static int check_both(MPI_Comm comm, const char *me, const void *sendbuf, int sendcount, MPI_Datatype sendtype, const void *recvbuf)
{
    if (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE)
        return shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE makes no sense between two groups; pass two buffers");
    return shim_check_data(comm, me, "sendcount", sendcount, sendtype, sendbuf);
}

int shim_inter_allgather(MPI_Comm comm, const char *me, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, uint64_t site)
{
    struct ft_error e;
    int err = check_both(comm, me, sendbuf, sendcount, sendtype, recvbuf);

    if (!err)
        err = shim_check_data(comm, me, "recvcount", recvcount, recvtype, recvbuf);
    if (err)
        return err;
    return shim_finish(ft_intercomm_allgather(&comm->members, sendbuf, (uint64_t)sendcount * sendtype->per, shim_base(sendtype), recvbuf,
                                              (uint64_t)recvcount * recvtype->per, NULL, NULL, shim_base(recvtype), site, &e), &e);
}

int shim_inter_allgatherv(MPI_Comm comm, const char *me, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const int *recvcounts, const int *displs, MPI_Datatype recvtype, uint64_t site)
{
    struct ft_type type;
    struct ft_error e;
    int err = check_both(comm, me, sendbuf, sendcount, sendtype, recvbuf);

    if (!err)
        err = shim_check_type(comm, me, recvtype);
    if (!err && (!recvcounts || !displs))
        err = shim_raise(comm, me, recvcounts ? MPI_ERR_BUFFER : MPI_ERR_COUNT, "%s is a null pointer", recvcounts ? "displs" : "recvcounts");
    for (int r = 0; r < shim_comm_peers(comm) && !err; r++)
        if (recvcounts[r] < 0)
            err = shim_raise(comm, me, MPI_ERR_COUNT, "recvcounts[%d] is %d; it must be 0 or more", r, recvcounts[r]);
    if (!err && shim_packed(recvtype) > UINT32_MAX)
        err = shim_raise(comm, me, MPI_ERR_TYPE, "elements of %llu bytes; 4 GiB is the limit here", (unsigned long long)shim_packed(recvtype));
    if (err)
        return err;
    type = (struct ft_type){.elem = (uint32_t)shim_packed(recvtype), .kind = recvtype->base, .layout = recvtype->layout};
    return shim_finish(ft_intercomm_allgather(&comm->members, sendbuf, (uint64_t)sendcount * sendtype->per, shim_base(sendtype), recvbuf, 0,
                                              recvcounts, displs, type, site, &e), &e);
}
