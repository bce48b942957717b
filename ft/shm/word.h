/* SPDX-License-Identifier: BSD-3-Clause */
/* Every access to shared memory goes through these functions (DESIGN section 8). One writer per word, so
   there is no read-modify-write here at all: the one there is rings a doorbell (ft/shm/doorbell.c).

   Orders, and why each is enough:
     publish   release: whoever sees the value sees what was written before it.
     announce  sequentially consistent: like publish, and ordered before the load that follows it: of the sleep flags (RULE 12; without
               that the store can sit in the store buffer while the flag is read, and the sleeper and its waker miss each other; ranks in
               a hurry use ft_wait_announce), or of what another party announces.
     look      acquire: pairs with publish and announce.
     ask       sequentially consistent: of two parties that each announce something and then ask for the other's, one at least sees it.
     peek      relaxed: this rank's own words, which nobody else writes, and hints. */
#ifndef FT_SHM_WORD_H
#define FT_SHM_WORD_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/shm/point.h"

static inline uint64_t ft_look(const _Atomic uint64_t *w) { return atomic_load_explicit(w, memory_order_acquire); }
static inline uint64_t ft_peek(const _Atomic uint64_t *w) { return atomic_load_explicit(w, memory_order_relaxed); }
static inline uint32_t ft_look32(const _Atomic uint32_t *w) { return atomic_load_explicit(w, memory_order_acquire); }
static inline uint32_t ft_peek32(const _Atomic uint32_t *w) { return atomic_load_explicit(w, memory_order_relaxed); }

static inline uint64_t ft_ask(const _Atomic uint64_t *w) { return atomic_load_explicit(w, memory_order_seq_cst); }

static inline void ft_publish(_Atomic uint64_t *w, uint64_t v)
{
    ft_point_store();
    atomic_store_explicit(w, v, memory_order_release);
}

static inline void ft_publish32(_Atomic uint32_t *w, uint32_t v)
{
    ft_point_store();
    atomic_store_explicit(w, v, memory_order_release);
}

/* A word whose order does not matter: it is followed by a publish that covers it. */
static inline void ft_note(_Atomic uint64_t *w, uint64_t v)
{
    ft_point_store();
    atomic_store_explicit(w, v, memory_order_relaxed);
}

static inline void ft_announce(_Atomic uint64_t *w, uint64_t v)
{
    ft_point_store();
    atomic_store_explicit(w, v, memory_order_seq_cst);
}

/* Bytes that no other rank reads before a later publish; past_cache: nor this one soon. */
static inline void ft_fill_past(void *to, const void *from, size_t n, bool past_cache)
{
    ft_point_bulk(to, n);
    ft_copy(to, from, n, past_cache);
}

/* The same, ordered before what follows ft_copy_order(past_cache). */
static inline void ft_fill_unordered(void *to, const void *from, size_t n, bool past_cache)
{
    ft_point_bulk(to, n);
    ft_copy_unordered(to, from, n, past_cache);
}

static inline void ft_fill(void *to, const void *from, size_t n) { ft_fill_past(to, from, n, false); }

#endif
