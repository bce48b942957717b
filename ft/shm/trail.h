/* SPDX-License-Identifier: BSD-3-Clause */
/* A published call: written by one rank, read by anybody at any moment (RULE 9). */
#ifndef FT_SHM_TRAIL_H
#define FT_SHM_TRAIL_H

#include <stdbool.h>

#include "ft/shm/layout.h"
#include "ft/shm/word.h"

/* The operation that begins with unit `first`. */
static inline void ft_trail_write(struct ft_trail *t, uint64_t first, const struct ft_sig *sig, uint64_t site)
{
    uint64_t w[4];

    memcpy(w, sig, sizeof w);
    /* Out of use first: a reader that finds its unit number on both sides of the words may trust them. */
    ft_note(&t->unit, 0);
    atomic_thread_fence(memory_order_release);
    for (int i = 0; i < 4; i++)
        atomic_store_explicit(&t->sig[i], w[i], memory_order_relaxed);
    atomic_store_explicit(&t->site, site, memory_order_relaxed);
    ft_publish(&t->unit, first + 1);
}

/* Does it say something about the operation that began with `first`? What is being replaced while we read it is what
   we came too late for. */
static inline bool ft_trail_read(const struct ft_trail *t, uint64_t first, struct ft_sig *sig, uint64_t *site)
{
    uint64_t w[4];

    if (ft_look(&t->unit) != first + 1)
        return false;
    for (int i = 0; i < 4; i++)
        w[i] = ft_peek(&t->sig[i]);
    *site = ft_peek(&t->site);
    /* acquire on the second look only orders what follows it; the fence keeps the reads above before it */
    atomic_thread_fence(memory_order_acquire);
    if (ft_look(&t->unit) != first + 1)
        return false;
    memcpy(sig, w, sizeof *sig);
    return true;
}

#endif
