/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling the cache what is going to happen to memory. No effect but on speed. */
#ifndef FT_BASE_COPY_H
#define FT_BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Like memcpy, but the destination is not read into the cache first nor kept there: for what is larger than the
   cache and not used soon. Ordered before later stores of this thread, as plain stores are. */
void ft_copy_past_cache(void *to, const void *from, size_t n);

/* The same, ordered with the next ft_copy_order(true) only: one for several of them. */
void ft_copy_past_cache_unordered(void *to, const void *from, size_t n);
void ft_copy_order(bool past_cache);

/* Like memcpy, line by line: memcpy becomes a string operation from a few KiB on, which takes two to three times as long where the lines were
   written by another core (docs/internals/sizes.md, "Reading them"). */
void ft_copy_lines(void *to, const void *from, size_t n);

/* The same, and once more to `log`, past the cache and unordered. */
void ft_copy_twice(void *to, void *log, const void *from, size_t n);

static inline void ft_copy_unordered(void *to, const void *from, size_t n, bool past_cache)
{
    if (past_cache)
        ft_copy_past_cache_unordered(to, from, n);
    else
        memcpy(to, from, n);
}

static inline void ft_copy(void *to, const void *from, size_t n, bool past_cache)
{
    if (past_cache)
        ft_copy_past_cache(to, from, n);
    else
        memcpy(to, from, n);
}

/* The n bytes at p will be written soon: their lines are fetched for writing while other work is done. Stores
   leave a core in order, so one that misses holds up the publication of all that follow it. */
static inline void ft_prefetch_write(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
#if defined(__x86_64__)
        __asm__ volatile("prefetchw %0" : : "m"(((const char *)p)[i]));
#else
        __builtin_prefetch((const char *)p + i, 1);
#endif
}

#endif
