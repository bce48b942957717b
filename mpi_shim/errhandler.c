/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes and strings (MPI 3.1 sections 8.3-8.5). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/error_added.h"
#include "mpi_shim/error_class.h"
#include "mpi_shim/shim.h"

static MPI_Errhandler unused;   /* freed handlers, see handle.h */

#define X(name, text) [name] = #name,
static const char *const names[] = {SHIM_CLASSES(X)};
#undef X
#define X(name, text) [name] = text,
static const char *const texts[] = {SHIM_CLASSES(X)};
#undef X
enum { CLASSES = sizeof names / sizeof *names };

int shim_error_class(int code)
{
    if (shim_missing_text(code))
        return MPI_ERR_UNSUPPORTED_OPERATION;
    if (shim_added_text(code))
        return shim_added_class(code);
    return code >= 0 && code < CLASSES && names[code] ? code : -1;
}

const char *shim_class_name(int code)
{
    int class = shim_error_class(code);

    if (class < 0)
        return NULL;
    return shim_added_name(class) ? shim_added_name(class) : names[class];
}

const char *shim_error_text(int code)
{
    if (shim_error_class(code) < 0)
        return NULL;
    if (shim_missing_text(code))
        return shim_missing_text(code);
    return shim_added_text(code) ? shim_added_text(code) : texts[code];
}

static bool is_handler(MPI_Errhandler handler)
{
    return handler && handler->magic == SHIM_ERRHANDLER;
}

void shim_errhandler_release(MPI_Errhandler handler)
{
    if (!handler || handler->predefined || --handler->references > 0)
        return;
    shim_errhandler_unnumber(handler);
    handler->magic = 0;
    handler->next_free = unused;
    unused = handler;
}

MPI_Errhandler shim_errhandler_new(int language)
{
    MPI_Errhandler made = unused;

    if (made)
        unused = made->next_free;
    else
        made = malloc(sizeof *made);
    if (made)
        *made = (struct ompi_errhandler_t){.magic = SHIM_ERRHANDLER, .does = SHIM_CALL, .references = 1, .language = language};
    return made;
}

MPI_Errhandler shim_errhandler_hold(MPI_Errhandler handler)
{
    if (handler && !handler->predefined)
        handler->references++;
    return handler;
}

SHIM_ALIAS(int, Comm_create_errhandler, (MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler));
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    SHIM_ENTER();
    const char *me = "Comm_create_errhandler";
    MPI_Errhandler made;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!function || !errhandler)
        return shim_raise(NULL, me, MPI_ERR_ARG, "%s is a null pointer", function ? "errhandler" : "the function");
    made = shim_errhandler_new(SHIM_C);
    if (!made)
        return shim_raise(NULL, me, MPI_ERR_NO_MEM, "no memory for an error handler");
    made->function = function;
    *errhandler = made;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler));
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    SHIM_ENTER();
    const char *me = "Comm_set_errhandler";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!is_handler(errhandler))
        return shim_raise(comm, me, MPI_ERR_ARG, "%p is no error handler", (void *)errhandler);
    shim_errhandler_hold(errhandler);
    shim_errhandler_release(comm->errhandler);
    comm->errhandler = errhandler;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler));
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    SHIM_ENTER();
    const char *me = "Comm_get_errhandler";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!errhandler)
        return shim_raise(comm, me, MPI_ERR_ARG, "errhandler is a null pointer");
    *errhandler = shim_errhandler_hold(comm->errhandler ? comm->errhandler : MPI_ERRORS_ARE_FATAL);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode));
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    SHIM_ENTER();
    const char *me = "Comm_call_errhandler";

    if (!shim_comm_ok(comm))
        return shim_bad_comm(comm, me);
    if (!shim_class_name(errorcode))
        return shim_raise(comm, me, MPI_ERR_ARG, "%d is no error code", errorcode);
    if (errorcode != MPI_SUCCESS)
        shim_raise(comm, me, errorcode, "%s; raised by the program itself",
                   *shim_error_text(errorcode) ? shim_error_text(errorcode) : "an error without a text");
    return MPI_SUCCESS;
}

/* Frees the handle; the handler lives on as long as a communicator has it. */
SHIM_ALIAS(int, Errhandler_free, (MPI_Errhandler *errhandler));
int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    SHIM_ENTER();
    const char *me = "Errhandler_free";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!errhandler || !is_handler(*errhandler))
        return shim_raise(NULL, me, MPI_ERR_ARG, errhandler ? "this is no error handler" : "errhandler is a null pointer");
    shim_errhandler_release(*errhandler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Errhandler_create, (MPI_Handler_function *function, MPI_Errhandler *errhandler));
int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    SHIM_ENTER();

    return PMPI_Comm_create_errhandler(function, errhandler);
}

SHIM_ALIAS(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler));
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    SHIM_ENTER();

    return PMPI_Comm_set_errhandler(comm, errhandler);
}

SHIM_ALIAS(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler));
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    SHIM_ENTER();

    return PMPI_Comm_get_errhandler(comm, errhandler);
}

/* These two may be called at any time, as MPI 4.0 has it. */
SHIM_ALIAS(int, Error_class, (int errorcode, int *errorclass));
int PMPI_Error_class(int errorcode, int *errorclass)
{
    SHIM_ENTER();

    if (!errorclass || !shim_class_name(errorcode))
        return shim_raise(NULL, "Error_class", MPI_ERR_ARG,
                          errorclass ? "%d is no error code" : "errorclass is a null pointer (code %d)", errorcode);
    *errorclass = shim_error_class(errorcode);
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Error_string, (int errorcode, char *string, int *resultlen));
int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    SHIM_ENTER();
    const char *text;

    if (!string || !resultlen || !shim_class_name(errorcode))
        return shim_raise(NULL, "Error_string", MPI_ERR_ARG,
                          string && resultlen ? "%d is no error code" : "a null pointer to write to (code %d)", errorcode);
    text = errorcode == MPI_ERR_OTHER && *shim_other_reason() ? shim_other_reason() : shim_error_text(errorcode);
    if (shim_added_text(errorcode))
        strcpy(string, text);
    else
        snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s", shim_class_name(errorcode), text);
    *resultlen = (int)strlen(string);
    return MPI_SUCCESS;
}
