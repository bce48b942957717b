/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes, and messages that they take (MPI 3.1 section 3.8). From MPI_PROC_NULL there is always one. */
#include <stdlib.h>

#include "mpi_shim/request.h"

static MPI_Message unused;      /* freed ones, see handle.h */

static MPI_Message take(MPI_Comm comm)
{
    struct ompi_predefined_message_t *more;
    MPI_Message m = unused;

    if (m) {
        unused = m->next_free;
    } else {
        more = calloc(1, sizeof *more);
        if (!more)
            return NULL;
        m = &more->object;
    }
    m->magic = SHIM_MESSAGE;
    m->comm = comm;
    return m;
}

static void drop(MPI_Message m)
{
    shim_message_unnumber(m);
    m->magic = 0;
    m->next_free = unused;
    unused = m;
}

static int check(const char *me, MPI_Comm comm, int source, int tag, const void *flag, const void *message)
{
    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!flag || !message)
        return shim_raise(comm, me, flag ? MPI_ERR_REQUEST : MPI_ERR_ARG, "%s is a null pointer", flag ? "message" : "flag");
    return shim_check_source(comm, me, source, tag);
}

/* *found also with an error. taken: NULL, or where to put what was found. */
static int probe(const char *me, MPI_Comm comm, int source, int tag, bool waits, bool *found, struct ft_message **taken, MPI_Status *status,
                 uint64_t site)
{
    struct ft_told told = shim_told_nobody();
    struct ft_error e;
    int err = 0;

    *found = true;
    if (source != MPI_PROC_NULL)
        err = ft_probe(shim.ft, &comm->members, source, tag, waits, found, &told, taken, site, &e);
    if (err) {
        *found = false;
        return shim_message_failed(comm, me, err, &e);
    }
    if (*found && status != MPI_STATUS_IGNORE)
        shim_status_tell(status, &told);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status));
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Probe";
    bool found;
    int err = check(me, comm, source, tag, me, me);

    return err ? err : probe(me, comm, source, tag, true, &found, NULL, status, SHIM_SITE());
}

SHIM_ALIAS(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status));
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Iprobe";
    bool found;
    int err = check(me, comm, source, tag, flag, me);

    if (err)
        return err;
    err = probe(me, comm, source, tag, false, &found, NULL, status, SHIM_SITE());
    *flag = found;
    return err;
}

static int take_message(const char *me, MPI_Comm comm, int source, int tag, bool waits, bool *found, MPI_Message *message,
                        MPI_Status *status, uint64_t site)
{
    MPI_Message m = take(comm);
    int err;

    *message = MPI_MESSAGE_NULL;
    *found = false;
    if (!m)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for a message");
    err = probe(me, comm, source, tag, waits, found, &m->engine, status, site);
    if (*found && source != MPI_PROC_NULL) {
        *message = m;
        return err;
    }
    drop(m);
    if (*found)
        *message = MPI_MESSAGE_NO_PROC;
    return err;
}

SHIM_ALIAS(int, Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status));
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Mprobe";
    bool found;
    int err = check(me, comm, source, tag, me, message);

    return err ? err : take_message(me, comm, source, tag, true, &found, message, status, SHIM_SITE());
}

SHIM_ALIAS(int, Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status));
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Improbe";
    bool found;
    int err = check(me, comm, source, tag, flag, message);

    if (err)
        return err;
    err = take_message(me, comm, source, tag, false, &found, message, status, SHIM_SITE());
    *flag = found;
    return err;
}

/* ---- receives of what was taken ---- */

static int check_message(const char *me, const void *buffer, int count, MPI_Datatype type, const MPI_Message *message)
{
    int err = shim_check_running(me);
    MPI_Message m = message ? *message : NULL;

    if (err)
        return err;
    if (!m || m == MPI_MESSAGE_NULL)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "the message is %s", m ? "MPI_MESSAGE_NULL" : "a null pointer");
    if (m != MPI_MESSAGE_NO_PROC && m->magic != SHIM_MESSAGE)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "%p is not a message; was it received already?", (void *)m);
    return shim_check_data(m == MPI_MESSAGE_NO_PROC ? NULL : m->comm, me, "count", count, type, buffer);
}

/* A receive of it is under way: the program has it no more. */
static int receive(const char *me, void *buffer, int count, MPI_Datatype type, MPI_Message *message, struct ft_request **r, uint64_t site)
{
    MPI_Message m = *message;
    MPI_Comm comm = m->comm;
    struct ft_error e;
    int err = ft_mrecv_start(shim.ft, m->engine, buffer, (uint64_t)count * type->per, shim_base(type), site, r, &e);

    if (err)
        return shim_message_failed(comm, me, err, &e);
    drop(m);
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Mrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status));
int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Mrecv";
    int err = check_message(me, buf, count, datatype, message);
    struct ft_told told = shim_told_nobody();
    uint64_t site = SHIM_SITE();
    struct ft_request *r;
    struct ft_error e;
    MPI_Comm comm;

    if (err)
        return err;
    comm = (*message)->comm;
    if (*message == MPI_MESSAGE_NO_PROC) {
        *message = MPI_MESSAGE_NULL;
        return shim_received(comm, me, &told, status);
    }
    err = receive(me, buf, count, datatype, message, &r, site);
    if (err)
        return err;
    shim_finish(ft_wait_all(shim.ft, &r, 1, site, &e), &e);
    told = ft_request_told(r);
    ft_request_end(shim.ft, r);
    return shim_received(comm, me, &told, status);
}

SHIM_ALIAS(int, Imrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request));
int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    SHIM_ENTER();
    const char *me = "Imrecv";
    int err = check_message(me, buf, count, datatype, message);
    uint64_t site = SHIM_SITE();
    MPI_Request r;

    if (err)
        return err;
    if (!request)
        return shim_raise((*message)->comm, me, MPI_ERR_REQUEST, "request is a null pointer");
    err = shim_request_make(SHIM_RECEIVES, me, buf, count, datatype, MPI_PROC_NULL, 0, (*message)->comm, &r);
    if (err)
        return err;
    if (*message == MPI_MESSAGE_NO_PROC)
        *message = MPI_MESSAGE_NULL;
    else
        err = receive(me, buf, count, datatype, message, &r->engine, site);
    if (err) {
        shim_request_drop(r);
        return err;
    }
    r->active = true;
    *request = r;
    return MPI_SUCCESS;
}
