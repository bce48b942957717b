/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of communicators and datatypes (MPI 3.1 section 6.8). */
#include <stdio.h>

#include "mpi_shim/shim.h"

static int get(MPI_Comm comm, const char *me, const char *from, char *name, int *length)
{
    if (!name || !length)
        return shim_raise(comm, me, MPI_ERR_ARG, "a null pointer to write to");
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", from);
    return MPI_SUCCESS;
}

/* Too long a name is cut. */
static int put(MPI_Comm comm, const char *me, const char **place, char *label, const char *name)
{
    if (!name)
        return shim_raise(comm, me, MPI_ERR_ARG, "the name is a null pointer");
    if (name != label)
        snprintf(label, MPI_MAX_OBJECT_NAME, "%s", name);
    *place = label;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_get_name, (MPI_Comm comm, char *name, int *resultlen));
int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen)
{
    SHIM_ENTER();

    return shim_comm_ok(comm) ? get(comm, "Comm_get_name", comm->name, name, resultlen) : shim_bad_comm(comm, "Comm_get_name");
}

SHIM_ALIAS(int, Comm_set_name, (MPI_Comm comm, const char *name));
int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    SHIM_ENTER();

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, "Comm_set_name");
    return put(comm, "Comm_set_name", &comm->name, comm->label, name);
}

static int check_type(const char *me, MPI_Datatype type)
{
    int err = shim_check_running(me);

    return err ? err : type && type != MPI_DATATYPE_NULL && (type->predefined || type->magic == SHIM_TYPE) ? MPI_SUCCESS
                                                                                                  : shim_bad_type(NULL, me, type);
}

SHIM_ALIAS(int, Type_get_name, (MPI_Datatype datatype, char *name, int *resultlen));
int PMPI_Type_get_name(MPI_Datatype datatype, char *name, int *resultlen)
{
    SHIM_ENTER();
    int err = check_type("Type_get_name", datatype);

    return err ? err : get(NULL, "Type_get_name", datatype->name, name, resultlen);
}

SHIM_ALIAS(int, Type_set_name, (MPI_Datatype datatype, const char *name));
int PMPI_Type_set_name(MPI_Datatype datatype, const char *name)
{
    SHIM_ENTER();
    int err = check_type("Type_set_name", datatype);

    return err ? err : put(NULL, "Type_set_name", &datatype->name, datatype->label, name);
}
