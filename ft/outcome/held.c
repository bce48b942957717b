/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread at a time (threads.h): the recorder's lock. Who has it is not stopped; who waits in a call lets others have it meanwhile. */
#include "ft/outcome/task.h"

#include <errno.h>

static _Atomic uint32_t lock; /* 2: somebody waits */

/* Who has it may take this thread for one that stands (ft_stand_around): `queues` is said before it can be had. */
static void wait_for_it(struct ft_task *t)
{
    int error = errno;

    if (t)
        atomic_store(&t->queues, true);
    while (atomic_exchange(&lock, 2) != 0)
        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    if (t)
        atomic_store(&t->queues, false);
    errno = error;
}

void ft_threads_lock(void)
{
    uint32_t free = 0;

    if (!ft_threads_many || ft_thread.holds++)
        return;
    ft_busy();
    if (!atomic_compare_exchange_strong(&lock, &free, 1))
        wait_for_it(ft_thread.task);
}

void ft_threads_unlock(void)
{
    if (ft_thread.holds == 0 || --ft_thread.holds)
        return; /* the second thread was made while this one had it */
    if (atomic_exchange(&lock, 0) == 2)
        syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    ft_idle();
}

int ft_threads_let(void)
{
    int holds = ft_thread.holds, error = errno;

    if (holds) {
        ft_thread.holds = 1;
        ft_threads_unlock();
    }
    errno = error;
    return holds;
}

void ft_threads_take(int holds)
{
    int error = errno;

    if (holds) {
        ft_threads_lock();
        ft_thread.holds = holds;
    }
    errno = error;
}
