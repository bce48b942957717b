/* SPDX-License-Identifier: BSD-3-Clause */
/* Code by its address; and functions of libraries other than the C library: a program may have several of them, each with its own users. */
#ifndef FT_OUTCOME_BEHIND_H
#define FT_OUTCOME_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

/* What an address lies in: the program or a library, or a part of that. */
struct ft_code {
    uintptr_t from, bytes;
    uintptr_t base;      /* of all of it */
    const char *name;    /* of its file. "": the program */
};

/* False: in neither, as code that is made at run time. */
bool ft_code_at(uintptr_t address, struct ft_code *code);

/* The function of that name that the code at `caller` would call if this library had none. No such: the process ends. */
void *ft_behind(const char *name, uintptr_t caller);

#endif
