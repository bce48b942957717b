/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that are still to be written: each says its name, by the error handler, by an error code of its own and in a line
   of its own, and never succeeds. Their arguments are not declared: all are integers or pointers, so the one after the other is
   found as an argument of a variadic function is, in the calling conventions of Linux. */
#include "mpi_shim/missing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi_shim/shim.h"

enum { FIRST_CODE = MPI_ERR_LASTCODE + 1 };
_Static_assert(SHIM_LAST_CODE == FIRST_CODE + SHIM_MISSINGS - 1, "each has its code");

#define BEFORE "ftmpi has no "
#define AFTER " yet; run this program with another MPI"
static const struct {
    const char *name, *text;
} words[SHIM_MISSINGS] = {
#define WORDS(name) {name, BEFORE name AFTER}
#define X(name) [SHIM_NO_##name] = WORDS("MPI_" #name),
    SHIM_MISSING(X)
#undef X
#define X(name) [SHIM_NO_##name] = WORDS("MPIX_" #name),
    SHIM_MISSING_EXTENSIONS(X)
#undef X
#define X(name) [SHIM_NO_##name] = WORDS(#name),
    SHIM_MISSING_OMPI(X)
#undef X
};

static const struct {
    enum shim_missing function;
    int argument;
    void *null;
} gives[] = {
#define X(name, argument, null) {SHIM_NO_##name, argument, null},
    SHIM_MISSING_GIVES(X)
#undef X
};

const char *shim_missing_text(int code)
{
    return code >= FIRST_CODE && code <= SHIM_LAST_CODE ? words[code - FIRST_CODE].text : NULL;
}

/* `argument` is the first one, the rest are in `more`. */
static void give_null(enum shim_missing function, void *argument, va_list more)
{
    int at = 0;

    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++) {
        if (gives[i].function != function)
            continue;
        for (; at < gives[i].argument; at++)
            argument = va_arg(more, void *);
        if (argument)
            *(void **)argument = gives[i].null;
    }
}

/* A program that has errors returned may never look at one. */
static void tell(enum shim_missing function)
{
    char place[SHIM_PLACE];

    if (shim.told[function] || shim_errors_are_fatal())
        return;
    shim.told[function] = true;
    shim_where(place, sizeof place);
    fprintf(stderr, "ftmpi: %s: %s fails: %s\n", place, words[function].name, words[function].text);
}

/* As functions are named to shim_raise. */
static const char *without_prefix(const char *name)
{
    return !strncmp(name, "MPI_", 4) ? name + 4 : !strncmp(name, "MPIX_", 5) ? name + 3 : name;
}

static __attribute__((cold)) int missing(enum shim_missing function, void *first, va_list more)
{
    const char *name = without_prefix(words[function].name);
    int err = shim_check_running(name);

    if (err)
        return err;
    give_null(function, first, more);
    tell(function);
    return shim_raise(NULL, name, FIRST_CODE + (int)function, "%s", words[function].text);
}

#define FUNCTION(symbol, function)                                                          \
    FTMPI_API int symbol(void *first, ...);                                                 \
    int symbol(void *first, ...)                                                            \
    {                                                                                       \
        va_list more;                                                                       \
        int err;                                                                            \
                                                                                            \
        va_start(more, first);                                                              \
        err = missing(function, first, more);                                               \
        va_end(more);                                                                       \
        return err;                                                                         \
    }

#define X(name)                                                                                 \
    FTMPI_API int MPI_##name(void *first, ...) __attribute__((weak, alias("PMPI_" #name)));     \
    FUNCTION(PMPI_##name, SHIM_NO_##name)
SHIM_MISSING(X)
#undef X

#define X(name)                                                                                 \
    FTMPI_API int MPIX_##name(void *first, ...) __attribute__((weak, alias("PMPIX_" #name)));   \
    FUNCTION(PMPIX_##name, SHIM_NO_##name)
SHIM_MISSING_EXTENSIONS(X)
#undef X

/* Open MPI's mpi-ext.h. */
FTMPI_API int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return 0; }
#define X(name) FUNCTION(name, SHIM_NO_##name)
SHIM_MISSING_OMPI(X)
#undef X

#define X(name)                                                                     \
    FTMPI_API int PMPI_##name(void);                                                \
    FTMPI_API int MPI_##name(void) __attribute__((weak, alias("PMPI_" #name)));     \
    int PMPI_##name(void) { return MPI_T_ERR_CANNOT_INIT; }
SHIM_MISSING_TOOLS(X)
#undef X
