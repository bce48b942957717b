/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not followed yet: descriptors that are neither files nor pipes nor sockets. Ways back from before one are
   closed. Which of them forbid a copy as long as they are open is descriptors.c's. */
#include "ft/outcome/real.h"

#include "ft/outcome/record.h"

int timerfd_create(int clock, int flags)
{
    if (ft_recording())
        ft_recorder_close("it has made a timerfd");
    return ft_real()->timerfd_create(clock, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    if (ft_recording())
        ft_recorder_close("it has made a signalfd");
    return ft_real()->signalfd(fd, mask, flags);
}

int inotify_init1(int flags)
{
    if (ft_recording())
        ft_recorder_close("it has made an inotify descriptor");
    return ft_real()->inotify_init1(flags);
}

int inotify_init(void)
{
    if (ft_recording())
        ft_recorder_close("it has made an inotify descriptor");
    return ft_real()->inotify_init1(0);
}

/* A directory, past the C library's streams. */
ssize_t getdents64(int fd, void *to, size_t n)
{
    if (ft_recording())
        ft_recorder_close("it has read a directory by getdents64");
    return ft_real()->getdents64(fd, to, n);
}

int memfd_create(const char *name, unsigned flags)
{
    if (ft_recording())
        ft_recorder_close("it has made a memfd");
    return ft_real()->memfd_create(name, flags);
}
