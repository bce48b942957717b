/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/turns.h"

#include <sched.h>

enum { GIVES_WAY = 16 /* yields: about what it takes to wake a thread */ };

void ft_turns_open(struct ft_turns *t)
{
    *t = (struct ft_turns){ .mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP };
}

/* A thread that has just been in would find the mutex free before one that is being woken. */
static void give_way(struct ft_turns *t)
{
    pthread_t self = pthread_self();

    for (int i = 0; i < GIVES_WAY && ft_turns_wanted(t) && pthread_equal(atomic_load_explicit(&t->in, memory_order_relaxed), self); i++)
        sched_yield();
}

static void lock(struct ft_turns *t)
{
    give_way(t);
    if (pthread_mutex_trylock(&t->mutex) != 0) {
        atomic_fetch_add_explicit(&t->wants, 1, memory_order_relaxed);
        pthread_mutex_lock(&t->mutex);
        atomic_fetch_sub_explicit(&t->wants, 1, memory_order_relaxed);
    }
    /* relaxed: others only want to know that it is not they. */
    atomic_store_explicit(&t->in, pthread_self(), memory_order_relaxed);
    atomic_store_explicit(&t->taken, true, memory_order_relaxed);
}

static void unlock(struct ft_turns *t)
{
    atomic_store_explicit(&t->taken, false, memory_order_relaxed);
    pthread_mutex_unlock(&t->mutex);
}

void ft_turns_enter(struct ft_turns *t)
{
    if (!ft_turns_mine(t))
        lock(t);
    t->depth++;
}

void ft_turns_leave(struct ft_turns *t)
{
    if (--t->depth == 0)
        unlock(t);
}

uint32_t ft_turns_let(struct ft_turns *t)
{
    uint32_t depth = t->depth;

    t->depth = 0;
    t->away++;
    unlock(t);
    return depth;
}

void ft_turns_take(struct ft_turns *t, uint32_t depth)
{
    lock(t);
    t->away--;
    t->depth = depth;
}
