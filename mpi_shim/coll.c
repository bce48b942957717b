/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move data (MPI 3.1 sections 5.3, 5.4, 5.7): check the arguments as Open MPI does, say the
   call in base elements, hand it to the engine. Reductions are in reduce.c. */
#include <limits.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/layout.h"

SHIM_ALIAS(int, Barrier, (MPI_Comm comm));
int PMPI_Barrier(MPI_Comm comm)
{
    SHIM_ENTER();
    struct ft_error e;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Barrier");
    if (!SHIM_LIKELY(!comm->inter))
        return shim_inter_barrier(comm, SHIM_SITE());
    return shim_finish(ft_barrier(comm->stream, SHIM_SITE(), &e), &e);
}

static inline __attribute__((always_inline)) int bcast(const char *me, void *buffer, int count, MPI_Datatype datatype, int root,
                                                       MPI_Comm comm, const char *key, uint64_t site)
{
    struct ft_error e;
    uint64_t n;
    int err;

    err = shim_check_data(comm, me, "count", count, datatype, buffer);
    if (!err)
        err = shim_check_root(comm, me, root);
    if (!err && buffer == MPI_IN_PLACE)
        err = shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE makes no sense in a broadcast; pass the buffer");
    if (err)
        return err;
    n = (uint64_t)count * datatype->per;
    err = key ? ft_bcast_cached(comm->stream, buffer, n, shim_base(datatype), root, key, site, &e)
              : ft_bcast(comm->stream, buffer, n, shim_base(datatype), root, site, &e);
    if (key && err == FT_EINVAL)
        return shim_raise(comm, me, MPI_ERR_ARG, "%s", e.text);
    return shim_finish(err, &e);
}

SHIM_ALIAS(int, Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm));
int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Bcast");
    if (!SHIM_LIKELY(!comm->inter))
        return shim_inter_bcast(comm, "Bcast", buffer, count, datatype, root, SHIM_SITE());
    return bcast("Bcast", buffer, count, datatype, root, comm, NULL, SHIM_SITE());
}

int shim_bcast_cached(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, const char *key, uint64_t site)
{
    return bcast("X_Bcast_cached", buffer, count, datatype, root, comm, key, site);
}

/* What a rank sends must be what it will receive from itself; of the sending side the engine is told the layout. Buffers with gaps may begin
   at the same address. */
static int check_send(MPI_Comm comm, const char *me, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                      const void *recvbuf, const void *own, long long recvcount, MPI_Datatype recvtype)
{
    int err = shim_check_data(comm, me, "sendcount", sendcount, sendtype, sendbuf);
    uint64_t sent, received;

    if (err)
        return err;
    sent = (uint64_t)sendcount * sendtype->size;
    received = (uint64_t)recvcount * recvtype->size;
    if (sent != received)
        return shim_raise(comm, me, MPI_ERR_TRUNCATE,
                          "this rank sends %llu byte%s and receives %llu from itself; both must be the same",
                          (unsigned long long)sent, ft_plural(sent), (unsigned long long)received);
    if (sendbuf == recvbuf && sendbuf != own && sent > 0 && !sendtype->layout && !recvtype->layout)
        return shim_raise(comm, me, MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; pass MPI_IN_PLACE as sendbuf");
    return MPI_SUCCESS;
}

static void *element(const void *buffer, int64_t at, MPI_Datatype type)
{
    return (void *)((uintptr_t)buffer + (uint64_t)(at * type->extent));
}

static int receive_in_place(MPI_Comm comm, const char *me)
{
    return shim_raise(comm, me, MPI_ERR_ARG, "MPI_IN_PLACE is for sendbuf; recvbuf must be a buffer");
}

SHIM_ALIAS(int, Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm));
int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Allgather";
    const struct ft_layout *given;
    struct ft_error e;
    char *own;
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!SHIM_LIKELY(!comm->inter))
        return shim_inter_allgather(comm, me, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, SHIM_SITE());
    if (recvbuf == MPI_IN_PLACE)
        return receive_in_place(comm, me);
    err = shim_check_data(comm, me, "recvcount", recvcount, recvtype, recvbuf);
    if (err)
        return err;
    own = element(recvbuf, (int64_t)comm->rank * recvcount, recvtype);
    if (sendbuf != MPI_IN_PLACE)
        err = check_send(comm, me, sendbuf, sendcount, sendtype, recvbuf, own, recvcount, recvtype);
    if (err)
        return err;
    given = sendbuf == MPI_IN_PLACE ? recvtype->layout : sendtype->layout;
    if (sendbuf == MPI_IN_PLACE)
        sendbuf = own;
    return shim_finish(ft_allgather(comm->stream, sendbuf, given, recvbuf, (uint64_t)recvcount * recvtype->per, shim_base(recvtype),
                                    SHIM_SITE(), &e), &e);
}

