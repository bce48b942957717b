/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that call the engine at the same time (MPI_THREAD_MULTIPLE): one at a time is in it. A thread that waits lets the others in, and
   looks at what it waits for when it is in again. So whoever is in progresses everything, and nothing of the engine has a lock of its own.

   What a thread needs while others are in is on its stack, or nobody else's: a stream is used by one thread at a time. A wait in the middle
   of something that others might touch keeps them out (ft_wait.holds): it is for the keeper, never for other ranks.

   They sleep on the rank's one doorbell. Its flag is up as long as one of them is to be rung, and the rank says that it waits for anything. */
#ifndef FT_SHM_TURNS_H
#define FT_SHM_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ft_turns {
    pthread_mutex_t mutex;         /* who has it is in */
    _Atomic uint32_t wants;        /* so many threads wait to be let in */
    _Atomic(pthread_t) in;         /* who is, or was last */
    _Atomic bool taken;            /* it is */

    /* Of who is in. */
    uint32_t depth;                /* calls of it that are inside of each other */
    uint32_t raised;               /* so many threads have the doorbell's flag up */
    uint32_t away;                 /* so many have let others in, and wait */
};

void ft_turns_open(struct ft_turns *t);

/* This thread is in. */
static inline bool ft_turns_mine(const struct ft_turns *t)
{
    /* relaxed: whoever stores this thread here is this thread. */
    return atomic_load_explicit(&t->taken, memory_order_relaxed) &&
           pthread_equal(atomic_load_explicit(&t->in, memory_order_relaxed), pthread_self());
}

/* Some thread waits to be let in. */
static inline bool ft_turns_wanted(const struct ft_turns *t) { return atomic_load_explicit(&t->wants, memory_order_relaxed) > 0; }

/* In and out. One that comes again while others wait gives way first. */
void ft_turns_enter(struct ft_turns *t);
void ft_turns_leave(struct ft_turns *t);

/* In the middle of a call: what let returns is for take. */
uint32_t ft_turns_let(struct ft_turns *t);
void ft_turns_take(struct ft_turns *t, uint32_t depth);

#endif
