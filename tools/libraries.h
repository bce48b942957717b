/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries that the dynamic loader would give a program under ftrun. */
#ifndef TOOLS_LIBRARIES_H
#define TOOLS_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

struct info_library {
    char *name, *path;          /* path: empty if it is not found */
    bool ours;                  /* it is libftmpi, by whatever name */
    bool wrapper;               /* Open MPI's binding of another language, which calls libmpi */
};

struct info_libraries {
    struct info_library *list;
    size_t n, room;
    char *error;                /* what the loader complains of; NULL: nothing */
};

/* Asks the loader itself, which then runs nothing of the program. Only one that is this system's own, as for ftmpi: a program could
   bring one along. interpreter: empty for a library. -1: no memory. */
int info_libraries_read(struct info_libraries *l, const char *path, const char *interpreter);
void info_libraries_drop(struct info_libraries *l);

/* By name; NULL: there is none. */
const struct info_library *info_libraries_find(const struct info_libraries *l, const char *name);
/* The name of one with MPICH's interface; NULL: none. */
const char *info_libraries_mpich(const struct info_libraries *l);

#endif
