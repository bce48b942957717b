/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread at a time (threads.h): the recorder's lock. Who has it is not stopped; who waits in a call lets others have it meanwhile. */
#include "ft/outcome/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t lock; /* 2: somebody waits */

void ft_threads_lock(void)
{
    uint32_t free = 0;
    int error;

    if (!ft_threads_many || ft_thread.holds++)
        return;
    ft_busy();
    if (atomic_compare_exchange_strong(&lock, &free, 1))
        return;
    error = errno;
    while (atomic_exchange(&lock, 2) != 0)
        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    errno = error;
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
