/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: made, started, finished, freed, cancelled (MPI 3.1 sections 3.7, 3.8.4). Waiting for them is in wait.c. */
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/request.h"

static MPI_Request unused;      /* freed ones, see handle.h */

MPI_Request shim_request_new(enum shim_request_kind kind, MPI_Comm comm)
{
    struct ompi_predefined_request_t *more;
    MPI_Request r = unused;

    if (r) {
        unused = r->next_free;
    } else {
        more = calloc(1, sizeof *more);
        if (!more)
            return NULL;
        r = &more->object;
    }
    r->magic = SHIM_REQUEST;
    r->kind = (uint8_t)kind;
    r->persistent = false;
    r->active = false;
    r->comm = comm;
    r->engine = NULL;
    r->type = (struct ft_type){0};
    return r;
}

void shim_request_drop(MPI_Request r)
{
    if (r->fortran)
        shim_request_unnumber(r);
    ft_layout_release(r->type.layout);
    r->magic = 0;
    r->active = false;
    r->next_free = unused;
    unused = r;
}

int shim_request_make(enum shim_request_kind kind, const char *me, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    MPI_Request r;

    if (!request)
        return shim_raise(comm, me, MPI_ERR_REQUEST, "request is a null pointer");
    r = shim_request_new(kind, comm);
    if (!r)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for a request");
    r->peer = peer;
    r->tag = tag;
    r->buffer = (void *)(uintptr_t)buffer; /* a send does not write */
    r->n = (uint64_t)count * type->per;
    r->type = shim_base(type);
    ft_layout_hold(r->type.layout);
    *request = r;
    return MPI_SUCCESS;
}

int shim_bad_tag(MPI_Comm comm, const char *me, int tag, bool receives)
{
    return shim_raise(comm, me, MPI_ERR_TAG, "the tag is %d; it must be 0 or more%s", tag, receives ? ", or MPI_ANY_TAG" : "");
}

int shim_bad_peer(MPI_Comm comm, const char *me, int peer, bool receives)
{
    return shim_raise(comm, me, MPI_ERR_RANK, "the %s is %d; %s has the ranks 0 to %d", receives ? "source" : "destination", peer,
                      *comm->name ? comm->name : "the communicator", shim_comm_peers(comm) - 1);
}

int shim_message_failed(MPI_Comm comm, const char *me, int err, const struct ft_error *e)
{
    return err == FT_EINVAL ? shim_raise(comm, me, MPI_ERR_OTHER, "%s", e->text) : shim_finish(err, e);
}

int shim_request_start(MPI_Request r, const char *me, uint64_t site)
{
    const struct ft_comm *members = &r->comm->members;
    struct ft_error e;
    int err;

    if (r->kind == SHIM_SENDS_BUFFERED)
        err = shim_bsend(r->comm, me, r->buffer, r->n, r->type, r->peer, r->tag, site);
    else if (r->peer == MPI_PROC_NULL)
        err = MPI_SUCCESS;
    else if (r->kind == SHIM_RECEIVES)
        err = ft_recv_start(shim.ft, members, r->buffer, r->n, r->type, r->peer, r->tag, site, &r->engine, &e);
    else
        err = ft_send_start(shim.ft, members, r->buffer, r->n, r->type, r->peer, r->tag,
                            r->kind == SHIM_SENDS ? FT_SEND_STANDARD : FT_SEND_SYNCHRONOUS, site, &r->engine, &e);
    r->active = err == 0;
    if (SHIM_LIKELY(err == 0) || r->kind == SHIM_SENDS_BUFFERED)
        return err;
    r->engine = NULL;
    return shim_message_failed(r->comm, me, err, &e);
}

int shim_request_now(enum shim_request_kind kind, const char *me, const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, MPI_Request *request, uint64_t site)
{
    int err = shim_request_make(kind, me, buffer, count, type, peer, tag, comm, request);

    if (!err && (err = shim_request_start(*request, me, site)) != MPI_SUCCESS) {
        shim_request_drop(*request);
        *request = MPI_REQUEST_NULL;
    }
    return err;
}

int shim_bad_request(const char *me, MPI_Request r)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!r || r == MPI_REQUEST_NULL)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "the request is %s", r ? "MPI_REQUEST_NULL" : "a null pointer");
    return shim_raise(NULL, me, MPI_ERR_REQUEST, "%p is not a request; was it freed?", (void *)r);
}

/* acquire: what the program did before it called MPI_Grequest_complete, its query function sees. */
bool shim_request_over(MPI_Request r)
{
    return r->active && !r->engine && (r->kind != SHIM_GENERALIZED || atomic_load_explicit(&r->complete, memory_order_acquire));
}

