/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a word that another rank publishes: spin, then yield, then sleep (DESIGN section 6).

   Sleeping is on the awaited word itself (its low 32 bits are the futex), so the value check of the
   kernel closes the gap between the last look and the sleep; the sleep flag of the rank, one byte that only
   it writes, tells publishers that a system call is worth it. Every sleep is bounded.

   Between a publisher's store of the word and its look at the flags there must be a full barrier (RULE 12), as between a sleeper's store of its
   flag and the kernel's look at the word. Publishers are in a hurry and sleepers are not, so sleepers have the publishers' made as well, by
   membarrier(2), which returns when every processor that runs one of them has made one (docs/internals/waiting.md). */
#ifndef FT_SHM_WAIT_H
#define FT_SHM_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/base/util.h"
#include "ft/shm/place.h"
#include "ft/shm/word.h"

/* How a rank of this job waits; the same for all its waits. */
struct ft_patience {
    uint32_t spins;          /* looks with `pause` between them before the first yield */
    uint32_t yields;         /* at least so many yields before the first sleep ... */
    uint64_t yield_ns;       /* ... and at least so long */
    bool sleeps;             /* false: never (the explorer's ranks share a thread) */
    _Atomic uint8_t *asleep; /* flags of all ranks, a multiple of 8 bytes of them */
    uint32_t nasleep;        /* how many bytes of flags there are */
    uint32_t self;           /* which one is ours */
    bool unfenced;           /* sleepers make this rank's barriers */
    bool loud;               /* this one cannot make others': its flag is up for good, so that all that is published is a wake-up call */
    struct ft_place *place;  /* of a rank that shares its processor with others, or NULL */
};

/* One wait in progress: { 0 } to begin with. */
struct ft_wait {
    uint32_t turns;
    uint64_t since_ns;
};

/* One turn of a wait: *word was `seen`, which was not enough. Returns true when it has waited so long
   that the caller may spend time on finding out why. */
bool ft_wait_turn(struct ft_wait *w, const struct ft_patience *p, _Atomic uint64_t *word, uint64_t seen);

/* Likewise, no longer than until then (ft_clock_ns). */
void ft_wait_turn_until(struct ft_wait *w, const struct ft_patience *p, _Atomic uint64_t *word, uint64_t seen, uint64_t until_ns);

/* Before giving way, where rank r (of this node) is waited for, which has another processor: until *word is `least`, but no longer than a switch to
   another rank and back would take. If two ranks share a processor, or if this one is the `last` of its own to come: none of them has anything to do but wait. */
void ft_wait_spin(const struct ft_patience *p, uint32_t r, bool last, _Atomic uint64_t *word, uint64_t least);

/* Behind a wait: those of its processor whose turn it is may go first, if two ranks share one and it has not given way since `before`. */
uint32_t ft_wait_given_way(const struct ft_patience *p);
void ft_wait_let_go_first(const struct ft_patience *p, uint32_t before);

/* Its two halves, for who waits for other things as well. A turn without a sleep; true when one is due. */
bool ft_wait_patience(struct ft_wait *w, const struct ft_patience *p);
/* Sleeps until the word's low half is not `seen`'s any more, for most_ns (less than a second) at most. */
void ft_wait_sleep(const struct ft_patience *p, const void *word, uint64_t seen, uint64_t most_ns);

/* Wakes whoever sleeps on the word (or its low half, which is what sleepers name). */
void ft_wake(const void *word);

/* Barriers of one process can be made by another one here: membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED. Nothing is changed. */
bool ft_wait_can_register(void);

/* This process begins to wait with p->asleep and p->self, with barriers as struct ft_params says. One that is forbidden what the others do (a filter of
   its container's) fences what it publishes, and is loud. A process that was forked says it again. Takes some 10 ms if it has threads. */
void ft_wait_begin(struct ft_patience *p, bool unfenced);

/* Publishes a word that other ranks of this node may sleep on; a wake-up call only if some rank sleeps. */
static inline void ft_wait_announce(const struct ft_patience *p, _Atomic uint64_t *word, uint64_t value)
{
    const _Atomic uint64_t *flags = (const _Atomic uint64_t *)(const void *)p->asleep;

    if (__builtin_expect(p->unfenced, 1)) {
        ft_publish(word, value);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        ft_announce(word, value);
    }
    for (uint32_t i = 0; i < p->nasleep / 8; i++)
        if (__builtin_expect(atomic_load_explicit(&flags[i], memory_order_seq_cst) != 0, 0)) {
            ft_wake(word);
            return;
        }
}

uint64_t ft_clock_ns(void);  /* CLOCK_MONOTONIC */

#endif
