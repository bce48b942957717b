/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm does an operation, and how it is cut into units and chunks. Pure arithmetic:
   it depends on the signature and on job constants only, so that two incarnations and all ranks
   agree (RULE 8). No clock has a say in it. */
#ifndef FT_CORE_PLAN_H
#define FT_CORE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/layout.h"

/* The algorithms, each a file of its name. */
enum ft_way { FT_WAY_SHORT, FT_WAY_CHUNKED, FT_WAY_REDUNDANT, FT_WAY_PIPELINED_BCAST, FT_WAY_PIPELINED_REDUCE, FT_WAY_LOG_BCAST, FT_WAY_LOG_GATHER, FT_WAYS };

/* What ft_algorithm_plan (algorithm.h) makes of it; or, between nodes, ft/core/nodes.c. */
struct ft_plan {
    uint64_t units;
    uint64_t segment;   /* bytes of a contribution per unit; the last unit has fewer */
    uint32_t turns;     /* how many segments fit into a slot's room, rounded down to a power of two: the operations that come to a slot one after
                           the other use one place in it after the other (docs/internals/sizes.md, "Whose lines they are") */
    bool gathered;      /* a reduction whose elements are too big for slots: gather, then reduce privately */
};

/* On one node, of n ranks. bytes: contribution of the rank that contributes most. total: result of the whole
   operation. */
enum ft_way ft_plan_choose(const struct ft_params *p, uint32_t n, const struct ft_sig *sig, uint64_t bytes, uint64_t total);

/* "chunked". */
const char *ft_way_text(enum ft_way way);

/* Chunk `r` of `n` of a segment of `bytes`, in elements of `elem` bytes, whole cache lines where
   elements allow: [*from, *to) in bytes. */
void ft_plan_chunk(uint64_t bytes, uint32_t elem, uint32_t n, uint32_t r, uint64_t *from, uint64_t *to);

static inline uint32_t ft_plan_turns(const struct ft_params *p, uint64_t segment)
{
    uint32_t turns = 1;

    while (2 * turns * ft_align(segment, FT_LINE) <= p->slot_room)
        turns *= 2;
    return turns;
}

/* What a unit's slice of a part of `length` bytes is. */
static inline uint64_t ft_plan_slice(uint64_t length, uint64_t segment, uint64_t unit)
{
    uint64_t from = unit * segment;

    return from >= length ? 0 : ft_min(segment, length - from);
}

#endif
