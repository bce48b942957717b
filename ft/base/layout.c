/* SPDX-License-Identifier: BSD-3-Clause */
/* The work is done in copy_blocks: a part of bytes, or many elements that are each one block. What
   begins or ends within an element or a block goes by copy_some. */
#include "ft/base/layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

struct ft_layout *ft_layout_new(uint64_t parts, int64_t extent)
{
    struct ft_layout *l = malloc(sizeof *l + parts * sizeof *l->parts);

    if (l)
        *l = (struct ft_layout){ .references = 1, .extent = extent };
    return l;
}

static uint64_t block_bytes(const struct ft_layout_part *p)
{
    return p->of ? p->n * p->of->packed : p->n;
}

void ft_layout_add(struct ft_layout *l, struct ft_layout_part part)
{
    part.of = ft_layout_hold(part.of);
    part.before = l->packed;
    l->packed += part.blocks * block_bytes(&part);
    l->parts[l->n_parts++] = part;
}

struct ft_layout *ft_layout_hold(const struct ft_layout *l)
{
    struct ft_layout *held = (struct ft_layout *)(uintptr_t)l;

    if (held)
        held->references++;
    return held;
}

void ft_layout_release(const struct ft_layout *l)
{
    struct ft_layout *held = (struct ft_layout *)(uintptr_t)l;

    if (!held || --held->references > 0)
        return;
    for (uint64_t i = 0; i < held->n_parts; i++)
        ft_layout_release(held->parts[i].of);
    free(held);
}

/* Elements of addresses begin at NULL, where C has no arithmetic. */
static inline char *moved(char *memory, int64_t by)
{
    return (char *)((uintptr_t)memory + (uint64_t)by);
}

/* Blocks of a size that the compiler knows become plain loads and stores, of which a core does several
   at a time: addresses follow from i, not one from the other. */
#define BLOCKS(width)                                                                   \
    _Pragma("GCC unroll 4")                                                             \
    for (uint64_t i = 0; i < blocks; i++) {                                             \
        if (unpack)                                                                     \
            memcpy(moved(memory, (int64_t)i * stride), packed + i * (width), width);    \
        else                                                                            \
            memcpy(packed + i * (width), moved(memory, (int64_t)i * stride), width);    \
    }                                                                                   \
    packed += blocks * (width);

static inline __attribute__((always_inline)) char *copy_blocks(char *memory, int64_t stride,
                                                               uint64_t blocks, uint64_t width,
                                                               char *packed, bool unpack)
{
    switch (width) {
    case 1: BLOCKS(1) break;
    case 2: BLOCKS(2) break;
    case 4: BLOCKS(4) break;
    case 8: BLOCKS(8) break;
    case 12: BLOCKS(12) break;
    case 16: BLOCKS(16) break;
    case 24: BLOCKS(24) break;
    case 32: BLOCKS(32) break;
    default: BLOCKS(width) break;
    }
    return packed;
}

/* ---- whole elements; each returns where the packed bytes go on ---- */

static char *pack_many(const struct ft_layout *l, uint64_t count, char *memory, char *packed);
static char *unpack_many(const struct ft_layout *l, uint64_t count, char *memory, char *packed);

/* `blocks` of the part's, the first of which is there. */
static inline __attribute__((always_inline)) char *copy_part(const struct ft_layout_part *p,
                                                             char *memory, uint64_t blocks,
                                                             char *packed, bool unpack)
{
    if (!p->of)
        return copy_blocks(memory, p->stride, blocks, p->n, packed, unpack);
    for (uint64_t i = 0; i < blocks; i++, memory = moved(memory, p->stride))
        packed = (unpack ? unpack_many : pack_many)(p->of, p->n, memory, packed);
    return packed;
}

static inline __attribute__((always_inline)) char *copy_many(const struct ft_layout *l,
                                                             uint64_t count, char *memory,
                                                             char *packed, bool unpack)
{
    const struct ft_layout_part *p = l->parts;

    if (l->n_parts == 1 && p->blocks == 1 && !p->of)
        return copy_blocks(moved(memory, p->at), l->extent, count, p->n, packed, unpack);
    for (uint64_t i = 0; i < count; i++, memory = moved(memory, l->extent))
        for (uint64_t k = 0; k < l->n_parts; k++)
            packed = copy_part(&p[k], moved(memory, p[k].at), p[k].blocks, packed, unpack);
    return packed;
}

