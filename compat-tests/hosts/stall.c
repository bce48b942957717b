/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that stalls: to be preloaded into ftrun. What writes to a file at or below $STALL, or sends it, waits until $STALL_UNTIL is there;
   that somebody waits says $STALL_UNTIL.waits. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

static int is_there(int fd)
{
    const char *stall = getenv("STALL");
    char link[40], path[4096];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = stall ? readlink(link, path, sizeof path - 1) : -1;
    if (n < 0)
        return 0;
    path[n] = 0;
    return !strncmp(path, stall, strlen(stall));
}

static void stall(int fd)
{
    const struct timespec soon = {.tv_nsec = 10 * 1000000};
    const char *until = getenv("STALL_UNTIL");
    char waits[4096];
    int marker;

    if (!until || !is_there(fd) || access(until, F_OK) == 0)
        return;
    snprintf(waits, sizeof waits, "%s.waits", until);
    marker = open(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (marker >= 0)
        close(marker);
    while (access(until, F_OK) < 0)
        nanosleep(&soon, NULL);
}

#define EXPORTED __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

EXPORTED ssize_t write(int fd, const void *data, size_t n)
{
    stall(fd);
    return REAL(write)(fd, data, n);
}

EXPORTED ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    stall(fd);
    return REAL(pwrite)(fd, data, n, at);
}

EXPORTED ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    stall(fd);
    return REAL(pwrite64)(fd, data, n, at);
}

EXPORTED ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
    stall(to), stall(from);
    return REAL(sendfile)(to, from, at, n);
}

EXPORTED ssize_t sendfile64(int to, int from, off64_t *at, size_t n)
{
    stall(to), stall(from);
    return REAL(sendfile64)(to, from, at, n);
}
