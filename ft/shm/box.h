/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's box: where it puts what it asks of the job's store (docs/store.md), and the agent the answer, in a place of its own: the agent
   may be killed while it writes that, and its successor reads what was asked once more. One at a time. A rank may ask again before it is
   answered, but no other call: so whoever reads it at that time reads the same bytes, but for how long it still waits. Its successor may
   make another one, since the agent has closed the box before (ft_region_start_rank). */
#ifndef FT_SHM_BOX_H
#define FT_SHM_BOX_H

#include <stdbool.h>

#include "ft/base/value.h"
#include "ft/shm/region.h"
#include "ft/shm/word.h"

struct ft_box {
    /* the rank */
    _Alignas(FT_LINE) _Atomic uint64_t asked;    /* so often, over all incarnations. Release: what is asked is there */
    _Atomic uint64_t length;                     /* bytes of that */
    _Atomic uint64_t newest;                     /* the highest number of a call that any incarnation has asked, plus one */

    /* the agent */
    _Alignas(FT_LINE) _Atomic uint64_t answered; /* ... and so often answered, or nobody waits any more */
    _Atomic uint64_t answer_length;

    _Alignas(FT_LINE) char bytes[];              /* FT_VALUE_ROOM of the rank's, then as many of the agent's */
};

static inline uint64_t ft_box_bytes(void) { return ft_align(sizeof(struct ft_box) + 2 * FT_VALUE_ROOM, 4096); }
static inline char *ft_box_answer(struct ft_box *box) { return box->bytes + FT_VALUE_ROOM; }

static inline struct ft_box *ft_box(const struct ft_region *r, uint32_t local)
{
    return (struct ft_box *)(void *)(r->base + r->header->boxes_at + local * ft_box_bytes());
}

/* Of a job that does not use its store nobody touches boxes, each of which is a page or more. */
static inline bool ft_box_is_used(const struct ft_region *r) { return ft_peek(&r->header->boxed) != 0; }

static inline void ft_box_use(const struct ft_region *r)
{
    if (!ft_box_is_used(r))
        ft_note(&r->header->boxed, 1); /* before `asked`, which is published */
}

#endif
