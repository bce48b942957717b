/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a rank that share its descriptor table (DESIGN-ranks section 0): clones that wait. When the rank is killed nothing
   is closed: the copy holds the table. A copy never becomes the rank: woken, it clones the next incarnation and sleeps on, so
   it can do so any number of times, and there is no moment in which the only one can be lost.

     agent          rank                        copy                        next incarnation
     want = n
                    clones, forked = n,
                    and goes on
                                                taken = n
     registers n,
     ends the one
     before
                    is killed, and reaped
     wake = i                                   clones; copied = i
     watches its
     process
     run = i                                                                goes on where the rank stood

   The agent hears of each step by a counter in a descriptor (`bell`). Numbers and incarnations are used once.

   The table is one, so the rank and its copies are tied to the launcher by two descriptions: the kernel kills the rank's process
   group by the one, and the copies' by the other, when the launcher is gone. */
#ifndef FT_OUTCOME_COPIES_H
#define FT_OUTCOME_COPIES_H

#include <signal.h>
#include <stdbool.h>

#include "ft/shm/layout.h"

struct ft_copies {
    struct ft_snap_words *words;
    _Atomic uint32_t *incarnation; /* of the rank */
    int bell;                      /* an eventfd, read by the agent */
    int life;                      /* the rank's tie to the launcher */
    int tie;                       /* the copies' */
    uint64_t answered;             /* last number looked into */
};

/* In the rank, once. bell, life: descriptors that the launcher gave it. -1: errno. */
int ft_copies_open(struct ft_copies *c, struct ft_snap_words *words, _Atomic uint32_t *incarnation, int bell, int life);

/* Makes the copy with this number. True: this is the next incarnation, and the rank is dead. False with errno 0: made, or given up
   by the agent. */
bool ft_copies_make(struct ft_copies *c, uint64_t number);


#endif
