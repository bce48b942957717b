/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for requests, and asking whether they are over (MPI 3.1 sections 3.7.3, 3.7.5). The engine waits for its own. What it knows
   nothing of is over at once, but for generalized requests, which another thread completes: those are polled. */
#include <stdlib.h>

#include "mpi_shim/request.h"

enum { FEW = 32 };

/* The engine's requests, NULL where it has none, in the places of the program's. */
struct row {
    MPI_Request *requests;
    uint32_t n, nover;
    bool active, asks, polls;       /* some are; some are the engine's; some are generalized and not complete */
    struct ft_request **engine, *few[FEW];
    uint32_t *over, few_over[FEW];  /* [nover] of the engine's, in rising order */
};

static int open_row(struct row *row, const char *me, int n, MPI_Request *requests)
{
    *row = (struct row){.requests = requests, .n = (uint32_t)n, .engine = row->few, .over = row->few_over};
    if (n > FEW) {
        row->engine = malloc((size_t)n * (sizeof *row->engine + sizeof *row->over));
        if (!row->engine)
            return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory to wait for %d requests", n);
        row->over = (uint32_t *)(row->engine + n);
    }
    for (int i = 0; i < n; i++) {
        MPI_Request r = requests[i];

        row->engine[i] = r->active ? r->engine : NULL;
        row->active |= r->active;
        row->asks |= row->engine[i] != NULL;
        row->polls |= r->active && !r->engine && !shim_request_over(r);
    }
    return MPI_SUCCESS;
}

static void close_row(struct row *row)
{
    if (row->engine != row->few)
        free(row->engine);
}

static bool all_but_the_engines(const struct row *row)
{
    for (uint32_t i = 0; i < row->n; i++)
        if (row->requests[i]->active && !row->engine[i] && !shim_request_over(row->requests[i]))
            return false;
    return true;
}

/* The first that is over without the engine, n if there is none. */
static uint32_t first_over(const struct row *row)
{
    uint32_t i = 0;

    while (i < row->n && !shim_request_over(row->requests[i]))
        i++;
    return i;
}

/* Are all over? With `waits`, they are then. */
static bool all(struct row *row, bool waits, uint64_t site)
{
    bool over = true;
    struct ft_error e;

    while (waits && row->polls && !all_but_the_engines(row))
        shim_give_way();
    if (row->asks && waits)
        shim_finish(ft_wait_all(shim.ft, row->engine, row->n, site, &e), &e);
    else if (row->asks)
        shim_finish(ft_test_all(shim.ft, row->engine, row->n, &over, site, &e), &e);
    return over && (!row->polls || all_but_the_engines(row));
}

/* Finds up to `most` of the engine's that are over, if one is over at all; with `waits`, at least one is then, here or there. */
static void some(struct row *row, bool waits, uint32_t most, uint64_t site)
{
    struct ft_error e;
    bool here;

    do {
        here = first_over(row) < row->n;
        if (row->asks && waits && !here && !row->polls)
            shim_finish(ft_wait_some(shim.ft, row->engine, row->n, most, row->over, &row->nover, site, &e), &e);
        else if (row->asks)
            shim_finish(ft_test_some(shim.ft, row->engine, row->n, most, row->over, &row->nover, site, &e), &e);
        if (waits && !here && row->nover == 0)
            shim_give_way();
    } while (waits && !here && row->nover == 0);
}

/* ---- one ---- */

static int check(const char *me, const MPI_Request *request)
{
    return request && shim_request_known(*request) ? shim_check_running(me) : shim_bad_request(me, request ? *request : NULL);
}

static int finish(const char *me, MPI_Request *request, MPI_Status *status)
{
    MPI_Comm comm = (*request)->active ? (*request)->comm : NULL;
    MPI_Status mine;
    int err;

    if (status == MPI_STATUS_IGNORE)
        status = &mine;
    err = shim_request_finish(request, status);
    return SHIM_LIKELY(err == MPI_SUCCESS) ? MPI_SUCCESS : shim_request_failed(comm, me, err, status);
}

SHIM_ALIAS(int, Wait, (MPI_Request *request, MPI_Status *status));
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    SHIM_ENTER();
    int err = check("Wait", request);
    struct ft_error e;

    if (err)
        return err;
    if ((*request)->engine)
        shim_finish(ft_wait_all(shim.ft, &(*request)->engine, 1, SHIM_SITE(), &e), &e);
    while ((*request)->active && !(*request)->engine && !shim_request_over(*request))
        shim_give_way();
    return finish("Wait", request, status);
}

SHIM_ALIAS(int, Test, (MPI_Request *request, int *flag, MPI_Status *status));
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    SHIM_ENTER();
    int err = check("Test", request);
    struct ft_error e;
    bool over;

    if (err)
        return err;
    if (!flag)
        return shim_raise(NULL, "Test", MPI_ERR_ARG, "flag is a null pointer");
    over = !(*request)->active || shim_request_over(*request);
    if ((*request)->engine)
        shim_finish(ft_test_all(shim.ft, &(*request)->engine, 1, &over, SHIM_SITE(), &e), &e);
    *flag = over;
    return over ? finish("Test", request, status) : MPI_SUCCESS;
}

/* ---- several ---- */

static int check_several(const char *me, int count, MPI_Request *requests)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (count < 0)
        return shim_raise(NULL, me, MPI_ERR_ARG, "count is %d; it must be 0 or more", count);
    if (!requests && count > 0)
        return shim_raise(NULL, me, MPI_ERR_REQUEST, "the array of %d requests is a null pointer", count);
    for (int i = 0; i < count; i++)
        if (!shim_request_known(requests[i]))
            return shim_raise(NULL, me, MPI_ERR_REQUEST, "element %d of the array, %p, is not a request; was it freed?", i,
                              (void *)requests[i]);
    return MPI_SUCCESS;
}

