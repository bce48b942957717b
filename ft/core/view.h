/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer of the program's, as a call names it: where it is, how many elements, of what type. All
   that the engine does with the program's memory is said here, in packed bytes: [from, from + n) of
   the elements as they stand in a message or a record, side by side and in order. Where a packed
   byte is in memory only view.h and view.c know (scripts/layers.table, [names]).

   Of a type without a layout it is where it would be packed. That is the straight way below; what has
   a layout (ft/base/layout.h) is copied element by element. Who makes a view sees to it that its
   layout lives as long. */
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
    char *program_base;            /* NULL: there is no buffer, or its layout has addresses */
    uint64_t count;                /* elements; of several parts, of each of them */
    const struct ft_parts *parts;  /* NULL: it is one */
    struct ft_type type;
};

/* Of one part. The engine writes only to what the program receives into. */
static inline struct ft_view ft_view_of(const void *buffer, uint64_t count, struct ft_type type)
{
    return (struct ft_view){ .program_base = (char *)buffer, .count = count, .type = type };
}

static inline bool ft_view_has_layout(const struct ft_view *v)
{
    return __builtin_expect(v->type.layout != NULL, 0);
}

static inline bool ft_view_exists(const struct ft_view *v)
{
    return v->program_base || ft_view_has_layout(v);
}

/* The same buffer: a call in place. */
static inline bool ft_view_same(const struct ft_view *v, const struct ft_view *w)
{
    return v->program_base == w->program_base && v->type.layout == w->type.layout;
}

/* Where element `at` of type.elem bytes is, which begins one of the layout's. */
static inline char *ft_view_element(const struct ft_view *v, int64_t at)
{
    const struct ft_layout *l = v->type.layout;
    int64_t bytes = at * (int64_t)v->type.elem;

    if (ft_view_has_layout(v))
        return (char *)((uintptr_t)v->program_base +
                        (uint64_t)(bytes / (int64_t)l->packed * l->extent));
    return v->program_base ? v->program_base + bytes : NULL;
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

    return ft_view_of(ft_view_element(v, at), uneven ? (uint64_t)v->parts->counts[r] : v->count,
                      v->type);
}

/* Packed bytes of a part, and of all parts together. */
static inline uint64_t ft_view_part_bytes(const struct ft_view *v, uint32_t r)
{
    return (ft_view_is_uneven(v) ? (uint64_t)v->parts->counts[r] : v->count) * v->type.elem;
}

uint64_t ft_view_bytes(const struct ft_view *v);

/* All packed bytes in order, in pieces of elements that lie side by side: an allgatherv's parts, one
   by one, others as a whole. */
static inline uint32_t ft_view_pieces(const struct ft_view *v)
{
    return ft_view_is_uneven(v) ? v->parts->n : 1;
}

struct ft_view ft_view_piece(const struct ft_view *v, uint32_t i);

/* ---- below: of views in one piece ---- */

/* Where the packed bytes from `from` on are, if they lie side by side in memory too; else NULL, and
   who asks goes by a copy. For operators that work in the program's memory (predefined ones have no
   layouts), sockets, and reading a file. */
static inline char *ft_view_direct(const struct ft_view *v, uint64_t from)
{
    return v->program_base && !ft_view_has_layout(v) ? v->program_base + from : NULL;
}

/* Packed bytes out of the program's memory: to memory that others read after a later publication
   (ft_fill and its kin, ft/shm/word.h), or to private memory. What has a layout goes there by plain
   stores, also where past_cache is asked for. */
void ft_view_fill_by_layout(const struct ft_view *v, uint64_t from, uint64_t n, void *to);

static inline void ft_view_fill_past(const struct ft_view *v, uint64_t from, uint64_t n, void *to,
                                     bool past_cache)
{
    if (ft_view_has_layout(v))
        ft_view_fill_by_layout(v, from, n, to);
    else
        ft_fill_past(to, v->program_base + from, n, past_cache);
}

static inline void ft_view_fill_unordered(const struct ft_view *v, uint64_t from, uint64_t n,
                                          void *to, bool past_cache)
{
    if (ft_view_has_layout(v))
        ft_view_fill_by_layout(v, from, n, to);
    else
        ft_fill_unordered(to, v->program_base + from, n, past_cache);
}

static inline void ft_view_fill(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    ft_view_fill_past(v, from, n, to, false);
}

/* The same into lines that another core has read (ft_copy_lines). */
static inline void ft_view_fill_lines(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    if (ft_view_has_layout(v)) {
        ft_view_fill_by_layout(v, from, n, to);
        return;
    }
    ft_point_bulk(to, n);
    ft_copy_lines(to, v->program_base + from, n);
}

static inline void ft_view_pack(const struct ft_view *v, uint64_t from, uint64_t n, void *to)
{
    if (ft_view_has_layout(v))
        ft_layout_pack(v->type.layout, v->program_base, from, n, to);
    else
        memcpy(to, v->program_base + from, n);
}

/* Packed bytes into the program's memory. */
static inline void ft_view_unpack(const struct ft_view *v, uint64_t from, uint64_t n,
                                  const void *source)
{
    if (ft_view_has_layout(v))
        ft_layout_unpack(v->type.layout, v->program_base, from, n, source);
    else
        memcpy(v->program_base + from, source, n);
}

/* Of what is read in pieces: so many bytes at a time go through memory of the reader's own where there
   is a layout. */
enum { FT_VIEW_STEP = 4096 };

/* The same, and to the log as well: past_log: past the cache, ordered before what follows
   ft_copy_order(true). */
void ft_view_unpack_logged(const struct ft_view *v, uint64_t from, uint64_t n, const void *source,
                           void *log, bool past_log);

/* From one buffer to another, which may be the same one. */
void ft_view_move(const struct ft_view *to, const struct ft_view *v, uint64_t from, uint64_t n,
                  bool past_cache);

/* ft_hash_elements of all elements. Of a view without a layout. */
uint64_t ft_view_hash(const struct ft_view *v);

/* ---- of any ---- */

/* *bytes of memory of which receiving into v overwrites each one, and of which none is in `given`.
   NULL: nothing is known. A snapshot leaves it out: a byte too many is the program's data lost. */
void *ft_view_overwritten(const struct ft_view *v, const struct ft_view *given, uint64_t *bytes);

#endif
