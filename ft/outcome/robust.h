/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust mutexes of a thread that ends. The kernel marks those that it still has, for others to be told (EOWNERDEAD): those with the
   thread's number. A thread that was put back has another number in its mutexes, the one of before: for it this is done here. */
#ifndef FT_OUTCOME_ROBUST_H
#define FT_OUTCOME_ROBUST_H

#include <pthread.h>

/* This thread begins, and is to be followed. However it ends, after the destructors of its data it comes to ft_robust_end. */
void ft_robust_begin(void);

/* A mutex that this thread has just taken, of whatever kind, is as it was before: free, and if its owner had died the next one is told. */
void ft_robust_give_back(pthread_mutex_t *mutex);

/* What the kernel does for mutexes that have its number: nothing is left for the kernel. Nothing in a thread that has the number which
   the C library has of it. */
void ft_robust_end(void);

#endif
