/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on several nodes with --bootstrap-cache: what a node knows of a unit that the ranks of another one are in doubt about (ft/core/bootstrap_place.c).
   Read by the agent, which asks and is asked (launcher/node/doubts.h); what it is told is for its ranks. */
#ifndef FT_SHM_DOUBT_H
#define FT_SHM_DOUBT_H

#include <stdbool.h>

#include "ft/base/hash.h"
#include "ft/shm/region.h"

enum ft_known {
    FT_KNOWN_NOT,    /* nothing yet */
    FT_KNOWN_CALL,   /* the unit is this call: ft_doubt_call */
    FT_KNOWN_DOUBT   /* all ranks of the node ask, too: of the operation that they take it for the unit, plus one, or 0 if that differs */
};

/* What the agent tells its ranks, beside calls, which are odd: all ranks of the job are in doubt, about one operation or several. */
enum { FT_TOLD_ALL = 2, FT_TOLD_SEVERAL = 4 };

/* A call in one word. site 0: wherever it is called. Not 0. */
static inline uint64_t ft_doubt_call(const struct ft_sig *sig, uint64_t site)
{
    struct ft_sig called = *sig;

    called.length = 0;
    return ft_sig_chain(ft_hash_mix(site, 5), &called) | 1;
}

/* What this node's ranks, their log and what they were told say of a unit. */
enum ft_known ft_doubt_known(const struct ft_region *r, int spill_fd, uint64_t unit, uint64_t *what);

/* The unit that the representative asks for. False: none. */
bool ft_doubt_asked(const struct ft_region *r, uint64_t *unit);

/* The agent, to its ranks. */
void ft_doubt_tell(const struct ft_region *r, uint64_t unit, uint64_t what);

/* A rank: what it was told of the unit; 0: nothing. */
uint64_t ft_doubt_told(const struct ft_region *r, uint64_t unit);

#endif
