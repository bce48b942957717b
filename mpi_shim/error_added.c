/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, codes and texts that the program adds (MPI 3.1 section 8.5). Their numbers follow those of the functions that are
   missing, in the order in which they are made. */
#include "mpi_shim/error_added.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

static struct added {
    int class;                          /* its own number, if it is one */
    char name[32];                      /* of a class that was added, in messages */
    char text[MPI_MAX_ERROR_STRING];
} *added;
static int n;

static struct added *find(int code)
{
    return code > SHIM_LAST_CODE && code - SHIM_LAST_CODE <= n ? &added[code - SHIM_LAST_CODE - 1] : NULL;
}

int shim_added_class(int code)
{
    const struct added *found = find(code);

    return found ? found->class : -1;
}

const char *shim_added_name(int code)
{
    const struct added *found = find(code);

    return found ? found->name : NULL;
}

const char *shim_added_text(int code)
{
    const struct added *found = find(code);

    return found ? found->text : NULL;
}

/* class 0: the new code is a class of its own. */
static int add(const char *me, int class, int *code)
{
    struct added *more = realloc(added, ((size_t)n + 1) * sizeof *added);

    if (!more)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for one more error code");
    added = more;
    n++;
    *code = SHIM_LAST_CODE + n;
    added[n - 1] = (struct added){.class = class ? class : *code};
    snprintf(added[n - 1].name, sizeof added->name, "error class %d", *code);
    shim_attributes_last_code(MPI_COMM_WORLD->attributes, *code);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Add_error_class, (int *errorclass));
int PMPI_Add_error_class(int *errorclass)
{
    SHIM_ENTER();
    const char *me = "Add_error_class";
    int err = shim_check_running(me);

    if (err)
        return err;
    return errorclass ? add(me, 0, errorclass) : shim_raise(NULL, me, MPI_ERR_ARG, "errorclass is a null pointer");
}

SHIM_ALIAS(int, Add_error_code, (int errorclass, int *errorcode));
int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    SHIM_ENTER();
    const char *me = "Add_error_code";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!errorcode)
        return shim_raise(NULL, me, MPI_ERR_ARG, "errorcode is a null pointer");
    if (errorclass < 0 || shim_error_class(errorclass) != errorclass)
        return shim_raise(NULL, me, MPI_ERR_ARG, "%d is no error class", errorclass);
    return add(me, errorclass, errorcode);
}

SHIM_ALIAS(int, Add_error_string, (int errorcode, const char *string));
int PMPI_Add_error_string(int errorcode, const char *string)
{
    SHIM_ENTER();
    const char *me = "Add_error_string";
    struct added *found = find(errorcode);
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!found)
        return shim_raise(NULL, me, MPI_ERR_ARG, "%d is no error code that the program has added", errorcode);
    if (!string || strlen(string) >= sizeof found->text)
        return shim_raise(NULL, me, MPI_ERR_ARG, string ? "the text is longer than MPI_MAX_ERROR_STRING" : "the text is a null pointer");
    strcpy(found->text, string);
    return MPI_SUCCESS;
}
