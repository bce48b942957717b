/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base/needs.h"
#include "launcher/base/procstat.h"

int ft_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool lives(pid_t pid)
{
    struct ft_procstat stat;

    return ft_procstat_read(pid, &stat) && stat.state != 'Z' && stat.state != 'X';
}

void ft_pidfd_await(pid_t pid, int ms)
{
    struct pollfd p = {.fd = ft_pidfd_open(pid), .events = POLLIN};

    if (p.fd >= 0) {
        poll(&p, 1, ms);
        close(p.fd);
        return;
    }
    while (ms-- > 0 && lives(pid))
        poll(NULL, 0, 1);
}

bool ft_pidfd_works(char *text, size_t size)
{
    int fd = ft_pidfd_open(getpid());

    if (fd < 0)
        ft_needs_refused("pidfd_open", errno, "5.3", text, size);
    else
        close(fd);
    return fd >= 0;
}
