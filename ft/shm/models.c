/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/models.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"
#include "ft/shm/point.h"

enum { MOST_AT_ONCE = 1 << 30 };

int ft_models_create(struct ft_error *e)
{
    int fd = memfd_create("ftmpi-models", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot create memory for checkpoints: %s", strerror(errno));
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* a program's stray ftruncate cannot take models away */
    return fd;
}

int ft_models_attach(int fd, struct ft_error *e)
{
    struct stat st;

    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fstat(fd, &st) != 0 || !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
        return ft_err_set(e, FT_EJOB, "descriptor %d is not this job's memory for checkpoints: was this program started through "
                          "something that closes descriptors?", fd);
    return 0;
}

/* What was before ft_models_write. A write beyond RLIMIT_FSIZE is a signal and an error; it is to be the error only. */
struct limits {
    struct rlimit size;
    bool raised, blocked;
    sigset_t mask;
};

static void lift(struct limits *l)
{
    sigset_t excess;

    sigemptyset(&excess);
    sigaddset(&excess, SIGXFSZ);
    l->blocked = pthread_sigmask(SIG_BLOCK, &excess, &l->mask) == 0;
    l->raised = getrlimit(RLIMIT_FSIZE, &l->size) == 0 && l->size.rlim_cur != l->size.rlim_max &&
                setrlimit(RLIMIT_FSIZE, &(struct rlimit){l->size.rlim_max, l->size.rlim_max}) == 0;
}

static void put_back(const struct limits *l, bool exceeded)
{
    sigset_t excess;

    sigemptyset(&excess);
    sigaddset(&excess, SIGXFSZ);
    if (exceeded)
        sigtimedwait(&excess, NULL, &(struct timespec){0});
    if (l->raised)
        setrlimit(RLIMIT_FSIZE, &l->size);
    if (l->blocked)
        pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
}

/* 0 or errno. */
static int write_all(int fd, const char *from, uint64_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, from, ft_min(n, MOST_AT_ONCE), (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        from += done;
        at += (uint64_t)done;
        n -= (uint64_t)done;
    }
    return 0;
}

int ft_models_write(int fd, uint64_t area, uint64_t at, const void *bytes, uint64_t n, struct ft_error *e)
{
    struct limits before;
    int error;

    if (n == 0)
        return 0;
    if (at > FT_MODELS_AREA_BYTES || n > FT_MODELS_AREA_BYTES - at)
        return ft_err_set(e, FT_ENOMEM, "%llu bytes are too many to be kept", (unsigned long long)n);
    ft_point_store();
    lift(&before);
    error = write_all(fd, bytes, n, area * FT_MODELS_AREA_BYTES + at);
    put_back(&before, error == EFBIG);
    if (!error)
        return 0;
    return ft_err_set(e, FT_ENOMEM, "cannot keep %llu byte%s: %s%s", (unsigned long long)n, ft_plural(n), strerror(error),
                      error == EFBIG ? " (checkpoints need ulimit -Hf unlimited)" : "");
}

int ft_models_read(int fd, uint64_t area, uint64_t at, void *bytes, uint64_t n, struct ft_error *e)
{
    char *to = bytes;

    ft_point_look(); /* it may be written over since it was found */
    while (n > 0) {
        ssize_t done = pread(fd, to, ft_min(n, MOST_AT_ONCE), (off_t)(area * FT_MODELS_AREA_BYTES + at));

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return ft_err_set(e, FT_ESYS, "cannot read what was kept: %s", done < 0 ? strerror(errno) : "it ends too soon");
        to += done;
        at += (uint64_t)done;
        n -= (uint64_t)done;
    }
    return 0;
}

int ft_models_hash(int fd, uint64_t area, uint64_t n, uint64_t *hash, struct ft_error *e)
{
    void *bytes;

    *hash = 0;
    if (!n)
        return 0;
    bytes = mmap(NULL, n, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(area * FT_MODELS_AREA_BYTES));
    if (bytes == MAP_FAILED)
        return ft_err_set(e, FT_ENOMEM, "cannot map %llu bytes of a model: %s", (unsigned long long)n, strerror(errno));
    *hash = ft_hash(0, bytes, n);
    munmap(bytes, n);
    return 0;
}

void ft_models_end(int fd, uint64_t area, uint64_t n)
{
    uint64_t from = ft_align(n, ft_page_bytes());

    /* Where it cannot be done the memory is used again by a later version. */
    if (from < FT_MODELS_AREA_BYTES)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(area * FT_MODELS_AREA_BYTES + from),
                  (off_t)(FT_MODELS_AREA_BYTES - from));
}
