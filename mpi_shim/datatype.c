/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes (MPI 3.1 chapter 4); contiguous ones so far. */
#include <limits.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/shim.h"
#include "mpi_shim/wrappers.h"

static MPI_Datatype unused;     /* freed types, see handle.h */

/* A type to look at or to build from: committed or not. */
static bool known(MPI_Datatype type)
{
    return type && type->magic == SHIM_TYPE;
}

static int unknown(const char *me, MPI_Datatype type)
{
    int err = shim_check_running(me);

    return err ? err : shim_check_type(NULL, me, type);
}

SHIM_ALIAS(int, Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype));
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    const char *me = "Type_contiguous";
    MPI_Datatype made = unused;
    uint64_t n = (uint64_t)count, extent;
    int err = shim_check_running(me);

    if (!err)
        err = shim_check_count(NULL, me, "count", count);
    if (err)
        return err;
    if (!known(oldtype))
        return unknown(me, oldtype);
    if (!newtype)
        return shim_raise(NULL, me, MPI_ERR_TYPE, "newtype is a null pointer");
    if (__builtin_mul_overflow(n, oldtype->extent, &extent) || extent > INT64_MAX)
        return shim_raise(NULL, me, MPI_ERR_COUNT, "the extent of %d elements of %llu bytes exceeds 63 bits", count,
                          (unsigned long long)oldtype->extent);
    if (made)
        unused = made->next_free;
    else
        made = malloc(sizeof *made);
    if (!made)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a datatype");
    *made = (struct ompi_datatype_t){.magic = SHIM_TYPE, .kind = FT_OPAQUE, .base = oldtype->base,
                                     .base_elem = oldtype->base_elem, .per = n * oldtype->per,
                                     .size = n * oldtype->size, .extent = extent, .name = ""};
    *newtype = made;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_commit, (MPI_Datatype *datatype));
int PMPI_Type_commit(MPI_Datatype *datatype)
{
    const char *me = "Type_commit";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!datatype || !known(*datatype))
        return unknown(me, datatype ? *datatype : NULL);
    if (!(*datatype)->predefined)
        (*datatype)->committed = true;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_free, (MPI_Datatype *datatype));
int PMPI_Type_free(MPI_Datatype *datatype)
{
    const char *me = "Type_free";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!datatype || !known(*datatype))
        return unknown(me, datatype ? *datatype : NULL);
    if ((*datatype)->predefined)
        return shim_raise(NULL, me, MPI_ERR_TYPE, "%s is predefined; it cannot be freed", (*datatype)->name);
    err = shim_attributes_drop(2, *datatype, &(*datatype)->attributes);
    if (err)
        return shim_raise(NULL, me, shim_class_name(err) ? err : MPI_ERR_OTHER, "an attribute's delete function failed");
    shim_type_unnumber(*datatype);
    (*datatype)->magic = 0;
    (*datatype)->next_free = unused;
    unused = *datatype;
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

static int query(const char *me, MPI_Datatype type, bool results)
{
    if (!known(type))
        return unknown(me, type);
    return results ? MPI_SUCCESS : shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
}

SHIM_ALIAS(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size));
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    int err = query("Type_size_x", datatype, size != NULL);

    if (err)
        return err;
    *size = (MPI_Count)datatype->size;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_size, (MPI_Datatype datatype, int *size));
int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    int err = query("Type_size", datatype, size != NULL);

    if (err)
        return err;
    *size = datatype->size > INT_MAX ? MPI_UNDEFINED : (int)datatype->size;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent));
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    int err = query("Type_get_extent_x", datatype, lb && extent);

    if (err)
        return err;
    *lb = 0;
    *extent = (MPI_Count)datatype->extent;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent));
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    int err = query("Type_get_extent", datatype, lb && extent);

    if (err)
        return err;
    *lb = 0;
    *extent = (MPI_Aint)datatype->extent;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_extent, (MPI_Datatype datatype, MPI_Aint *extent));
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    return PMPI_Type_get_extent(datatype, &lb, extent);
}

SHIM_ALIAS(int, Get_address, (const void *location, MPI_Aint *address));
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    const char *me = "Get_address";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!address)
        return shim_raise(NULL, me, MPI_ERR_ARG, "address is a null pointer");
    *address = (MPI_Aint)(intptr_t)location;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Address, (void *location, MPI_Aint *address));
int PMPI_Address(void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}

/* The Fortran type of that size; MPI wants an error if there is none. */
SHIM_ALIAS(int, Type_match_size, (int typeclass, int size, MPI_Datatype *datatype));
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    const char *me = "Type_match_size";
    int err = shim_check_running(me);
    MPI_Datatype found;

    if (err)
        return err;
    if (!datatype)
        return shim_raise(NULL, me, MPI_ERR_ARG, "datatype is a null pointer");
    found = ompi_datatype_match_size(size, typeclass == MPI_TYPECLASS_INTEGER ? OMPI_INTEGER : typeclass == MPI_TYPECLASS_REAL
                                     ? OMPI_REAL : typeclass == MPI_TYPECLASS_COMPLEX ? OMPI_COMPLEX : 0, 0);
    if (found == MPI_DATATYPE_NULL)
        return shim_raise(NULL, me, MPI_ERR_ARG, "there is no datatype of class %d and %d byte%s", typeclass, size, ft_plural(size));
    *datatype = found;
    return MPI_SUCCESS;
}
