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
     waker = its
     process,
     wake = i                                   clones; copied = i
     watches its
     process
     run = i                                                                goes on where the rank stood

   The agent hears of each step by a counter in a descriptor (`bell`). Whoever is killed in the middle leaves nothing behind that
   counts: numbers and incarnations are used once.

   The table is one, so the rank and its copies are tied to the launcher by two descriptions: the kernel kills the rank's process
   group by the one, and the copies' by the other, when the launcher is gone. */
#ifndef FT_OUTCOME_COPIES_H
#define FT_OUTCOME_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/layout.h"
#include "ft/snap/image.h"

/* Where the rank stands when a copy is made, between two calls of its program: ft/outcome/door.h fills it in. */
struct ft_stand {
    void (*where)(void *arg, struct ft_positions *at); /* in the job; NULL: it is not in it yet */
    void *arg;
    void *unread;                  /* memory that the call it stands in writes as a whole, and does not read; or NULL */
    uint64_t unread_bytes;
    const int *links;              /* sockets to other nodes, ours: the next incarnation closes them, so that those see the death */
    int nlinks;
    bool first;                    /* in the library's constructor, which has just begun to record: what is open has been looked at */
};

struct ft_copies {
    struct ft_rank_block *block;
    struct ft_snap_words *words;
    struct ft_image_own own;
    struct ft_image image;
    int bell;                      /* an eventfd, read by the agent */
    int life;                      /* the rank's tie to the launcher */
    int tie;                       /* the copies' */
    bool (*keeps)(bool keep);      /* whether a clone has the job's memory. False: errno */
    uint64_t answered;             /* last number looked into */
    uint64_t faults;               /* of this process when it had made the last one */
};

/* In the rank, once. bell, life: descriptors that the launcher gave it. -1: errno. */
int ft_copies_open(struct ft_copies *c, struct ft_rank_block *block, int bell, int life, bool (*keeps)(bool keep));

/* The one that is wanted, where the rank stands. True: this is the next incarnation, and the rank is dead; its other threads are put back by
   ft_stand_put_back, when all else is done. errno is as it was. */
bool ft_copies_make(struct ft_copies *c, const struct ft_stand *stand);

/* The copy just made waits, or there is none. Before the program does anything, if that copy is the first one. */
void ft_copies_await(struct ft_copies *c);

/* Before exec, which takes the table away from them: all are ended, by the agent, when this returns. */
void ft_copies_end(struct ft_copies *c);

#endif
