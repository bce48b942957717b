/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests (MPI 3.1 section 12.2): the program says when one is complete, and functions of its own tell the rest. Fortran's
   take addresses, and the code is their last argument. */
#include "mpi_shim/request.h"

typedef void fortran_query(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *code);
typedef void fortran_free(MPI_Aint *extra, MPI_Fint *code);
typedef void fortran_cancel(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *code);

SHIM_ALIAS(int, Grequest_start, (MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                                 MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request));
int PMPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free, MPI_Grequest_cancel_function *cancel,
                        void *extra, MPI_Request *request)
{
    SHIM_ENTER();
    const char *me = "Grequest_start";
    int err = shim_check_running(me);
    MPI_Request r;

    if (err)
        return err;
    if (!request)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "request is a null pointer");
    if (!query || !free || !cancel)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the function to %s is a null pointer", !query ? "query" : !free ? "free" : "cancel");
    r = shim_request_new(SHIM_GENERALIZED, NULL);
    if (!r)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a request");
    r->query = query;
    r->free = free;
    r->cancel = cancel;
    r->extra = extra;
    r->in_c = true;
    r->freed = false;
    /* relaxed: nobody else knows of it yet. */
    atomic_store_explicit(&r->complete, false, memory_order_relaxed);
    r->active = true;
    *request = r;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Grequest_complete, (MPI_Request request));
int PMPI_Grequest_complete(MPI_Request request)
{
    SHIM_ENTER();
    const char *me = "Grequest_complete";
    int err;

    if (!shim_request_known(request) || request == MPI_REQUEST_NULL)
        return shim_bad_request(me, request);
    err = shim_check_running(me);
    if (err)
        return err;
    if (request->kind != SHIM_GENERALIZED)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "the request is no generalized one");
    if (request->freed) {
        err = shim_grequest_free(request);
        return err ? shim_request_failed(NULL, me, err, NULL) : MPI_SUCCESS;
    }
    /* release: a thread that waits for it sees what was done before. */
    atomic_store_explicit(&request->complete, true, memory_order_release);
    return MPI_SUCCESS;
}

int shim_grequest_tell(MPI_Request r, MPI_Status *status)
{
    MPI_Fint code = MPI_SUCCESS, fortran[sizeof *status / sizeof code];
    int kept = status->MPI_ERROR;
    uint32_t depth;

    shim_status_empty(status);
    status->MPI_ERROR = kept;
    depth = shim_let();
    if (r->in_c) {
        code = r->query(r->extra, status);
        shim_take(depth);
        return code;
    }
    PMPI_Status_c2f(status, fortran);
    ((fortran_query *)(void (*)(void))r->query)(r->extra, fortran, &code);
    shim_take(depth);
    PMPI_Status_f2c(fortran, status);
    return code;
}

int shim_grequest_free(MPI_Request r)
{
    MPI_Fint code = MPI_SUCCESS;
    uint32_t depth = shim_let();

    if (r->in_c)
        code = r->free(r->extra);
    else
        ((fortran_free *)(void (*)(void))r->free)(r->extra, &code);
    shim_take(depth);
    shim_request_drop(r);
    return code;
}

int shim_grequest_cancel(MPI_Request r)
{
    MPI_Fint complete = shim_request_over(r), code = MPI_SUCCESS;
    uint32_t depth = shim_let();

    if (r->in_c)
        code = r->cancel(r->extra, complete);
    else
        ((fortran_cancel *)(void (*)(void))r->cancel)(r->extra, &complete, &code);
    shim_take(depth);
    return code;
}
