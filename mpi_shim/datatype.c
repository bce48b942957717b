/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as they are: committed, freed, asked for their size and bounds (MPI 3.1 sections 4.1.5 to 4.1.9). */
#include <limits.h>

#include "ft/base/util.h"
#include "mpi_shim/layout.h"
#include "mpi_shim/wrappers.h"

static int unknown(const char *me, MPI_Datatype type)
{
    int err = shim_check_running(me);

    return err ? err : shim_check_type(NULL, me, type);
}

SHIM_ALIAS(int, Type_commit, (MPI_Datatype *datatype));
int PMPI_Type_commit(MPI_Datatype *datatype)
{
    SHIM_ENTER();
    const char *me = "Type_commit";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!datatype || !shim_type_known(*datatype))
        return unknown(me, datatype ? *datatype : NULL);
    if ((*datatype)->predefined)
        return MPI_SUCCESS;
    if (shim_layout_commit(*datatype))
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for a datatype");
    (*datatype)->committed = true;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_free, (MPI_Datatype *datatype));
int PMPI_Type_free(MPI_Datatype *datatype)
{
    SHIM_ENTER();
    const char *me = "Type_free";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!datatype || !shim_type_known(*datatype))
        return unknown(me, datatype ? *datatype : NULL);
    if ((*datatype)->predefined)
        return shim_raise(NULL, me, MPI_ERR_TYPE, "%s is predefined; it cannot be freed", (*datatype)->name);
    if ((*datatype)->handles == 1)
        err = shim_attributes_drop(2, *datatype, &(*datatype)->attributes);
    if (err)
        return shim_raise(NULL, me, shim_class_name(err) ? err : MPI_ERR_OTHER, "an attribute's delete function failed");
    if (--(*datatype)->handles == 0) {
        shim_type_unnumber(*datatype);
        (*datatype)->magic = 0;
    }
    shim_type_release(*datatype);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

static int query(const char *me, MPI_Datatype type, bool results)
{
    if (!shim_type_known(type))
        return unknown(me, type);
    return results ? MPI_SUCCESS : shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the answer to");
}

SHIM_ALIAS(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size));
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    SHIM_ENTER();
    int err = query("Type_size_x", datatype, size != NULL);

    if (err)
        return err;
    *size = (MPI_Count)datatype->size;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_size, (MPI_Datatype datatype, int *size));
int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    SHIM_ENTER();
    int err = query("Type_size", datatype, size != NULL);

    if (err)
        return err;
    *size = datatype->size > INT_MAX ? MPI_UNDEFINED : (int)datatype->size;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent));
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    SHIM_ENTER();
    int err = query("Type_get_extent_x", datatype, lb && extent);

    if (err)
        return err;
    *lb = datatype->lb;
    *extent = datatype->extent;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent));
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    SHIM_ENTER();
    int err = query("Type_get_extent", datatype, lb && extent);

    if (err)
        return err;
    *lb = datatype->lb;
    *extent = datatype->extent;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_extent, (MPI_Datatype datatype, MPI_Aint *extent));
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    SHIM_ENTER();
    MPI_Aint lb;

    return PMPI_Type_get_extent(datatype, &lb, extent);
}

SHIM_ALIAS(int, Type_lb, (MPI_Datatype datatype, MPI_Aint *lb));
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb)
{
    SHIM_ENTER();
    MPI_Aint extent;

    return PMPI_Type_get_extent(datatype, lb, &extent);
}

SHIM_ALIAS(int, Type_ub, (MPI_Datatype datatype, MPI_Aint *ub));
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub)
{
    SHIM_ENTER();
    int err = query("Type_ub", datatype, ub != NULL);

    if (err)
        return err;
    *ub = datatype->lb + datatype->extent;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent));
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    SHIM_ENTER();
    int err = query("Type_get_true_extent_x", datatype, true_lb && true_extent);

    if (err)
        return err;
    *true_lb = datatype->true_lb;
    *true_extent = datatype->true_ub - datatype->true_lb;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent));
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    SHIM_ENTER();
    int err = query("Type_get_true_extent", datatype, true_lb && true_extent);

    if (err)
        return err;
    *true_lb = datatype->true_lb;
    *true_extent = datatype->true_ub - datatype->true_lb;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Get_address, (const void *location, MPI_Aint *address));
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    SHIM_ENTER();
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
    SHIM_ENTER();

    return PMPI_Get_address(location, address);
}

/* The Fortran type of that size; MPI wants an error if there is none. */
SHIM_ALIAS(int, Type_match_size, (int typeclass, int size, MPI_Datatype *datatype));
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    SHIM_ENTER();
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
