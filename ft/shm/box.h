/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's box: where it puts what it asks of the job's store (docs/store.md), and the agent the answer. One at a time. The agent may be
   killed while it writes the answer over what was asked, for it has entered what it did before: asked again, the store needs no more than
   the number. */
#ifndef FT_SHM_BOX_H
#define FT_SHM_BOX_H

#include "ft/base/value.h"
#include "ft/shm/region.h"

struct ft_box {
    /* the rank */
    _Alignas(FT_LINE) _Atomic uint64_t asked;    /* so often, over all incarnations. Release: what is asked is there */
    _Atomic uint64_t length;                     /* bytes of that */
    _Atomic uint64_t newest;                     /* the highest number of a call that any incarnation has asked, plus one */

    /* the agent */
    _Alignas(FT_LINE) _Atomic uint64_t answered; /* ... and so often answered, or nobody waits any more. Ranks sleep on it */
    _Atomic uint64_t answer_length;

    _Alignas(FT_LINE) char bytes[];
};

static inline uint64_t ft_box_bytes(void) { return ft_align(sizeof(struct ft_box) + FT_VALUE_ROOM, 4096); }

static inline struct ft_box *ft_box(const struct ft_region *r, uint32_t local)
{
    return (struct ft_box *)(void *)(r->base + r->header->boxes_at + local * ft_box_bytes());
}

#endif
