/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library's own functions, behind those of this library that have their names. Found when the first is needed: a program's
   constructors may call before ours has run. */
#ifndef FT_OUTCOME_REAL_H
#define FT_OUTCOME_REAL_H

#include "ft/outcome/real_names.h"

struct ft_real {
#define X(name) __typeof__(&name) name;
    FT_REAL_NAMES(X)
#undef X
};

extern struct ft_real ft_real_table;
extern bool ft_real_found;

void ft_real_find(void);

static inline const struct ft_real *ft_real(void)
{
    if (__builtin_expect(!ft_real_found, 0))
        ft_real_find();
    return &ft_real_table;
}

#endif
