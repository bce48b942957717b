/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack and its kin (MPI 3.1 sections 4.2, 4.3). What is packed is what a message would hold. */
#include <limits.h>
#include <string.h>

#include "mpi_shim/pack.h"

/* count elements of `one` bytes each, from `position` on in a buffer of `size`. */
static int check(MPI_Comm comm, const char *me, int count, MPI_Datatype type, const void *memory, const void *buffer, int64_t size,
                 int64_t position, uint64_t one, uint64_t *bytes)
{
    int err = shim_check_count(comm, me, "count", count);

    if (err)
        return err;
    if (size < 0 || position < 0 || position > size)
        return shim_raise(comm, me, MPI_ERR_ARG, "position is %lld in a buffer of size %lld", (long long)position, (long long)size);
    if (__builtin_mul_overflow((uint64_t)count, one, bytes) || *bytes > (uint64_t)(size - position))
        return shim_raise(comm, me, MPI_ERR_TRUNCATE, "count is %d; that is more than fits from position %lld on in size %lld", count,
                          (long long)position, (long long)size);
    if (*bytes > 0 && (!buffer || (!memory && type->predefined)))
        return shim_bad_buffer(comm, me, buffer ? "the buffer of data" : "the packed buffer", *bytes);
    return MPI_SUCCESS;
}

static int check_type(MPI_Comm comm, const char *me, MPI_Datatype type, const void *answer)
{
    int err;

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    err = shim_check_type(comm, me, type);
    if (!err && !answer)
        err = shim_raise(comm, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    return err;
}

SHIM_ALIAS(int, Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm));
int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Pack";
    int err = check_type(comm, me, datatype, position);
    uint64_t bytes;

    if (!err)
        err = check(comm, me, incount, datatype, inbuf, outbuf, outsize, *position, shim_packed(datatype), &bytes);
    if (err)
        return err;
    shim_pack(datatype, inbuf, bytes, (char *)outbuf + *position);
    *position += (int)bytes;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm));
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Unpack";
    int err = check_type(comm, me, datatype, position);
    uint64_t bytes;

    if (!err)
        err = check(comm, me, outcount, datatype, outbuf, inbuf, insize, *position, shim_packed(datatype), &bytes);
    if (err)
        return err;
    shim_unpack(datatype, outbuf, bytes, (const char *)inbuf + *position);
    *position += (int)bytes;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size));
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    SHIM_ENTER();
    const char *me = "Pack_size";
    int err = check_type(comm, me, datatype, size);
    uint64_t bytes;

    if (!err)
        err = shim_check_count(comm, me, "count", incount);
    if (err)
        return err;
    if (__builtin_mul_overflow((uint64_t)incount, shim_packed(datatype), &bytes) || bytes > INT_MAX)
        *size = MPI_UNDEFINED;
    else
        *size = (int)bytes;
    return MPI_SUCCESS;
}

/* ---- external32 ---- */

static int check_external(const char *me, const char *representation, MPI_Datatype type, const void *answer)
{
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!representation || strcmp(representation, "external32") != 0)
        return shim_raise(NULL, me, MPI_ERR_ARG, "the representation is %s; there is \"external32\" only",
                          representation ? representation : "a null pointer");
    err = shim_check_type(NULL, me, type);
    if (!err && !answer)
        err = shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    return err;
}

SHIM_ALIAS(int, Pack_external, (const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
                                MPI_Aint outsize, MPI_Aint *position));
int PMPI_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,
                       MPI_Aint *position)
{
    SHIM_ENTER();
    const char *me = "Pack_external";
    int err = check_external(me, datarep, datatype, position);
    uint64_t bytes;

    if (!err)
        err = check(NULL, me, incount, datatype, inbuf, outbuf, outsize, *position, shim_external_size(datatype), &bytes);
    if (err)
        return err;
    shim_external_pack(datatype, (uint64_t)incount, inbuf, (char *)outbuf + *position);
    *position += (MPI_Aint)bytes;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Unpack_external, (const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
                                  int outcount, MPI_Datatype datatype));
int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount,
                         MPI_Datatype datatype)
{
    SHIM_ENTER();
    const char *me = "Unpack_external";
    int err = check_external(me, datarep, datatype, position);
    uint64_t bytes;

    if (!err)
        err = check(NULL, me, outcount, datatype, outbuf, inbuf, insize, *position, shim_external_size(datatype), &bytes);
    if (err)
        return err;
    shim_external_unpack(datatype, (uint64_t)outcount, outbuf, (const char *)inbuf + *position);
    *position += (MPI_Aint)bytes;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Pack_external_size, (const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size));
int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    SHIM_ENTER();
    const char *me = "Pack_external_size";
    int err = check_external(me, datarep, datatype, size);

    if (!err)
        err = shim_check_count(NULL, me, "count", incount);
    if (err)
        return err;
    if (__builtin_mul_overflow(incount, (int64_t)shim_external_size(datatype), size))
        return shim_raise(NULL, me, MPI_ERR_COUNT, "the size exceeds 63 bits");
    return MPI_SUCCESS;
}
