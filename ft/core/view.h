/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer of the program's, as a call names it: where it is, how many elements, of what type. All
   that the engine does with the program's memory is said here, in packed bytes: [from, from + n) of
   the elements as they stand in a message or a record, side by side and in order. Where a packed
   byte is in memory only view.h and view.c know (scripts/layers.table, [names]).

   All types are contiguous so far: a packed byte is where it is in memory. */
#ifndef FT_CORE_VIEW_H
#define FT_CORE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ft/ft.h"
#include "ft/shm/word.h"

/* Of what a gather receives: a part from each rank. */
struct ft_parts {
    uint32_t n;
    const int *counts, *displs;    /* of each, in elements; NULL: alike, and side by side */
};

struct ft_view {
    char *program_base;            /* NULL: there is no buffer */
    uint64_t count;                /* elements; of several parts, of each of them */
    const struct ft_parts *parts;  /* NULL: it is one */
    struct ft_type type;
};

/* Of one part. The engine writes only to what the program receives into. */
static inline struct ft_view ft_view_of(const void *buffer, uint64_t count, struct ft_type type)
{
    return (struct ft_view){ .program_base = (char *)buffer, .count = count, .type = type };
}

static inline bool ft_view_exists(const struct ft_view *v) { return v->program_base; }

/* The same buffer: a call in place. */
static inline bool ft_view_same(const struct ft_view *v, const struct ft_view *w)
{
    return v->program_base == w->program_base;
}

/* Its parts differ in length, and need not lie side by side: an allgatherv's. */
static inline bool ft_view_is_uneven(const struct ft_view *v)
{
    return v->parts && v->parts->counts;
}

/* Part r, as a view of its own. */
static inline struct ft_view ft_view_part(const struct ft_view *v, uint32_t r)
{
    bool uneven = ft_view_is_uneven(v);
    int64_t at = uneven ? v->parts->displs[r] : (int64_t)(r * v->count);
    char *base = v->program_base ? v->program_base + at * (int64_t)v->type.elem : NULL;

    return ft_view_of(base, uneven ? (uint64_t)v->parts->counts[r] : v->count, v->type);
}

/* Packed bytes of a part, and of all parts together. */
static inline uint64_t ft_view_part_bytes(const struct ft_view *v, uint32_t r)
{
    return (ft_view_is_uneven(v) ? (uint64_t)v->parts->counts[r] : v->count) * v->type.elem;
}

uint64_t ft_view_bytes(const struct ft_view *v);

/* All packed bytes in order, in pieces that lie side by side in memory: an allgatherv's parts, one
   by one, others as a whole. */
static inline uint32_t ft_view_pieces(const struct ft_view *v)
{
    return ft_view_is_uneven(v) ? v->parts->n : 1;
}

struct ft_view ft_view_piece(const struct ft_view *v, uint32_t i);

/* ---- below: of views in one piece ---- */

/* Where the packed bytes from `from` on are, if they lie side by side in memory too, as they do of
   all types so far; else NULL, and who asks goes by a copy. For operators that work in the
   program's memory (predefined ones have contiguous types only), sockets, and reading a file. */
static inline char *ft_view_direct(const struct ft_view *v, uint64_t from)
{
    return v->program_base ? v->program_base + from : NULL;
}

/* Packed bytes out of the program's memory: to memory that others read after a later publication
   (ft_fill and its kin, ft/shm/word.h), or to private memory. */
static inline void ft_view_fill_past(const struct ft_view *v, uint64_t from, uint64_t n, void *to,
                                     bool past_cache)
{
    ft_fill_past(to, v->program_base + from, n, past_cache);
}

static inline void ft_view_fill_unordered(const struct ft_view *v, uint64_t from, uint64_t n,
                                          void *to, bool past_cache)
{
    ft_fill_unordered(to, v->program_base + from, n, past_cache);
}

static inline void ft_view_fill(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    ft_view_fill_past(v, from, n, to, false);
}

static inline void ft_view_pack(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    memcpy(to, v->program_base + from, n);
}

/* Packed bytes into the program's memory. */
static inline void ft_view_unpack(const struct ft_view *v, uint64_t from, uint64_t n,
                                  const void *source)
{
    memcpy(v->program_base + from, source, n);
}

/* The same, and to the log as well: past_log: past the cache, ordered before what follows
   ft_copy_order(true). */
void ft_view_unpack_logged(const struct ft_view *v, uint64_t from, uint64_t n, const void *source,
                           void *log, bool past_log);

/* From one buffer to another, which may be the same one. */
void ft_view_move(const struct ft_view *to, const struct ft_view *v, uint64_t from, uint64_t n,
                  bool past_cache);

/* ft_hash_elements of all elements. */
uint64_t ft_view_hash(const struct ft_view *v);

/* ---- of any ---- */

/* *bytes of memory of which receiving into v overwrites each one, and of which none is in `given`.
   NULL: nothing is known. A snapshot leaves it out: a byte too many is the program's data lost. */
void *ft_view_overwritten(const struct ft_view *v, const struct ft_view *given, uint64_t *bytes);

#endif
