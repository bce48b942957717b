/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of an error: from the function that found it to the communicator's handler, and, if that is
   MPI_ERRORS_ARE_FATAL, to one line for the user and the end of the job. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "mpi_shim/shim.h"

struct shim shim = {.stage = SHIM_BEFORE, .rank = -1};

enum { LINE = FT_ERROR_TEXT };

/* Exit codes that ftrun takes for a signal (129-159) are not special here: a job ended by ft_end stays ended. */
static int exit_code(int code)
{
    return (code & 255) ? (code & 255) : 1;
}

/* What was printed before stands in the output before the line that says why it ends. Not if a thread is printing: it may never go on. */
static void flush_output(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
}

void shim_end(int code, const char *format, ...)
{
    char line[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    flush_output();
    ft_end(shim.ft, exit_code(code), line);
}

void shim_where(char *text, size_t size)
{
    char host[HOST_NAME_MAX + 1];

    ft_host(host, sizeof host);
    if (shim.rank < 0)
        snprintf(text, size, "process %d on %s", (int)getpid(), host);
    else
        snprintf(text, size, "rank %d on %s", shim.rank, host);
}

static MPI_Errhandler handler_of(MPI_Comm comm)
{
    if (shim.stage != SHIM_RUNNING)
        return MPI_ERRORS_ARE_FATAL;
    if (!comm || comm->magic != SHIM_COMM)
        comm = MPI_COMM_WORLD;
    return comm->errhandler ? comm->errhandler : MPI_ERRORS_ARE_FATAL;
}

bool shim_errors_are_fatal(void) { return handler_of(MPI_COMM_WORLD)->does == SHIM_FATAL; }

/* In the language it was written in. */
static void call(MPI_Errhandler handler, MPI_Comm comm, int code, const char *line)
{
    uint32_t depth = shim_let();
    MPI_Fint number;

    if (!comm || comm->magic != SHIM_COMM)
        comm = MPI_COMM_WORLD;
    switch (handler->language) {
    case SHIM_C:
        handler->function(&comm, &code, line);
        break;
    case SHIM_CXX:
        handler->cxx(&comm, &code, line, (void (*)(void))handler->function);
        break;
    case SHIM_FORTRAN:
        number = PMPI_Comm_c2f(comm);
        handler->in_fortran(&number, &code);
        break;
    }
    shim_take(depth);
}

const char *shim_prefix(const char *function)
{
    if (!strncmp(function, "OMPI_", 5))
        return "";
    return function[1] == '_' ? "MPI" : "MPI_";
}

/* Of the last MPI_ERR_OTHER of this thread: its text says nothing, and MPI_ERRORS_RETURN tells no more than the code. */
static _Thread_local char other[MPI_MAX_ERROR_STRING];

const char *shim_other_reason(void) { return other; }

static void raise_to(MPI_Errhandler handler, MPI_Comm comm, const char *function, int code, const char *format, va_list args)
{
    char what[LINE / 2], line[LINE], place[SHIM_PLACE];
    va_list again;

    if (code == MPI_ERR_OTHER) {
        va_copy(again, args);
        vsnprintf(other, sizeof other, format, again);
        va_end(again);
    }
    if (handler->does == SHIM_RETURN)
        return;
    vsnprintf(what, sizeof what, format, args);
    shim_where(place, sizeof place);
    snprintf(line, sizeof line, "%s%s, %s: %s: %s", shim_prefix(function), function, place, shim_class_name(code), what);
    if (handler->does == SHIM_FATAL)
        shim_end(shim_error_class(code), "%s. The error handler is MPI_ERRORS_ARE_FATAL: the job ends", line);
    call(handler, comm, code, line);
}

int shim_raise(MPI_Comm comm, const char *function, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    raise_to(handler_of(comm), comm, function, code, format, args);
    va_end(args);
    return code;
}

int shim_raise_to(MPI_Errhandler handler, MPI_Comm comm, const char *function, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    raise_to(handler, comm, function, code, format, args);
    va_end(args);
    return code;
}

void shim_engine_failed(int err, const struct ft_error *e)
{
    shim_end(err == FT_ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER, "%s", e->text);
}

int shim_bad_comm(MPI_Comm comm, const char *function)
{
    int err = shim_check_running(function);

    if (err)
        return err;
    if (comm == NULL || comm == MPI_COMM_NULL)
        return shim_raise(NULL, function, MPI_ERR_COMM, "the communicator is %s", comm ? "MPI_COMM_NULL" : "a null pointer");
    return shim_raise(NULL, function, MPI_ERR_COMM, "%p is not a communicator; was it freed?", (void *)comm);
}

int shim_bad_time(const char *function)
{
    return shim_raise(NULL, function, MPI_ERR_OTHER, shim.stage == SHIM_BEFORE ? "called before MPI_Init; call that first"
                                                                              : "called after MPI_Finalize");
}

int shim_bad_count(MPI_Comm comm, const char *function, const char *what, long long count)
{
    return shim_raise(comm, function, MPI_ERR_COUNT, "%s is %lld; it must be 0 or more", what, count);
}

int shim_bad_length(MPI_Comm comm, const char *function, const char *what, long long count, MPI_Datatype type)
{
    return shim_raise(comm, function, MPI_ERR_COUNT, "%s is %lld of %llu bytes each, more than memory can be", what, count,
                      (unsigned long long)type->extent);
}

int shim_bad_type(MPI_Comm comm, const char *function, MPI_Datatype type)
{
    if (!type || type == MPI_DATATYPE_NULL)
        return shim_raise(comm, function, MPI_ERR_TYPE, "the datatype is %s", type ? "MPI_DATATYPE_NULL" : "a null pointer");
    if (type->predefined && type->magic == SHIM_TYPE)
        return shim_raise(comm, function, MPI_ERR_TYPE, "%s has no data; it is for MPI_Type_struct", type->name);
    if (type->predefined)
        return shim_raise(comm, function, MPI_ERR_TYPE, "%s does not exist on this platform", type->name);
    if (type->magic != SHIM_TYPE)
        return shim_raise(comm, function, MPI_ERR_TYPE, "%p is not a datatype; was it freed?", (void *)type);
    return shim_raise(comm, function, MPI_ERR_TYPE, "the datatype is not committed; call MPI_Type_commit first");
}

int shim_bad_op(MPI_Comm comm, const char *function, MPI_Op op)
{
    if (!op || op == MPI_OP_NULL)
        return shim_raise(comm, function, MPI_ERR_OP, "the operation is %s", op ? "MPI_OP_NULL" : "a null pointer");
    return shim_raise(comm, function, MPI_ERR_OP, "%p is not a reduction operation; was it freed?", (void *)op);
}

int shim_bad_root(MPI_Comm comm, const char *function, int root)
{
    return shim_raise(comm, function, MPI_ERR_ROOT, "the root is %d; %s has the ranks 0 to %d", root,
                      *comm->name ? comm->name : "the communicator", comm->size - 1);
}

int shim_bad_buffer(MPI_Comm comm, const char *function, const char *what, uint64_t bytes)
{
    return shim_raise(comm, function, MPI_ERR_BUFFER, "%s is a null pointer for %llu byte%s", what,
                      (unsigned long long)bytes, ft_plural(bytes));
}
