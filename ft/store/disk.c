/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "ft/store/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int real_create(void *arg, int dir, const char *name)
{
    (void)arg;
    return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int real_reserve(void *arg, int fd, uint64_t bytes)
{
    (void)arg;
    if (!bytes || fallocate(fd, 0, 0, (off_t)bytes) == 0)
        return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR ? 0 : -1; /* then a full disk is known later */
}

static ssize_t real_write(void *arg, int fd, const void *data, size_t n, uint64_t at)
{
    (void)arg;
    return pwrite(fd, data, n, (off_t)at);
}

static int real_sync(void *arg, int fd)
{
    (void)arg;
    if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) /* a file system without it */
        return 0;
    return -1;
}

static int real_close(void *arg, int fd)
{
    (void)arg;
    return close(fd);
}

static int real_rename(void *arg, int dir, const char *from, const char *to)
{
    (void)arg;
    return renameat(dir, from, dir, to);
}

static int real_remove(void *arg, int dir, const char *name)
{
    (void)arg;
    return unlinkat(dir, name, 0);
}

static int real_list(void *arg, int dir, void (*each)(void *to, const char *name), void *to)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a position of its own */
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    int error;

    (void)arg;
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while ((errno = 0, entry = readdir(stream)))
        each(to, entry->d_name);
    error = errno;
    closedir(stream);
    errno = error;
    return error ? -1 : 0;
}

const struct ft_disk ft_disk_real = {NULL, real_create, real_reserve, real_write, real_sync, real_close, real_rename, real_remove,
                                     real_list};
