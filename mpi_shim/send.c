/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends (MPI 3.1 sections 3.2, 3.4, 3.7.2). A send in ready mode is a standard one; the buffered mode is in bsend.c. */
#include "mpi_shim/request.h"

static int send(const char *me, const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, enum ft_send_mode mode,
                uint64_t site)
{
    int err = shim_check_send(comm, me, buffer, count, type, dest, tag);
    struct ft_error e;

    if (err || dest == MPI_PROC_NULL)
        return err;
    err = ft_send(shim.ft, &comm->members, buffer, (uint64_t)count * type->per, shim_base(type), dest, tag, mode, site, &e);
    return SHIM_LIKELY(err == 0) ? MPI_SUCCESS : shim_message_failed(comm, me, err, &e);
}

#define SEND(name, mode)                                                                                                    \
    SHIM_ALIAS(int, name, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));           \
    int PMPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)                    \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return send(#name, buf, count, datatype, dest, tag, comm, mode, SHIM_SITE());                                       \
    }
SEND(Send, FT_SEND_STANDARD)
SEND(Rsend, FT_SEND_STANDARD)
SEND(Ssend, FT_SEND_SYNCHRONOUS)

static int isend(const char *me, const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request,
                 enum shim_request_kind kind, uint64_t site)
{
    int err = shim_check_send(comm, me, buffer, count, type, dest, tag);

    return err ? err : shim_request_now(kind, me, buffer, count, type, dest, tag, comm, request, site);
}

#define ISEND(name, kind)                                                                                                   \
    SHIM_ALIAS(int, name, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,             \
                           MPI_Request *request));                                                                          \
    int PMPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return isend(#name, buf, count, datatype, dest, tag, comm, request, kind, SHIM_SITE());                             \
    }
ISEND(Isend, SHIM_SENDS)
ISEND(Irsend, SHIM_SENDS)
ISEND(Issend, SHIM_SENDS_SYNCHRONOUSLY)
ISEND(Ibsend, SHIM_SENDS_BUFFERED)
