/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/real.h"

#include <dlfcn.h>


struct ft_real ft_real_table;
bool ft_real_ready;
static bool found;
static void (*look)(void);
_Atomic uint64_t *ft_real_writes;

/* ---- what is counted ---- */

static struct ft_real uncounted;

static ssize_t count_write(int fd, const void *from, size_t n)
{
    ft_real_count_write();
    return uncounted.write(fd, from, n);
}

static ssize_t count_writev(int fd, const struct iovec *from, int n)
{
    ft_real_count_write();
    return uncounted.writev(fd, from, n);
}

static ssize_t count_pwrite64(int fd, const void *from, size_t n, off_t at)
{
    ft_real_count_write();
    return uncounted.pwrite64(fd, from, n, at);
}

static ssize_t count_pwritev64(int fd, const struct iovec *from, int n, off_t at)
{
    ft_real_count_write();
    return uncounted.pwritev64(fd, from, n, at);
}

static ssize_t count_pwritev64v2(int fd, const struct iovec *from, int n, off_t at, int flags)
{
    ft_real_count_write();
    return uncounted.pwritev64v2(fd, from, n, at, flags);
}

static ssize_t count_sendfile64(int to, int from, off_t *at, size_t n)
{
    ft_real_count_write();
    return uncounted.sendfile64(to, from, at, n);
}

static ssize_t count_copy_file_range(int from, off_t *at, int to, off_t *to_at, size_t n, unsigned flags)
{
    ft_real_count_write();
    return uncounted.copy_file_range(from, at, to, to_at, n, flags);
}

static void count_these(struct ft_real *real)
{
    uncounted = *real;
    real->write = count_write;
    real->writev = count_writev;
    real->pwrite64 = count_pwrite64;
    real->pwritev64 = count_pwritev64;
    real->pwritev64v2 = count_pwritev64v2;
    real->sendfile64 = count_sendfile64;
    real->copy_file_range = count_copy_file_range;
}

/* ---- finding them ---- */

/* NULL in a C library that has not got it yet: no program calls it there. */
static void *find(const char *name) { return dlsym(RTLD_NEXT, name); }

/* Two threads may both do it, with the same result. */
static void find_all(void)
{
    struct ft_real real;

#define X(name) real.name = (__typeof__(&name))find(#name);
    FT_REAL_NAMES(X)
#undef X
    count_these(&real);
    ft_real_table = real;
    found = true;
}

void ft_real_find(void)
{
    void (*also)(void) = look;

    if (!found)
        find_all();
    if (also)
        also();
    else
        ft_real_ready = true;
}

void ft_real_watch(void (*with)(void))
{
    look = with;
    ft_real_ready = false;
}