static char *pack_many(const struct ft_layout *l, uint64_t count, char *memory, char *packed)
{
    return copy_many(l, count, memory, packed, false);
}

static char *unpack_many(const struct ft_layout *l, uint64_t count, char *memory, char *packed)
{
    return copy_many(l, count, memory, packed, true);
}

/* ---- from anywhere, and so many bytes; packed: where the first of them is ---- */

static void copy(const struct ft_layout *l, char *memory, uint64_t from, uint64_t n, char *packed,
                 bool unpack);

/* Within one block. */
static void copy_in_block(const struct ft_layout_part *p, char *memory, uint64_t from, uint64_t n,
                          char *packed, bool unpack)
{
    if (p->of)
        copy(p->of, memory, from, n, packed, unpack);
    else if (unpack)
        memcpy(moved(memory, (int64_t)from), packed, n);
    else
        memcpy(packed, moved(memory, (int64_t)from), n);
}

/* Within one part of the element at `memory`. */
static void copy_in_part(const struct ft_layout_part *p, char *memory, uint64_t from, uint64_t n,
                         char *packed, bool unpack)
{
    uint64_t block = block_bytes(p), begins = from % block, whole;

    memory = moved(memory, p->at + (int64_t)(from / block) * p->stride);
    if (begins) {
        uint64_t first = ft_min(block - begins, n);

        copy_in_block(p, memory, begins, first, packed, unpack);
        memory = moved(memory, p->stride);
        packed += first;
        n -= first;
    }
    whole = n / block;
    if (unpack)
        packed = copy_part(p, memory, whole, packed, true);
    else
        packed = copy_part(p, memory, whole, packed, false);
    if (n % block)
        copy_in_block(p, moved(memory, (int64_t)whole * p->stride), 0, n % block, packed, unpack);
}

/* The part that has packed byte `from`. */
static uint64_t part_of(const struct ft_layout *l, uint64_t from)
{
    uint64_t low = 0, high = l->n_parts;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (l->parts[middle].before <= from)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Within the element at `memory`. */
static void copy_some(const struct ft_layout *l, char *memory, uint64_t from, uint64_t n,
                      char *packed, bool unpack)
{
    for (uint64_t k = n ? part_of(l, from) : 0; n > 0; k++) {
        const struct ft_layout_part *p = &l->parts[k];
        uint64_t begins = from - p->before;
        uint64_t some = ft_min(n, p->blocks * block_bytes(p) - begins);

        copy_in_part(p, memory, begins, some, packed, unpack);
        from += some;
        packed += some;
        n -= some;
    }
}

static void copy(const struct ft_layout *l, char *memory, uint64_t from, uint64_t n, char *packed,
                 bool unpack)
{
    uint64_t begins, whole;

    if (from == 0 && n == l->packed) { /* one element, without divisions */
        (unpack ? unpack_many : pack_many)(l, 1, memory, packed);
        return;
    }
    begins = from % l->packed;
    memory = moved(memory, (int64_t)(from / l->packed) * l->extent);
    if (begins) {
        uint64_t first = ft_min(l->packed - begins, n);

        copy_some(l, memory, begins, first, packed, unpack);
        memory = moved(memory, l->extent);
        packed += first;
        n -= first;
    }
    whole = n / l->packed;
    if (whole > 0)
        packed = (unpack ? unpack_many : pack_many)(l, whole, memory, packed);
    copy_some(l, moved(memory, (int64_t)whole * l->extent), 0, n % l->packed, packed, unpack);
}

void ft_layout_pack(const struct ft_layout *l, const void *memory, uint64_t from, uint64_t n,
                    void *packed)
{
    char *data = (char *)(uintptr_t)memory;

    if (l)
        copy(l, data, from, n, packed, false);
    else if (n)
        memcpy(packed, data + from, n);
}

void ft_layout_unpack(const struct ft_layout *l, void *memory, uint64_t from, uint64_t n,
                      const void *packed)
{
    char *source = (char *)(uintptr_t)packed;

    if (l)
        copy(l, memory, from, n, source, true);
    else if (n)
        memcpy((char *)memory + from, source, n);
}
