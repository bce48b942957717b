/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks run that share processors. Ranks that give way to each other all the time are never seen waiting, so a kernel may leave
   four of them on one of two processors, the other one idle, for as long as the job runs (docs/performance/operations.md). So each is moved
   once to a processor of its own share, its home, and again if it is found elsewhere much later. It is not bound: the kernel may move
   it at any time, and threads of the program may run anywhere. No effect but on speed. */
#ifndef FT_SHM_PLACE_H
#define FT_SHM_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct ft_place {
    int home;          /* a processor; -1: wherever it is */
    uint32_t from, to; /* the ranks from..to-1 have it as their home, this one among them */
    uint32_t turns;
    uint64_t moved_ns; /* when it was last moved */
};

/* Ranks 0 to n - 1 share the processors that the caller may run on, neighbours one of them. Moves the caller. */
void ft_place_open(struct ft_place *p, uint32_t rank, uint32_t n);

/* Rank r shares this one's processor. False if nobody can tell. */
static inline bool ft_place_shares(const struct ft_place *p, uint32_t r) { return p->home >= 0 && r >= p->from && r < p->to; }

/* Whoever gives way comes by here: now and then it looks where it is. */
void ft_place_look(struct ft_place *p);
enum { FT_PLACE_EVERY = 256 };
static inline void ft_place_turn(struct ft_place *p)
{
    if (__builtin_expect(++p->turns % FT_PLACE_EVERY == 0, 0))
        ft_place_look(p);
}

#endif
