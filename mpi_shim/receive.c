/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives, and sends that receive as well (MPI 3.1 sections 3.2.4, 3.7.2, 3.10). */
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/pack.h"
#include "mpi_shim/request.h"

static int receive(const char *me, void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status,
                   uint64_t site)
{
    struct ft_told told = shim_told_nobody();
    struct ft_error e;
    int err;

    if (source != MPI_PROC_NULL) {
        err = ft_recv(shim.ft, &comm->members, buffer, (uint64_t)count * type->per, shim_base(type), source, tag, &told, site, &e);
        if (!SHIM_LIKELY(err == 0))
            return shim_message_failed(comm, me, err, &e);
    }
    return shim_received(comm, me, &told, status);
}

SHIM_ALIAS(int, Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status));
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    SHIM_ENTER();
    int err = shim_check_receive(comm, "Recv", buf, count, datatype, source, tag);

    return err ? err : receive("Recv", buf, count, datatype, source, tag, comm, status, SHIM_SITE());
}

SHIM_ALIAS(int, Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request));
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    SHIM_ENTER();
    int err = shim_check_receive(comm, "Irecv", buf, count, datatype, source, tag);

    return err ? err : shim_request_now(SHIM_RECEIVES, "Irecv", buf, count, datatype, source, tag, comm, request, SHIM_SITE());
}

/* `given` elements of `sent` are sent. The send is started first: if it cannot be, no receive stays behind. */
static int send_and_receive(const char *me, const void *sendbuf, uint64_t given, struct ft_type sent, int dest, int sendtag, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status, uint64_t site)
{
    struct ft_request *sending = NULL;
    struct ft_error e;
    int err, received;

    if (dest != MPI_PROC_NULL) {
        err = ft_send_start(shim.ft, &comm->members, sendbuf, given, sent, dest, sendtag, FT_SEND_STANDARD, site, &sending, &e);
        if (err)
            return shim_message_failed(comm, me, err, &e);
    }
    received = receive(me, recvbuf, recvcount, recvtype, source, recvtag, comm, status, site);
    if (sending) {
        shim_finish(ft_wait_all(shim.ft, &sending, 1, site, &e), &e);
        ft_request_end(shim.ft, sending);
    }
    return received;
}

SHIM_ALIAS(int, Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status));
int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Sendrecv";
    int err = shim_check_send(comm, me, sendbuf, sendcount, sendtype, dest, sendtag);

    if (!err)
        err = shim_check_receive(comm, me, recvbuf, recvcount, recvtype, source, recvtag);
    if (err)
        return err;
    return send_and_receive(me, sendbuf, (uint64_t)sendcount * sendtype->per, shim_base(sendtype), dest, sendtag, recvbuf, recvcount,
                            recvtype, source, recvtag, comm, status, SHIM_SITE());
}

SHIM_ALIAS(int, Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                                   MPI_Comm comm, MPI_Status *status));
int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                          MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Sendrecv_replace";
    int err = shim_check_send(comm, me, buf, count, datatype, dest, sendtag);
    struct ft_type packed;
    size_t bytes;
    void *copy;

    if (!err)
        err = shim_check_source(comm, me, source, recvtag);
    if (err)
        return err;
    bytes = (size_t)count * shim_packed(datatype);
    copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for %zu byte%s", bytes, ft_plural(bytes));
    shim_pack(datatype, buf, bytes, copy);
    packed = shim_base(datatype);
    packed.layout = NULL;
    err = send_and_receive(me, copy, (uint64_t)count * datatype->per, packed, dest, sendtag, buf, count, datatype, source, recvtag, comm,
                           status, SHIM_SITE());
    free(copy);
    return err;
}