static int check_index(const char *me, int count, MPI_Request *requests, const int *index, const int *flag)
{
    int err = check_several(me, count, requests);

    return err || (index && flag) ? err : shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write to (count %d)", count);
}

/* Requests are finished one after the other. From the first that failed on, all statuses have codes. */
struct finished {
    const char *me;
    MPI_Status *statuses;
    int n, failed, err;             /* failed: the first, -1: none */
    MPI_Comm comm;                  /* of that one */
};

static void finish_next(struct finished *f, MPI_Request *request)
{
    MPI_Comm comm = (*request)->active ? (*request)->comm : NULL;
    MPI_Status mine, *status = f->statuses == MPI_STATUSES_IGNORE ? &mine : &f->statuses[f->n];
    int err = shim_request_finish(request, status);

    if (err && f->failed < 0) {
        f->failed = f->n;
        f->err = err;
        f->comm = comm;
        for (int i = 0; f->statuses != MPI_STATUSES_IGNORE && i < f->n; i++)
            f->statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (f->failed >= 0)
        status->MPI_ERROR = err;
    f->n++;
}

static int finish_end(const struct finished *f)
{
    const char *class = shim_class_name(f->err);

    if (f->failed < 0)
        return MPI_SUCCESS;
    return shim_raise(f->comm, f->me, MPI_ERR_IN_STATUS, "the first error is in status %d: %s", f->failed,
                      class ? class : "no code of MPI");
}

static int finish_all(const char *me, struct row *row, MPI_Status *statuses)
{
    struct finished f = {.me = me, .statuses = statuses, .failed = -1};

    for (uint32_t i = 0; i < row->n; i++)
        finish_next(&f, &row->requests[i]);
    return finish_end(&f);
}

/* Those that some() has found, and those that are over here. */
static int finish_some(const char *me, struct row *row, int *outcount, int *indices, MPI_Status *statuses)
{
    struct finished f = {.me = me, .statuses = statuses, .failed = -1};
    uint32_t at = 0;

    for (uint32_t i = 0; i < row->n; i++) {
        if (at < row->nover && row->over[at] == i)
            at++;
        else if (!shim_request_over(row->requests[i]))
            continue;
        indices[f.n] = (int)i;
        finish_next(&f, &row->requests[i]);
    }
    *outcount = f.n;
    return finish_end(&f);
}

static int finish_any(const char *me, struct row *row, int *index, MPI_Status *status)
{
    uint32_t i = row->nover ? row->over[0] : first_over(row);

    *index = (int)i;
    return finish(me, &row->requests[i], status);
}

static void nothing_active(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        shim_status_empty(status);
}

SHIM_ALIAS(int, Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]));
int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    SHIM_ENTER();
    const char *me = "Waitall";
    int err = check_several(me, count, requests);
    struct row row;

    if (!err)
        err = open_row(&row, me, count, requests);
    if (err)
        return err;
    all(&row, true, SHIM_SITE());
    err = finish_all(me, &row, statuses);
    close_row(&row);
    return err;
}

SHIM_ALIAS(int, Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]));
int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    SHIM_ENTER();
    const char *me = "Testall";
    int err = check_index(me, count, requests, flag, flag);
    struct row row;

    if (!err)
        err = open_row(&row, me, count, requests);
    if (err)
        return err;
    *flag = all(&row, false, SHIM_SITE());
    err = *flag ? finish_all(me, &row, statuses) : MPI_SUCCESS;
    close_row(&row);
    return err;
}

SHIM_ALIAS(int, Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status));
int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Waitany";
    int err = check_index(me, count, requests, index, index);
    struct row row;

    if (!err)
        err = open_row(&row, me, count, requests);
    if (err)
        return err;
    if (row.active) {
        some(&row, true, 1, SHIM_SITE());
        err = finish_any(me, &row, index, status);
    } else {
        *index = MPI_UNDEFINED;
        nothing_active(status);
    }
    close_row(&row);
    return err;
}

SHIM_ALIAS(int, Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status));
int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    SHIM_ENTER();
    const char *me = "Testany";
    int err = check_index(me, count, requests, index, flag);
    struct row row;

    if (!err)
        err = open_row(&row, me, count, requests);
    if (err)
        return err;
    *index = MPI_UNDEFINED;
    if (row.active) {
        some(&row, false, 1, SHIM_SITE());
        *flag = row.nover > 0 || first_over(&row) < row.n;
        if (*flag)
            err = finish_any(me, &row, index, status);
    } else {
        *flag = true;
        nothing_active(status);
    }
    close_row(&row);
    return err;
}

static int several(const char *me, int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[], bool waits,
                   uint64_t site)
{
    int err = check_index(me, incount, requests, outcount, incount > 0 ? indices : outcount);
    struct row row;

    if (!err)
        err = open_row(&row, me, incount, requests);
    if (err)
        return err;
    *outcount = MPI_UNDEFINED;
    if (row.active) {
        some(&row, waits, row.n, site);
        err = finish_some(me, &row, outcount, indices, statuses);
    }
    close_row(&row);
    return err;
}

SHIM_ALIAS(int, Waitsome, (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]));
int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    SHIM_ENTER();

    return several("Waitsome", incount, requests, outcount, indices, statuses, true, SHIM_SITE());
}

SHIM_ALIAS(int, Testsome, (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]));
int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    SHIM_ENTER();

    return several("Testsome", incount, requests, outcount, indices, statuses, false, SHIM_SITE());
}