static int check_vector(MPI_Comm comm, const char *me, const void *recvbuf, const int *recvcounts, const int *displs,
                        MPI_Datatype recvtype)
{
    uint64_t total = 0;
    int err = shim_check_type(comm, me, recvtype);

    if (err)
        return err;
    if (!recvcounts || !displs)
        return shim_raise(comm, me, recvcounts ? MPI_ERR_BUFFER : MPI_ERR_COUNT, "%s is a null pointer",
                          recvcounts ? "displs" : "recvcounts");
    for (int r = 0; r < comm->size; r++) {
        if (recvcounts[r] < 0)
            return shim_raise(comm, me, MPI_ERR_COUNT, "recvcounts[%d] is %d; it must be 0 or more", r, recvcounts[r]);
        total += (uint64_t)recvcounts[r];
    }
    if (shim_packed(recvtype) > UINT32_MAX)
        return shim_raise(comm, me, MPI_ERR_TYPE, "elements of %llu bytes; 4 GiB is the limit here",
                          (unsigned long long)shim_packed(recvtype));
    return shim_check_buffer(comm, me, "recvbuf", recvbuf, recvtype->layout ? 0 : total * shim_packed(recvtype));
}

/* Counts and displacements in base elements, so that ranks that say the same in other types agree. NULL if a number
   would not be an int any more, or without memory: the call is then made, and compared, in elements of recvtype. */
static int *in_base_elements(MPI_Comm comm, const int *recvcounts, const int *displs, MPI_Datatype recvtype)
{
    size_t n = (size_t)comm->size;
    int *scaled = recvtype->per <= INT_MAX ? malloc(2 * n * sizeof *scaled) : NULL;
    bool fits = scaled != NULL;

    for (size_t r = 0; r < n && fits; r++)
        fits = !__builtin_mul_overflow(recvcounts[r], (int)recvtype->per, &scaled[r]) &&
               !__builtin_mul_overflow(displs[r], (int)recvtype->per, &scaled[n + r]);
    if (fits)
        return scaled;
    free(scaled);
    return NULL;
}

SHIM_ALIAS(int, Allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Allgatherv";
    uint64_t site = SHIM_SITE();
    const struct ft_layout *given;
    int *scaled = NULL;
    struct ft_type type;
    struct ft_error e;
    char *own;
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!SHIM_LIKELY(!comm->inter))
        return shim_inter_allgatherv(comm, me, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, site);
    if (recvbuf == MPI_IN_PLACE)
        return receive_in_place(comm, me);
    err = check_vector(comm, me, recvbuf, recvcounts, displs, recvtype);
    if (err)
        return err;
    own = element(recvbuf, displs[comm->rank], recvtype);
    if (sendbuf != MPI_IN_PLACE)
        err = check_send(comm, me, sendbuf, sendcount, sendtype, recvbuf, own, recvcounts[comm->rank], recvtype);
    if (err)
        return err;
    given = sendbuf == MPI_IN_PLACE ? recvtype->layout : sendtype->layout;
    if (sendbuf == MPI_IN_PLACE)
        sendbuf = own;
    if (shim_packed(recvtype) == 0) /* elements of nothing: the engine wants a size */
        return shim_finish(ft_allgather(comm->stream, sendbuf, given, recvbuf, 0, shim_base(recvtype), site, &e), &e);
    if (recvtype->per > 1)
        scaled = in_base_elements(comm, recvcounts, displs, recvtype);
    if (scaled) {
        err = ft_allgatherv(comm->stream, sendbuf, given, recvbuf, scaled, scaled + comm->size, shim_base(recvtype), site, &e);
        free(scaled);
        return shim_finish(err, &e);
    }
    type = (struct ft_type){.elem = (uint32_t)shim_packed(recvtype), .kind = recvtype->base, .layout = recvtype->layout};
    return shim_finish(ft_allgatherv(comm->stream, sendbuf, given, recvbuf, recvcounts, displs, type, site, &e), &e);
}
