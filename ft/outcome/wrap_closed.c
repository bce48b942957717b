/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not followed yet: descriptors that are neither files nor pipes nor sockets. Ways back from before one are
   closed. Which of them forbid a copy as long as they are open is descriptors.c's. */
#include "ft/outcome/real.h"

#include "ft/outcome/record.h"

int timerfd_create(int clock, int flags)
{
    return ft_recording() ? FT_CLOSED(ft_real()->timerfd_create(clock, flags), "it has made a timerfd") : ft_real()->timerfd_create(clock, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    return ft_recording() ? FT_CLOSED(ft_real()->signalfd(fd, mask, flags), "it has made a signalfd") : ft_real()->signalfd(fd, mask, flags);
}

int inotify_init1(int flags)
{
    return ft_recording() ? FT_CLOSED(ft_real()->inotify_init1(flags), "it has made an inotify descriptor") : ft_real()->inotify_init1(flags);
}

int inotify_init(void)
{
    return ft_recording() ? FT_CLOSED(ft_real()->inotify_init1(0), "it has made an inotify descriptor") : ft_real()->inotify_init1(0);
}

/* A directory, past the C library's streams. */
ssize_t getdents64(int fd, void *to, size_t n)
{
    return ft_recording() ? FT_CLOSED(ft_real()->getdents64(fd, to, n), "it has read a directory by getdents64") : ft_real()->getdents64(fd, to, n);
}

int memfd_create(const char *name, unsigned flags)
{
    return ft_recording() ? FT_CLOSED(ft_real()->memfd_create(name, flags), "it has made a memfd") : ft_real()->memfd_create(name, flags);
}
