/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutexes are made. Of one that inherits priorities the kernel is told the owner by the number that the C library has of it. In a process
   that is made of a copy that is the one of before: whoever waits for the mutex is told that there is no such thread, and waits for ever.
   So in a rank there are none, but those that processes share: who has such a mutex keeps the priority that it has. */
#include "ft/outcome/real.h"

#include <pthread.h>

#include "ft/outcome/condition.h"

static bool inherits(const pthread_mutexattr_t *attributes)
{
    int protocol = PTHREAD_PRIO_NONE, shared = PTHREAD_PROCESS_PRIVATE;

    return attributes && pthread_mutexattr_getprotocol(attributes, &protocol) == 0 && protocol == PTHREAD_PRIO_INHERIT &&
           pthread_mutexattr_getpshared(attributes, &shared) == 0 && shared == PTHREAD_PROCESS_PRIVATE;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    pthread_mutexattr_t without;

    if (!inherits(attributes) || !ft_condition_ours())
        return ft_real()->pthread_mutex_init(mutex, attributes);
    without = *attributes; /* numbers only */
    pthread_mutexattr_setprotocol(&without, PTHREAD_PRIO_NONE);
    return ft_real()->pthread_mutex_init(mutex, &without);
}
