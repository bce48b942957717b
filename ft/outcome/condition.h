/* SPDX-License-Identifier: BSD-3-Clause */
/* Condition variables of our own, in each process that was begun as a recorded rank.

   The C library's count their waiters. A thread that is led out of a wait, in a copy that is woken, or that a replay never lets wait, would
   leave those counts wrong. Ours are a number and a futex: a wait reads the number, unlocks the mutex, sleeps as long as the number is the
   same, and locks the mutex. A signal changes the number and wakes one, a broadcast all.

   Whose they are is decided once, before the first one is used, by what the process is: also callers whose locks are not counted have
   these, and a forked child, which has its parent's memory, goes on with them. Conditions that processes share are the C library's
   everywhere: the others may be no ranks.

   The old functions (pthread_cond_wait@GLIBC_2.2.5 and kin) are these, too: the linker gives a name of ours for each version of it. */
#ifndef FT_OUTCOME_CONDITION_H
#define FT_OUTCOME_CONDITION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* This process was begun as a rank that is to be recorded: its start says so (start.c), by the environment. */
bool ft_start_is_recorded(void);

/* This process's conditions are ours. */
enum ft_condition_whose { FT_CONDITION_UNDECIDED, FT_CONDITION_OURS, FT_CONDITION_THEIRS };
extern _Atomic int ft_condition_whose;
bool ft_condition_decide(void);
static inline bool ft_condition_ours(void)
{
    int whose = atomic_load_explicit(&ft_condition_whose, memory_order_relaxed);

    return __builtin_expect(whose == FT_CONDITION_UNDECIDED, 0) ? ft_condition_decide() : whose == FT_CONDITION_OURS;
}

/* ... and this one is. */
bool ft_condition_is_ours(const pthread_cond_t *condition);

/* False: it is to be the C library's. */
bool ft_condition_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);

/* until: NULL for ever; clock: -1 the condition's own. The mutex is not locked again if *unlocked: that is the caller's. 0: it is woken,
   perhaps for nothing; ETIMEDOUT. Others: nothing was waited for, and the mutex is as it was. A cancelled thread locks the mutex itself. */
int ft_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until, clockid_t clock, bool *unlocked);

/* A thread sleeps until that word is not `number` any more, or it is that late. 0 or an error's number. `operation`: futex(2). */
long ft_condition_sleep(const void *word, int operation, uint32_t number, const struct timespec *until);

void ft_condition_signal(pthread_cond_t *condition);
void ft_condition_broadcast(pthread_cond_t *condition);

#endif
