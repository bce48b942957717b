/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests (MPI 3.1 section 3.9): each start is a new one to the engine. */
#include "mpi_shim/request.h"

static int init_send(const char *me, const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     MPI_Request *request, enum shim_request_kind kind)
{
    int err = shim_check_send(comm, me, buffer, count, type, dest, tag);

    if (!err)
        err = shim_request_make(kind, me, buffer, count, type, dest, tag, comm, request);
    if (!err)
        (*request)->persistent = true;
    return err;
}

#define INIT(name, kind)                                                                                                    \
    SHIM_ALIAS(int, name, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,             \
                           MPI_Request *request));                                                                          \
    int PMPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return init_send(#name, buf, count, datatype, dest, tag, comm, request, kind);                                      \
    }
INIT(Send_init, SHIM_SENDS)
INIT(Rsend_init, SHIM_SENDS)
INIT(Ssend_init, SHIM_SENDS_SYNCHRONOUSLY)
INIT(Bsend_init, SHIM_SENDS_BUFFERED)

SHIM_ALIAS(int, Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request));
int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    SHIM_ENTER();
    const char *me = "Recv_init";
    int err = shim_check_receive(comm, me, buf, count, datatype, source, tag);

    if (!err)
        err = shim_request_make(SHIM_RECEIVES, me, buf, count, datatype, source, tag, comm, request);
    if (!err)
        (*request)->persistent = true;
    return err;
}

/* Can it be started now? */
static int check(const char *me, MPI_Request r)
{
    if (!shim_request_known(r) || r == MPI_REQUEST_NULL)
        return shim_bad_request(me, r);
    if (!r->persistent)
        return shim_raise(r->comm, me, MPI_ERR_REQUEST, "the request is not persistent");
    if (r->active)
        return shim_raise(r->comm, me, MPI_ERR_REQUEST, "the request is active; wait for it first");
    return shim_comm_ok(r->comm) ? MPI_SUCCESS : shim_bad_comm(r->comm, me);
}

SHIM_ALIAS(int, Start, (MPI_Request *request));
int PMPI_Start(MPI_Request *request)
{
    SHIM_ENTER();
    int err = check("Start", request ? *request : NULL);

    return err ? err : shim_request_start(*request, "Start", SHIM_SITE());
}

SHIM_ALIAS(int, Startall, (int count, MPI_Request requests[]));
int PMPI_Startall(int count, MPI_Request requests[])
{
    SHIM_ENTER();
    const char *me = "Startall";
    int err = shim_check_running(me);
    uint64_t site = SHIM_SITE();

    if (err)
        return err;
    if (count < 0)
        return shim_raise(NULL, me, MPI_ERR_ARG, "count is %d; it must be 0 or more", count);
    if (!requests && count > 0)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "the array of %d requests is a null pointer", count);
    for (int i = 0; i < count && !err; i++)
        err = check(me, requests[i]);
    for (int i = 0; i < count && !err; i++)
        err = shim_request_start(requests[i], me, site);
    return err;
}
