/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stopped.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool ft_stopped(pid_t pid)
{
    char path[40], text[512];
    const char *after;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    after = strrchr(text, ')'); /* the name may hold anything */
    return after && after[1] && (after[2] == 'T' || after[2] == 't');
}
