/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

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

static bool is_older(const char *release)
{
    int major = 0, minor = 0;

    return sscanf(release, "%d.%d", &major, &minor) == 2 && (major < 5 || (major == 5 && minor < 3));
}

bool ft_pidfd_works(char *text, size_t size)
{
    int fd = ft_pidfd_open(getpid()), error = errno;
    struct utsname kernel = {.release = "?"};

    if (fd >= 0) {
        close(fd);
        return true;
    }
    uname(&kernel);
    snprintf(text, size, "pidfd_open is refused (%s): %s Linux %.32s %s", strerror(error),
             is_older(kernel.release) ? "the kernel," : "by the system call filter of a container;", kernel.release,
             is_older(kernel.release) ? "is older than 5.3." : "has it.");
    return false;
}
