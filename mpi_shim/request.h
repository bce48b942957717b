/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of MPI 3.1 chapter 3 share: requests, statuses, the checks of what is sent and received. */
#ifndef FTMPI_REQUEST_H
#define FTMPI_REQUEST_H

#include "ft/message.h"
#include "mpi_shim/shim.h"

_Static_assert(MPI_ANY_SOURCE == FT_ANY_SOURCE && MPI_ANY_TAG == FT_ANY_TAG, "ranks and tags go to the engine as they are");

#pragma GCC visibility push(hidden)

/* A start that the engine refused, or that ended the job. Returns the code. */
int shim_message_failed(MPI_Comm comm, const char *function, int err, const struct ft_error *e) __attribute__((cold));

/* ---- arguments ---- */

int shim_bad_tag(MPI_Comm comm, const char *function, int tag, bool receives) __attribute__((cold));
int shim_bad_peer(MPI_Comm comm, const char *function, int peer, bool receives) __attribute__((cold));

static inline int shim_check_send(MPI_Comm comm, const char *function, const void *buffer, int count, MPI_Datatype type, int dest, int tag)
{
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, function);
    err = shim_check_data(comm, function, "count", count, type, buffer);
    if (!err && !SHIM_LIKELY(tag >= 0))
        err = shim_bad_tag(comm, function, tag, false);
    if (!err && !SHIM_LIKELY((dest >= 0 && dest < shim_comm_peers(comm)) || dest == MPI_PROC_NULL))
        err = shim_bad_peer(comm, function, dest, false);
    return err;
}

/* Where a message is to come from, for receives and probes. */
static inline int shim_check_source(MPI_Comm comm, const char *function, int source, int tag)
{
    if (!SHIM_LIKELY(tag >= 0 || tag == MPI_ANY_TAG))
        return shim_bad_tag(comm, function, tag, true);
    if (!SHIM_LIKELY((source >= 0 && source < shim_comm_peers(comm)) || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL))
        return shim_bad_peer(comm, function, source, true);
    return MPI_SUCCESS;
}

static inline int shim_check_receive(MPI_Comm comm, const char *function, const void *buffer, int count, MPI_Datatype type, int source,
                                     int tag)
{
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, function);
    err = shim_check_data(comm, function, "count", count, type, buffer);
    return err ? err : shim_check_source(comm, function, source, tag);
}

/* ---- statuses (status.c). MPI_ERROR is left alone but in an empty one ---- */

/* What is told of a receive from MPI_PROC_NULL. */
static inline struct ft_told shim_told_nobody(void) { return (struct ft_told){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG}; }

void shim_status_tell(MPI_Status *status, const struct ft_told *told);
void shim_status_empty(MPI_Status *status);

/* Of a receive that is over: status, which may be MPI_STATUS_IGNORE, and the error if it was too long a message. */
int shim_received(MPI_Comm comm, const char *function, const struct ft_told *told, MPI_Status *status);

/* ---- requests (request.c) ---- */

/* In r, which is new or persistent, stands what to start. Start it. On an error it is as before. */
int shim_request_start(MPI_Request r, const char *function, uint64_t site);

/* A request that is not active yet, NULL without memory; and back again, when nothing of it is under way. */
MPI_Request shim_request_new(enum shim_request_kind kind, MPI_Comm comm);
void shim_request_drop(MPI_Request r);

/* The same for a send or a receive, with what to start: an error, or *request is one. */
int shim_request_make(enum shim_request_kind kind, const char *function, const void *buffer, int count, MPI_Datatype type, int peer,
                      int tag, MPI_Comm comm, MPI_Request *request);

/* Started at once: MPI_Isend and its kin. The arguments have been checked. */
int shim_request_now(enum shim_request_kind kind, const char *function, const void *buffer, int count, MPI_Datatype type, int peer,
                     int tag, MPI_Comm comm, MPI_Request *request, uint64_t site);

int shim_bad_request(const char *function, MPI_Request request) __attribute__((cold));

/* Is it one, or MPI_REQUEST_NULL? Then `active` may be read. */
static inline bool shim_request_known(MPI_Request r)
{
    return SHIM_LIKELY(r != NULL && (r->magic == SHIM_REQUEST || r == MPI_REQUEST_NULL));
}

/* Over, as far as the engine need not be asked. */
bool shim_request_over(MPI_Request r);

/* What an active request that is over has to tell; its error. It stays as it is. */
int shim_request_tell(MPI_Request r, MPI_Status *status);

/* The same, and the program has done with it: *request becomes MPI_REQUEST_NULL, or persistent and not active. One that is not active
   gives an empty status. */
int shim_request_finish(MPI_Request *request, MPI_Status *status);

/* The error of one that was finished, whose communicator it was (NULL: none), to the error handler. */
int shim_request_failed(MPI_Comm comm, const char *function, int err, const MPI_Status *status) __attribute__((cold));

/* ---- the attached buffer (bsend.c) ---- */

/* Sends out of it. MPI_ERR_BUFFER: no room. */
int shim_bsend(MPI_Comm comm, const char *function, const void *buffer, uint64_t n, struct ft_type type, int dest, int tag, uint64_t site);

/* Before MPI_Finalize: all that was sent out of it is on its way. */
void shim_bsend_finish(uint64_t site);

/* ---- generalized requests (grequest.c) ---- */

int shim_grequest_tell(MPI_Request r, MPI_Status *status);
int shim_grequest_free(MPI_Request r);
int shim_grequest_cancel(MPI_Request r);

#pragma GCC visibility pop

#endif
