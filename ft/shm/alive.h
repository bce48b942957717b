/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a rank's process is there, as shared memory shows it, without a system call: it holds a robust mutex (pthread_mutexattr_setrobust(3)), which the
   kernel takes from a thread that ends, whatever ends it, and before the number of its process is free for another one. */
#ifndef FT_SHM_ALIVE_H
#define FT_SHM_ALIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ft_alive {
    pthread_mutex_t held;
    _Atomic uint64_t who;  /* of the one that holds it, or that did; 0: is about to, or nobody yet */
};

/* Agent, while there is nobody else. */
void ft_alive_init(struct ft_alive *alive);

/* The calling thread's, as `who`, which is not 0 and nobody else's ever. False: somebody holds it, or the kernel would not see this thread end; then nobody is seen to be alive. */
bool ft_alive_begin(struct ft_alive *alive, uint64_t who);

/* By the same thread, before the memory goes, and before a fork whose child has that memory. False: the calling thread does not hold it; if another one of this process does, the memory
   must stay where it is. */
bool ft_alive_end(struct ft_alive *alive);

/* Anybody else: true if who began as `who` holds it still, so that whatever was its process's number meanwhile was no other one's. */
bool ft_alive_is(struct ft_alive *alive, uint64_t who);

#endif
