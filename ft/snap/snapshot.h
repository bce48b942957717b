/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's side of its snapshots (DESIGN section 5, docs/snapshots.md). A snapshot is a fork of the rank that waits inside the
   library; it stays when it is woken, and forks the next incarnation itself, so it can do so any number of times.

     agent          rank                          snapshot                     copy: the next incarnation
     want = n
                    at its next call: looks at
                    itself; ready = n
     notes what
     it has printed
     go = n         forks, and goes on
                                                  taken = n
     registers n,
     ends n - 1
                    is killed, and reaped
     wake = i                                     forks; copied = i
     takes over
     its process                                                               is told run = i
     run = i                                                                   goes on where the rank stood

   The agent hears of each step by a counter in a descriptor (`bell`). Whoever is killed in the middle leaves nothing behind that
   counts: numbers and incarnations are used once. */
#ifndef FT_SNAP_SNAPSHOT_H
#define FT_SNAP_SNAPSHOT_H

#include <stdbool.h>

#include "ft/shm/region.h"
#include "ft/snap/image.h"

struct ft_snapshots {
    const struct ft_region *region;
    struct ft_snap_words *words;
    struct ft_rank_block *block;
    int bell;                     /* an eventfd, read by the agent */
    int life;                     /* the pipe by which the kernel kills this process group when the launcher is gone */
    struct ft_image_own own;
    int links[FT_FILES_LINKS];    /* the library's too, but the snapshot closes them: another host is to see this process's end */
    int nlinks;                   /* the rank's, before each ft_snapshots_take */
    void *unread;                 /* before each ft_snapshots_take: memory that the rank's call writes as a whole, and does not read; or NULL */
    uint64_t unread_bytes;
    struct ft_image image;
    uint64_t answered;            /* last number looked into */
    uint64_t faults;              /* of this process when it had forked the last one */
};

/* rank's, in a process that has just joined its job. own: the library's descriptors. */
void ft_snapshots_open(struct ft_snapshots *s, const struct ft_region *region, uint32_t rank, const struct ft_image_own *own, int bell,
                       int life);

/* Between two calls of the program, at p, if one is due. True: this is the copy, and the rank is dead. */
bool ft_snapshots_take(struct ft_snapshots *s, const struct ft_position *p);

static inline bool ft_snapshots_due(const struct ft_snapshots *s)
{
    return __builtin_expect(atomic_load_explicit(&s->words->want, memory_order_relaxed) != s->answered, 0);
}

#endif
