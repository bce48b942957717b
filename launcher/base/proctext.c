/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/proctext.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

ssize_t ft_proctext_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    size_t len = 0;

    while (fd >= 0 && (n = read(fd, text + len, size - 1 - len)) > 0) /* /proc hands out a page at a time */
        len += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[len] = 0;
    return len || n == 0 ? (ssize_t)len : -1;
}

ssize_t ft_proctext_of(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return ft_proctext_read(path, text, size);
}
