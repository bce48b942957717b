/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells: each rank sleeps on one word of its own, whatever it waits for, and however many words that are (docs/internals/waiting.md,
   "The doorbell"). A sleeper says what it waits for, notes how often it has been rung, puts up its flag, makes barriers, looks at all
   its words once more, and sleeps until it is rung again. Who publishes a word looks at the flags after that, and rings those whose wait
   it may have ended. A ring says nothing: whoever wakes looks for itself, and one too many costs a look. */
#ifndef FT_SHM_DOORBELL_H
#define FT_SHM_DOORBELL_H

#include "ft/shm/await.h"
#include "ft/shm/region.h"

/* A rank's flag. */
enum ft_asleep {
    FT_AWAKE,
    FT_ASLEEP,   /* or about to be: what it waits for is said */
    FT_LOUD      /* for good: it cannot make others' barriers, so they cannot go by what they read of it, and ring in any case */
};

/* Those of a node. */
struct ft_doorbells {
    _Atomic uint8_t *asleep;   /* flags of all ranks, each written by that rank, a multiple of 8 bytes of them */
    uint32_t nasleep;          /* how many bytes of flags there are */
    struct ft_doorbell *of;    /* by rank */
};

struct ft_doorbells ft_doorbells_of(const struct ft_region *r);

/* After the word is published and a full barrier, the caller's or one that sleepers make. */
void ft_doorbells_ring(const struct ft_doorbells *d, const struct ft_announced *what);

/* The same for the agent and the keeper, which make the barrier here. */
void ft_doorbells_tell(const struct ft_region *r, const struct ft_announced *what);

/* ... where the agent has something for this rank, whatever that is. */
void ft_doorbells_tell_rank(const struct ft_region *r, uint32_t rank);

#endif
