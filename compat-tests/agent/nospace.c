/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded into ftrun in front of the C library (memory.sh): the system gives no memory for the log beyond NOSPACE bytes,
   as where vm.overcommit_memory is 2, and says so. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static atomic_llong given;

SHOWN ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    const char *most = getenv("NOSPACE");
    char link[64], name[64] = "";

    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, name, sizeof name - 1) > 0 && most && !strncmp(name, "/memfd:ftmpi ", 13) &&
        atomic_fetch_add(&given, (long long)n) > atoll(most)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, data, n, at);
}

SHOWN ssize_t pwrite64(int fd, const void *data, size_t n, off_t at) { return pwrite(fd, data, n, at); }
