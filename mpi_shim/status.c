/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses (MPI 3.1 sections 3.2.5, 3.7.3, 12.3). Bytes are packed ones, in _ucount. */
#include <limits.h>

#include "mpi_shim/layout.h"
#include "mpi_shim/request.h"
#include "mpi_shim/wrappers.h"

void shim_status_tell(MPI_Status *status, const struct ft_told *told)
{
    status->MPI_SOURCE = told->source;
    status->MPI_TAG = told->tag;
    status->_cancelled = told->cancelled;
    status->_ucount = told->bytes;
}

void shim_status_empty(MPI_Status *status) { *status = ompi_status_empty; }

int shim_received(MPI_Comm comm, const char *me, const struct ft_told *told, MPI_Status *status)
{
    MPI_Status mine;

    if (status == MPI_STATUS_IGNORE)
        status = &mine;
    shim_status_tell(status, told);
    return told->truncated ? shim_request_failed(comm, me, MPI_ERR_TRUNCATE, status) : MPI_SUCCESS;
}

static int check(const char *me, const void *status, MPI_Datatype type, const void *answer)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!status || !answer)
        return shim_raise(NULL, me, MPI_ERR_ARG, "%s", status ? "a null pointer to write the answer to"
                                                              : "there is no status: it is a null pointer");
    return shim_check_type(NULL, me, type);
}

/* Whole ones; -1 if there is a rest. */
static long long count_of(const MPI_Status *status, MPI_Datatype type)
{
    uint64_t packed = shim_packed(type);

    if (packed == 0)
        return status->_ucount ? -1 : 0;
    return status->_ucount % packed ? -1 : (long long)(status->_ucount / packed);
}

SHIM_ALIAS(int, Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count));
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    SHIM_ENTER();
    int err = check("Get_count", status, datatype, count);
    long long n;

    if (err)
        return err;
    n = count_of(status, datatype);
    *count = n < 0 || n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}

/* Whole basic elements in the first *left bytes of one of a type that another is made of. What is left then is part of the next. */
static uint64_t walk(MPI_Datatype type, uint64_t *left)
{
    uint64_t count = 0, packed = shim_packed(type), first = shim_pair_first(type);

    if (*left >= packed) {
        *left -= packed;
        return shim_elements(type);
    }
    if (first && *left >= first) {
        *left -= first;
        return 1;
    }
    if (type->predefined) {
        count = *left / type->base_elem;
        *left -= count * type->base_elem;
        return count;
    }
    for (uint64_t i = 0; i < type->n_parts; i++) {
        const struct shim_part *p = &type->parts[i];
        uint64_t one = shim_packed(p->of), all = p->blocks * p->n, whole = one && *left / one < all ? *left / one : all;

        count += whole * shim_elements(p->of);
        *left -= whole * one;
        if (whole < all)
            return count + walk(p->of, left);
    }
    return count;
}

/* A predefined pair is one element, as Open MPI has it; in a type that is made of pairs it is two. -1: there is a rest. */
static long long elements_of(const MPI_Status *status, MPI_Datatype type)
{
    uint64_t packed = shim_packed(type), left, count;

    if (packed == 0)
        return status->_ucount ? -1 : 0;
    left = status->_ucount % packed;
    count = status->_ucount / packed * type->elements;
    if (left && shim_pair_first(type))
        return -1;
    if (left)
        count += walk(type, &left);
    return left ? -1 : (long long)count;
}

/* The other way round: bytes of the first `count` elements, which are fewer than all. */
static uint64_t bytes_of(MPI_Datatype type, uint64_t count)
{
    uint64_t bytes = 0;

    if (count == 0)
        return 0;
    if (type->predefined)
        return shim_pair_first(type) ? shim_pair_first(type) : count * type->base_elem;
    for (uint64_t i = 0; i < type->n_parts; i++) {
        const struct shim_part *p = &type->parts[i];
        uint64_t one = shim_elements(p->of), all = p->blocks * p->n, whole = one && count / one < all ? count / one : all;

        bytes += whole * shim_packed(p->of);
        count -= whole * one;
        if (whole < all)
            return bytes + bytes_of(p->of, count);
    }
    return bytes;
}

SHIM_ALIAS(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    SHIM_ENTER();
    int err = check("Get_elements_x", status, datatype, count);
    long long n;

    if (err)
        return err;
    n = elements_of(status, datatype);
    *count = n < 0 ? MPI_UNDEFINED : n;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count));
int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    SHIM_ENTER();
    int err = check("Get_elements", status, datatype, count);
    long long n;

    if (err)
        return err;
    n = elements_of(status, datatype);
    *count = n < 0 || n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}

/* What a generalized request's query function says: so many elements. */
static int set_elements(const char *me, MPI_Status *status, MPI_Datatype type, long long count)
{
    int err = check(me, status, type, status);

    if (!err)
        err = shim_check_count(NULL, me, "count", count);
    if (err)
        return err;
    if (type->elements == 0)
        status->_ucount = 0;
    else
        status->_ucount = (uint64_t)count / type->elements * shim_packed(type) + bytes_of(type, (uint64_t)count % type->elements);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Status_set_elements, (MPI_Status *status, MPI_Datatype datatype, int count));
int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    SHIM_ENTER();

    return set_elements("Status_set_elements", status, datatype, count);
}

SHIM_ALIAS(int, Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count));
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    SHIM_ENTER();

    return set_elements("Status_set_elements_x", status, datatype, count);
}

SHIM_ALIAS(int, Status_set_cancelled, (MPI_Status *status, int flag));
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    SHIM_ENTER();
    int err = check("Status_set_cancelled", status, MPI_BYTE, status);

    if (!err)
        status->_cancelled = flag != 0;
    return err;
}

SHIM_ALIAS(int, Test_cancelled, (const MPI_Status *status, int *flag));
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    SHIM_ENTER();
    int err = check("Test_cancelled", status, MPI_BYTE, flag);

    if (!err)
        *flag = status->_cancelled != 0;
    return err;
}
