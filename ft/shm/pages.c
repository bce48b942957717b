/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ft/base/util.h"

enum { STEP = 64 << 10 };

static void touch(char *from, uint64_t bytes)
{
    if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
    for (uint64_t at = 0; at < bytes; at += 4096)  /* kernels before 5.14; a load: others may be writing there */
        (void)*(volatile char *)(from + at);
}

void ft_pages_touch(char *from, uint64_t bytes, const atomic_bool *stop)
{
    for (uint64_t at = 0; at < bytes && !atomic_load(stop); at += STEP)
        touch(from + at, ft_min(STEP, bytes - at));
}

static bool is_refused(int error) { return error == ENOSPC || error == ENOMEM || error == EDQUOT; }

int ft_pages_write(int fd, uint64_t at, char *from, uint64_t bytes, const atomic_bool *stop)
{
    static const char zeros[STEP];
    uint64_t done = 0;

    while (done < bytes && !atomic_load(stop)) {
        ssize_t wrote = pwrite(fd, zeros, ft_min(STEP, bytes - done), (off_t)(at + done));

        if (wrote > 0)
            done += (uint64_t)wrote;
        else if (wrote < 0 && errno != EINTR)
            break;
    }
    if (done == bytes || atomic_load(stop))
        return 0;
    if (is_refused(errno))
        return -1;
    ft_pages_touch(from, bytes, stop);
    return 0;
}

int ft_pages_drop(int fd, uint64_t at, uint64_t bytes)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}
