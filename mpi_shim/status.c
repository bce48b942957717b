/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses (MPI 3.1 sections 3.2.5, 3.7.3, 12.3). Bytes are those in memory, gaps of predefined pairs included, in _ucount. */
#include <limits.h>

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
    if (type->extent == 0)
        return status->_ucount ? -1 : 0;
    return status->_ucount % type->extent ? -1 : (long long)(status->_ucount / type->extent);
}

SHIM_ALIAS(int, Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count));
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int err = check("Get_count", status, datatype, count);
    long long n;

    if (err)
        return err;
    n = count_of(status, datatype);
    *count = n < 0 || n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}

/* A predefined pair is one element, as Open MPI has it; two in a type that is made of pairs: where the second lies, 0 in other types. */
static uint64_t second_of(MPI_Datatype type)
{
    switch (type->predefined ? FT_OPAQUE : type->base) {
    case FT_INT_INT: return offsetof(struct ft_int_int, index);
    case FT_F32_F32: return offsetof(struct ft_f32_f32, index);
    case FT_F64_F64: return offsetof(struct ft_f64_f64, index);
    case FT_F32_INT: return offsetof(struct ft_f32_int, index);
    case FT_F64_INT: return offsetof(struct ft_f64_int, index);
    case FT_I64_INT: return offsetof(struct ft_i64_int, index);
    case FT_I16_INT: return offsetof(struct ft_i16_int, index);
    case FT_FLD_INT: return offsetof(struct ft_fld_int, index);
    default: return 0;
    }
}

static long long elements_of(const MPI_Status *status, MPI_Datatype type)
{
    uint64_t whole = status->_ucount / type->base_elem, rest = status->_ucount % type->base_elem, second = second_of(type);

    if (type->extent == 0)
        return status->_ucount ? -1 : 0;
    if (!second)
        return rest ? -1 : (long long)whole;
    return rest && rest != second ? -1 : (long long)(2 * whole + (rest != 0));
}

SHIM_ALIAS(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
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
    uint64_t second;

    if (!err)
        err = shim_check_count(NULL, me, "count", count);
    if (err)
        return err;
    second = second_of(type);
    status->_ucount = second ? (uint64_t)count / 2 * type->base_elem + (uint64_t)count % 2 * second : (uint64_t)count * type->base_elem;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Status_set_elements, (MPI_Status *status, MPI_Datatype datatype, int count));
int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return set_elements("Status_set_elements", status, datatype, count);
}

SHIM_ALIAS(int, Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count));
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("Status_set_elements_x", status, datatype, count);
}

SHIM_ALIAS(int, Status_set_cancelled, (MPI_Status *status, int flag));
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    int err = check("Status_set_cancelled", status, MPI_BYTE, status);

    if (!err)
        status->_cancelled = flag != 0;
    return err;
}

SHIM_ALIAS(int, Test_cancelled, (const MPI_Status *status, int *flag));
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    int err = check("Test_cancelled", status, MPI_BYTE, flag);

    if (!err)
        *flag = status->_cancelled != 0;
    return err;
}