int shim_request_tell(MPI_Request r, MPI_Status *status)
{
    struct ft_told told = shim_told_nobody();
    struct ft_error e;

    if (r->kind == SHIM_GENERALIZED)
        return shim_grequest_tell(r, status);
    if (r->kind == SHIM_DUPLICATES)
        shim_finish(ft_comm_idup_end(shim.ft, &((MPI_Comm)r->buffer)->members, &e), &e);
    if (r->engine && r->kind != SHIM_DUPLICATES)
        told = ft_request_told(r->engine);
    else if (r->kind != SHIM_RECEIVES)
        told.source = MPI_ANY_SOURCE;
    shim_status_tell(status, &told);
    return told.truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* What a generalized request's free function returns is the last word. */
static int free_generalized(MPI_Request r, int err)
{
    int freed = shim_grequest_free(r);

    return freed ? freed : err;
}

int shim_request_finish(MPI_Request *request, MPI_Status *status)
{
    MPI_Request r = *request;
    int err;

    if (!r->active) {
        shim_status_empty(status);
        return MPI_SUCCESS;
    }
    err = shim_request_tell(r, status);
    if (r->engine)
        ft_request_end(shim.ft, r->engine);
    r->engine = NULL;
    r->active = false;
    if (r->persistent)
        return err;
    *request = MPI_REQUEST_NULL;
    if (r->kind == SHIM_GENERALIZED)
        return free_generalized(r, err);
    shim_request_drop(r);
    return err;
}

int shim_request_failed(MPI_Comm comm, const char *me, int err, const MPI_Status *status)
{
    if (comm)
        return shim_raise(comm, me, err, "the message from rank %d with tag %d is longer than the %llu bytes there is room for",
                          status->MPI_SOURCE, status->MPI_TAG, (unsigned long long)status->_ucount);
    shim_raise(NULL, me, shim_class_name(err) ? err : MPI_ERR_OTHER, "a function of the generalized request returned %d", err);
    return err;
}

/* One that is there, not MPI_REQUEST_NULL. */
static int check(const char *me, const MPI_Request *request)
{
    return request && shim_request_known(*request) && *request != MPI_REQUEST_NULL ? MPI_SUCCESS
                                                                                   : shim_bad_request(me, request ? *request : NULL);
}

/* MPI 3.1 section 5.12: neither may be done with those. */
static int is_collective(MPI_Request r, const char *me)
{
    return shim_raise(r->comm, me, MPI_ERR_REQUEST, "the request is a collective's; it can only be waited for");
}

/* What is under way goes on without it. */
SHIM_ALIAS(int, Request_free, (MPI_Request *request));
int PMPI_Request_free(MPI_Request *request)
{
    SHIM_ENTER();
    int err = check("Request_free", request);
    MPI_Request r;

    if (err)
        return err;
    r = *request;
    if (r->kind == SHIM_DUPLICATES)
        return is_collective(r, "Request_free");
    *request = MPI_REQUEST_NULL;
    if (r->kind == SHIM_GENERALIZED) {
        r->freed = true;
        if (!shim_request_over(r))
            return MPI_SUCCESS;
        err = shim_grequest_free(r);
        return err ? shim_request_failed(NULL, "Request_free", err, NULL) : MPI_SUCCESS;
    }
    if (r->engine)
        ft_request_end(shim.ft, r->engine);
    shim_request_drop(r);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Cancel, (MPI_Request *request));
int PMPI_Cancel(MPI_Request *request)
{
    SHIM_ENTER();
    const char *me = "Cancel";
    int err = check(me, request);
    struct ft_error e;
    MPI_Request r;

    if (err)
        return err;
    r = *request;
    if (r->kind == SHIM_DUPLICATES)
        return is_collective(r, me);
    if (!r->active)
        return shim_raise(r->comm, me, MPI_ERR_REQUEST, "the request is not active; call MPI_Start first");
    if (r->kind == SHIM_GENERALIZED) {
        err = shim_grequest_cancel(r);
        return err ? shim_request_failed(NULL, me, err, NULL) : MPI_SUCCESS;
    }
    return r->engine ? shim_finish(ft_request_cancel(shim.ft, r->engine, SHIM_SITE(), &e), &e) : MPI_SUCCESS;
}

SHIM_ALIAS(int, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status));
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Request_get_status";
    struct ft_error e;
    MPI_Status mine;
    bool over;
    int err;

    if (!shim_request_known(request))
        return shim_bad_request(me, request);
    err = shim_check_running(me);
    if (err)
        return err;
    if (!flag)
        return shim_raise(request->comm, me, MPI_ERR_ARG, "flag is a null pointer");
    if (status == MPI_STATUS_IGNORE)
        status = &mine;
    if (!request->active) {
        shim_status_empty(status);
        *flag = true;
        return MPI_SUCCESS;
    }
    over = shim_request_over(request);
    if (request->engine)
        shim_finish(ft_test_all(shim.ft, &request->engine, 1, &over, SHIM_SITE(), &e), &e);
    *flag = over;
    if (over)
        shim_request_tell(request, status); /* an error is for whoever completes it */
    return MPI_SUCCESS;
}
