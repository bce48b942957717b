/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait and are not recorded: a signal that interrupts one is handled before it returns, as the program expects. */
#include "ft/outcome/real.h"

#include <errno.h>

#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

/* After the call, whose errno stays. */
FT_CALLED void hand_over(void)
{
    int error = errno;

    if (ft_recording() && ft_signals_wait)
        ft_signals_at(FT_SIGNALS_AFTER);
    errno = error;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
    int result = ft_real()->epoll_wait(fd, events, most, ms);

    hand_over();
    return result;
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
    ssize_t result = ft_real()->recv(fd, to, n, flags);

    hand_over();
    return result;
}

int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    int result = ft_real()->connect(fd, address, bytes);

    hand_over();
    return result;
}

int sem_wait(sem_t *semaphore)
{
    int result = ft_real()->sem_wait(semaphore);

    hand_over();
    return result;
}
