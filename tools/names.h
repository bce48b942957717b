/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of MPI's functions: those that ftmpi has, and those that a file wants. */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct info_list {
    char **list;
    size_t n, room;
};

struct info_names;

/* What libftmpi has; NULL: it cannot be read. */
struct info_names *info_names_ours(void);
void info_names_free(struct info_names *names);

struct info_wanted {
    const struct info_names *ours;
    unsigned there;             /* functions of MPI that it wants and gets */
    struct info_list missing;   /* those that ftmpi has by name only, as C knows them */
    struct info_list unknown;   /* those that it has not even so */
    bool failed;                /* no memory */
};

/* For ft_elf_names, with a struct info_wanted. Fortran's names count as those of C that they stand for. */
void info_names_want(void *arg, const char *name, bool here);

/* "MPI_Isend, MPI_Wait", in order, cut at size. */
const char *info_names_text(struct info_list *l, char *text, size_t size);
void info_names_drop(struct info_list *l);

#endif
