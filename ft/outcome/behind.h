/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of libraries other than the C library: a program may have several of them, each with its own users. */
#ifndef FT_OUTCOME_BEHIND_H
#define FT_OUTCOME_BEHIND_H

#include <stdint.h>

/* The function of that name that the code at `caller` would call if this library had none. No such: the process ends. */
void *ft_behind(const char *name, uintptr_t caller);

/* The code that caller is in. */
void ft_behind_range(uintptr_t caller, uintptr_t *from, uintptr_t *bytes);

#endif
