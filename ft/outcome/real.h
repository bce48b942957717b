/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library's own functions, behind those of this library that have their names. Found when the first is needed: a program's
   constructors may call before ours has run. */
#ifndef FT_OUTCOME_REAL_H
#define FT_OUTCOME_REAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "ft/outcome/real_names.h"

struct ft_real {
#define X(name) __typeof__(&name) name;
    FT_REAL_NAMES(X)
#undef X
};

extern struct ft_real ft_real_table;
extern bool ft_real_ready;   /* they are found, and nobody looks */

void ft_real_find(void);

/* Called in front of each of them from now on; NULL: nobody looks any more. */
void ft_real_watch(void (*look)(void));

/* Of the calls that the kernel counts as writes (syscw of /proc/PID/io) each is counted before it is made: those above are, these are made without
   them. `writes` NULL: nobody counts, as in a child. */
extern _Atomic uint64_t *ft_real_writes;

static inline void ft_real_count_write(void)
{
    if (ft_real_writes)
        atomic_fetch_add_explicit(ft_real_writes, 1, memory_order_relaxed);
}

/* While other threads stand still: what has been found before, and nobody looks (a look may wait for the dynamic linker's lock). */
static inline const struct ft_real *ft_real_found(void) { return &ft_real_table; }

/* CLOCK_MONOTONIC, then. */
static inline uint64_t ft_real_clock_ns(void)
{
    struct timespec now;

    ft_real_found()->clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline const struct ft_real *ft_real(void)
{
    if (__builtin_expect(!ft_real_ready, 0))
        ft_real_find();
    return &ft_real_table;
}

#endif
