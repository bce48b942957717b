/* SPDX-License-Identifier: BSD-3-Clause */
/* Pure arithmetic: how an operation is cut into units and chunks, and where its records go. It depends on
   the signature and on job constants only, so that two incarnations and all ranks agree (RULE 8). */
#ifndef FT_CORE_PLAN_H
#define FT_CORE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/layout.h"

/* How a unit's result comes about. */
enum ft_way {
    FT_WAY_SHORT,   /* one unit: everybody reads everybody's slot */
    FT_WAY_REDUCE,  /* segments through slots, each rank reduces its chunk */
    FT_WAY_NODES,   /* over several nodes (ft/core/nodes.h) */
    FT_WAY_DIRECT   /* segments written where they are read, in the log: bcast, allgather */
};

struct ft_plan {
    enum ft_way way;
    uint64_t units;
    uint64_t segment;   /* bytes of a contribution per unit; the last unit has fewer */
    uint32_t turns;     /* how many segments fit into a slot's room, rounded down to a power of two: the operations that come to a slot one after
                           the other use one place in it after the other (docs/design.md, section 10) */
    bool swapped;       /* an allgather of two ranks through slots (ft/core/standard.c): segments of up to slot_room */
    bool doubled;       /* an allreduce of two ranks, each of which folds all of it (ft/core/standard.c) */
    bool gathered;      /* a reduction whose elements are too big for slots: gather, then reduce privately */
};

/* bytes: contribution of the rank that contributes most. total: result of the whole operation. */
void ft_plan_make(struct ft_plan *plan, const struct ft_params *p, uint32_t nranks, const struct ft_sig *sig,
                  uint64_t bytes, uint64_t total);

/* Chunk `r` of `n` of a segment of `bytes`, in elements of `elem` bytes, whole cache lines where elements
   allow: [*from, *to) in bytes. */
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
