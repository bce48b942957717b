/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/random.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

int ft_random(void *to, size_t n)
{
    ssize_t got = getrandom(to, n, 0);
    int fd;

    if (got == (ssize_t)n)
        return 0;
    fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = read(fd, to, n);
    close(fd);
    return got == (ssize_t)n ? 0 : -1;
}
