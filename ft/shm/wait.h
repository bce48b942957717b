/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for words that others publish: spin, then yield, then sleep (DESIGN section 6).

   A wait is a loop of whoever waits, for one word or several:

       struct ft_wait w = ft_wait_for(patience, &what);

       while (!it has come)
           ft_wait_turn(&w, patience);
       ft_wait_over(&w, patience);

   Sleeping is on the rank's own doorbell (ft/shm/doorbell.h), in two turns: the first one puts up the rank's flag, so that the loop looks
   once more at all it waits for; the second one sleeps. The flag, one byte that only the rank writes, tells publishers that there is
   somebody to be rung. Every sleep is bounded.

   Between a publisher's store of the word and its look at the flags there must be a full barrier (RULE 12), as between a sleeper's store of its
   flag and its last look at the words. Publishers are in a hurry and sleepers are not, so sleepers have the publishers' made as well, by
   membarrier(2), which returns when every processor that runs one of them has made one (docs/internals/waiting.md). */
#ifndef FT_SHM_WAIT_H
#define FT_SHM_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/base/util.h"
#include "ft/shm/doorbell.h"
#include "ft/shm/place.h"
#include "ft/shm/turns.h"
#include "ft/shm/word.h"

/* How a rank of this job waits; the same for all its waits. */
struct ft_patience {
    uint32_t spins;          /* looks with `pause` between them before the first yield */
    uint32_t yields;         /* at least so many yields before the first sleep ... */
    uint64_t yield_ns;       /* ... and at least so long */
    bool sleeps;             /* false: never */
    struct ft_doorbells doorbells;
    uint32_t self;           /* which one is ours */
    bool unfenced;           /* sleepers make this rank's barriers */
    bool loud;               /* this one cannot make others': its flag is up for good, so that all that is published is a wake-up call */
    struct ft_place *place;  /* of a rank that shares its processor with others, or NULL */
    void (*meanwhile)(void *arg);  /* what else is to be looked at in every wait, whatever it is for; or NULL */
    void *arg;
    struct ft_turns *turns;  /* of a rank whose threads call at the same time; or NULL */
};

/* One wait in progress. */
struct ft_wait {
    uint32_t turns;
    bool holds;         /* other threads of the rank stay out */
    bool due;           /* its flag is up: the next turn sleeps, unless it has been rung since `heard` */
    uint32_t heard;
    uint64_t since_ns;
};

/* Begins one, and says what for. */
struct ft_wait ft_wait_for(const struct ft_patience *p, const struct ft_await *a);
/* ... for what the agent has for this rank: an answer, a slot, a snapshot. */
struct ft_wait ft_wait_for_agent(const struct ft_patience *p);
/* It goes on, perhaps for something else than it has said. */
void ft_wait_goes_on(struct ft_wait *w, const struct ft_patience *p, const struct ft_await *a);

/* Behind a wait that others' words alone do not end: it is for nobody any more. */
void ft_wait_unsay(const struct ft_patience *p);

/* One turn: what is waited for has not come. Returns true when it has waited so long that the caller may spend time on finding out why. */
bool ft_wait_turn(struct ft_wait *w, const struct ft_patience *p);

/* Likewise, and sleeps for so long at most. True: it has slept. */
bool ft_wait_turn_within(struct ft_wait *w, const struct ft_patience *p, uint64_t most_ns);

/* It has come, or is waited for no more: *w is as new. Without this the rank's flag may stay up, which costs others time, no more. */
void ft_wait_over(struct ft_wait *w, const struct ft_patience *p);

/* Before giving way, where rank r (of this node) is waited for, which has another processor: until *word is `least`, but no longer than a switch to
   another rank and back would take. If two ranks share a processor, or if this one is the `last` of its own to come: none of them has anything to do but wait. */
void ft_wait_spin(const struct ft_patience *p, uint32_t r, bool last, _Atomic uint64_t *word, uint64_t least);

/* Behind a wait: those of its processor whose turn it is may go first, if two ranks share one and it has not given way since `before`. */
uint32_t ft_wait_given_way(const struct ft_patience *p);
void ft_wait_let_go_first(const struct ft_patience *p, uint32_t before);

/* For who sleeps in another way, on sockets: a turn without a sleep; true when one is due. */
bool ft_wait_patience(struct ft_wait *w, const struct ft_patience *p);

/* Wakes whoever sleeps on the word, or its low half: a rank's doorbell, or a word of snapshots (ft/outcome/copies.h), no ranks. */
void ft_wake(const void *word);

/* Barriers of one process can be made by another one here: membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED. Nothing is changed. */
bool ft_wait_can_register(void);

/* This process begins to wait with p->doorbells and p->self, with barriers as struct ft_params says. One that is forbidden what the others
   do (a filter of its container's) fences what it publishes, and is loud. A process that was forked says it again. Takes some 10 ms if
   it has threads. */
void ft_wait_begin(struct ft_patience *p, bool unfenced);

/* What a thread of this rank has done may end another one's wait: those that sleep look. */
void ft_wait_stir(const struct ft_patience *p);

/* Some rank sleeps: those who wait for this are rung. */
void ft_wait_ring(const struct ft_patience *p, enum ft_await_kind kind, uint32_t stream, uint64_t below);

/* Publishes a word that other ranks of this node may wait for: of this kind and stream, all units below are there. A wake-up call
   only if some rank sleeps that does. */
static inline void ft_wait_announce(const struct ft_patience *p, enum ft_await_kind kind, uint32_t stream, _Atomic uint64_t *word,
                                    uint64_t below)
{
    const _Atomic uint64_t *flags = (const _Atomic uint64_t *)(const void *)p->doorbells.asleep;

    if (__builtin_expect(p->unfenced, 1)) {
        ft_publish(word, below);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        ft_announce(word, below);
    }
    for (uint32_t i = 0; i < p->doorbells.nasleep / 8; i++)
        if (__builtin_expect(atomic_load_explicit(&flags[i], memory_order_seq_cst) != 0, 0)) {
            ft_wait_ring(p, kind, stream, below);
            return;
        }
}

uint64_t ft_clock_ns(void);  /* CLOCK_MONOTONIC */

#endif
