/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: one from each rank of a node to each, numbered behind the streams (docs/internals/messages.md). A channel is a stream of two
   members whose log one of them writes: a unit is a message, or a piece of a long one. Both are in it from the beginning, whether
   they have begun or not. So memory, spilling, release behind cuts, and positions are those of streams.

   The one from a rank to itself has no messages: it has what the rank was told that nothing else decides (RULE 32). */
#ifndef FT_SHM_CHANNELS_H
#define FT_SHM_CHANNELS_H

#include "ft/shm/region.h"

static inline bool ft_channel_is(const struct ft_region *r, uint32_t id) { return id >= r->header->params.nstreams; }

/* Those towards one receiver lie side by side: it looks for new ones. Ranks of this node. */
static inline uint32_t ft_channel_of(const struct ft_region *r, uint32_t sender, uint32_t receiver)
{
    return r->header->params.nstreams + receiver * r->header->params.nranks + sender;
}

static inline uint32_t ft_channel_sender(const struct ft_region *r, uint32_t id)
{
    return (id - r->header->params.nstreams) % r->header->params.nranks;
}

static inline uint32_t ft_channel_receiver(const struct ft_region *r, uint32_t id)
{
    return (id - r->header->params.nstreams) / r->header->params.nranks;
}

/* Rank has been told something of messages that others decided, and might be told something else if all began again. */
static inline bool ft_channel_has_answers(const struct ft_region *r, uint32_t rank)
{
    const struct ft_message_slot *slots;
    struct ft_stream_parts parts;

    if (!r->header->params.nchannels)
        return false;
    parts = ft_region_stream(r, ft_channel_of(r, rank, rank));
    slots = (const struct ft_message_slot *)(const void *)parts.slots;
    /* Killed while the slot is filled again, there is nothing in it (found by the explorer). */
    return atomic_load_explicit(&parts.counters[0].done, memory_order_acquire) != 0 || atomic_load_explicit(&slots[0].unit, memory_order_acquire) != 0;
}

/* A rank's channel to itself is for its answers, which nobody acknowledges. Of a rank whose threads call at the same time (ft/order.h) these
   words are: so many steps they have done, ... */
static inline _Atomic uint64_t *ft_channel_steps(const struct ft_region *r, uint32_t rank)
{
    return &ft_region_stream(r, ft_channel_of(r, rank, rank)).acks[0];
}

/* ... whether it has other threads, which could call, too, ... */
static inline _Atomic uint64_t *ft_channel_others(const struct ft_region *r, uint32_t rank)
{
    return &ft_region_stream(r, ft_channel_of(r, rank, rank)).acks[2];
}

/* ... and whether it was more than one thread: then it cannot begin again without what is recorded of it. */
#define FT_ORDER_WHY "several of its threads call MPI"
static inline _Atomic uint64_t *ft_channel_threads(const struct ft_region *r, uint32_t rank)
{
    return &ft_region_stream(r, ft_channel_of(r, rank, rank)).acks[1];
}

#endif
