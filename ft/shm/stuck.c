/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/stuck.h"

#include "ft/shm/channels.h"
#include "ft/shm/word.h"

/* One that has ended the job is not waited for: the job is over. */
static bool has_left(const struct ft_inspect *i) { return i->state == FT_RANK_FINALIZED; }

/* It has threads that could still send, whatever this one waits for. */
static bool has_others(const struct ft_region *r, uint32_t rank)
{
    return r->header->params.nchannels && ft_look(ft_channel_others(r, rank));
}

bool ft_stuck_for_memory(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank)
{
    return ft_look(&r->header->starved) && ft_inspect_awaits_memory(r, ranks, rank);
}

/* In a wait for other ranks, and not for the agent, a disk or memory that may come. */
static bool waits(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank, bool *awaited)
{
    const struct ft_inspect *i = &ranks[rank];

    return i->state == FT_RANK_ATTACHED && !has_others(r, rank) && i->in_call && !i->replaying && !i->in_store && !i->in_doubt &&
           (ft_inspect_awaits(r, ranks, rank, awaited) > 0 || ft_stuck_for_memory(r, ranks, rank));
}

/* Will it never get what it waits for, if those that are stuck never do anything? */
static bool is_stuck(const struct ft_region *r, const struct ft_inspect *ranks, const bool *stuck, uint32_t rank, bool *awaited)
{
    bool memory = ft_stuck_for_memory(r, ranks, rank);
    uint32_t n = memory ? r->header->params.nranks - 1 : ft_inspect_awaits(r, ranks, rank, awaited), never = 0;

    for (uint32_t q = 0; q < r->header->params.nranks; q++)
        never += (memory ? q != rank : awaited[q]) && (stuck[q] || has_left(&ranks[q]));
    return memory || ft_inspect_awaits_any(ranks, rank) ? never == n : never > 0;
}

uint32_t ft_stuck_find(const struct ft_region *r, const struct ft_inspect *ranks, const bool *runs, bool *stuck, bool *awaited)
{
    uint32_t n = r->header->params.nranks, left = 0, before;

    for (uint32_t q = 0; q < n; q++) {
        stuck[q] = runs[q] && waits(r, ranks, q, awaited);
        left += stuck[q];
    }
    do {
        before = left;
        for (uint32_t q = 0; q < n; q++)
            if (stuck[q] && !is_stuck(r, ranks, stuck, q, awaited)) {
                stuck[q] = false;
                left--;
            }
    } while (left < before);
    return left;
}

uint32_t ft_stuck_by(const struct ft_region *r, const struct ft_inspect *ranks, const bool *stuck, uint32_t rank, bool *awaited)
{
    uint32_t n = r->header->params.nranks, q = 0;

    ft_inspect_awaits(r, ranks, rank, awaited);
    while (q < n && !(awaited[q] && (stuck[q] || has_left(&ranks[q]))))
        q++;
    return q;
}
