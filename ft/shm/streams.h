/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of streams, and of channels, which have numbers behind them. The first is of all ranks for good. Of the others each rank owns as many,
   and takes one into use with others for as long as they work together: a communicator. A stream
   goes on where it was, in units and in its log, with whoever comes next; its uses are numbered.

   A use is agreed by those who come into it, in an operation of another stream, so that their
   successors are told the same (RULE 31): the owner says which stream is free (ft_streams_pick),
   and all come in where it says (ft_stream_join, ft/core/stream.h). Nobody works before all have
   come. Who has left needs it no more, but its cut may lie before that.

   Which rank is in which stream is said by the rank itself (struct ft_stay). Which streams its
   incarnation has come into is a list (ft_streams_next): nobody looks through the directory for that. */
#ifndef FT_SHM_STREAMS_H
#define FT_SHM_STREAMS_H

#include "ft/shm/region.h"

/* A stream that is taken into use. Plain data. */
struct ft_use {
    uint32_t stream;
    uint64_t use;        /* number of the use */
    uint64_t unit, end;  /* where the stream is: its next unit, and where the record before it ends */
};

/* The first stream or channel from there on that anybody has ever come into, or used, or ft_params_logs. The others are nobody's
   business, and have no memory: what looks at all of them is a loop

       for (uint32_t s = 0; s < ft_params_logs(p); s = ft_streams_used(r, s + 1))

   and what looks at streams only ends at p->nstreams. */
uint32_t ft_streams_used(const struct ft_region *r, uint32_t from);

/* Of those below one: that one, if there is none. */
uint32_t ft_streams_used_below(const struct ft_region *r, uint32_t from, uint32_t below);

/* Somebody is about to come into it. */
void ft_streams_use(const struct ft_region *r, uint32_t stream);
bool ft_streams_is_used(const struct ft_region *r, uint32_t stream);

/* Which of its members rank is. -1: a channel that it has no part in. */
int64_t ft_streams_index(const struct ft_region *r, uint32_t stream, uint32_t rank);

/* Agent: all ranks are in the first stream. In a region that is new. */
void ft_streams_found(const struct ft_region *r);

/* Owner, of the stream's next use by ranks[n], itself among them. False: none of its streams is
   free: somebody has not left them yet. So the answer depends on how far others are, and is not the
   same when it is asked again. */
bool ft_streams_pick_after(const struct ft_region *r, uint32_t owner, const uint32_t *ranks, uint32_t n, uint32_t after, struct ft_use *use);
bool ft_streams_pick(const struct ft_region *r, uint32_t owner, const uint32_t *ranks, uint32_t n, struct ft_use *use);

/* It is one of those that owner owns. */
bool ft_streams_is_of(const struct ft_region *r, uint32_t stream, uint32_t owner);

/* Rank is in the stream, as far as it has said. */
static inline bool ft_streams_has(const struct ft_stay *stay)
{
    return atomic_load_explicit(&stay->use, memory_order_acquire) > atomic_load_explicit(&stay->left, memory_order_acquire);
}

/* The one after `stream` in the round of those that rank's incarnation has come into. 0: that was the last one. */
static inline uint32_t ft_streams_next(const struct ft_region *r, uint32_t stream, uint32_t rank)
{
    uint64_t next = atomic_load_explicit(&ft_region_stream(r, stream).members[rank].next, memory_order_acquire);

    return next ? (uint32_t)next - 1 : 0;
}

/* Its log has come so far, by what ranks say: no later than where it is. */
uint64_t ft_streams_end(const struct ft_region *r, uint32_t stream);

#endif
