/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

enum {
    MOST = 4096,        /* a descriptor above is not followed */
    OWN_FROM = 3500,    /* the library's own, if the limit allows it */
    OWN_MOST = 64
};

struct descriptor {
    bool known, own, left, shared;
    unsigned char kind;
    off_t at;
};

static struct descriptor table[MOST];

static struct descriptor *of(int fd)
{
    return fd >= 0 && fd < MOST ? &table[fd] : NULL;
}

/* struct linux_dirent64. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* Each open one. Raw: a thread that stands still may hold malloc's lock. */
static void each(void (*with)(int fd))
{
    _Alignas(struct entry) char text[4096];
    int dir = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    while (dir >= 0 && (n = syscall(SYS_getdents64, dir, text, sizeof text)) > 0)
        for (long i = 0; i < n;) {
            const struct entry *e = (const struct entry *)(const void *)(text + i);
            int fd = e->name[0] == '.' ? -1 : atoi(e->name);

            if (fd >= 0 && fd != dir)
                with(fd);
            i += e->bytes;
        }
    if (dir >= 0)
        syscall(SYS_close, dir);
}

static void take_in(int fd)
{
    struct descriptor *d = of(fd);

    if (!d) {
        ft_recorder_close("it has a descriptor above %d (%d)", MOST, fd);
        return;
    }
    if (!d->known)
        *d = (struct descriptor){.known = true, .own = d->own, .shared = true, .at = -1};
}

void ft_descriptors_open(void) { each(take_in); }

void ft_descriptors_add(int fd)
{
    if (of(fd))
        *of(fd) = (struct descriptor){.known = true, .at = -1};
    else
        ft_recorder_close("it has a descriptor above %d (%d)", MOST, fd);
}

void ft_descriptors_remove(int fd)
{
    if (of(fd))
        *of(fd) = (struct descriptor){.known = false};
}

void ft_descriptors_share(int fd)
{
    if (of(fd))
        of(fd)->shared = true;
}

void ft_descriptors_share_all(void)
{
    for (int fd = 0; fd < MOST; fd++)
        table[fd].shared |= table[fd].known;
}

bool ft_descriptors_knows(int fd) { return of(fd) && of(fd)->known; }

void ft_descriptors_forget(int fd)
{
    if (of(fd)) {
        of(fd)->kind = FT_DESCRIPTOR_UNKNOWN;
        of(fd)->at = -1;
    }
}

static enum ft_descriptor_kind ask(int fd)
{
    int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    struct stat st;

    if (flags < 0 || syscall(SYS_fstat, fd, &st) < 0)
        return FT_DESCRIPTOR_UNKNOWN; /* it is none: the call will say so */
    if (S_ISREG(st.st_mode))
        return flags & O_APPEND ? FT_DESCRIPTOR_APPEND : FT_DESCRIPTOR_FILE;
    return S_ISFIFO(st.st_mode) ? FT_DESCRIPTOR_PIPE : FT_DESCRIPTOR_OTHER;
}

enum ft_descriptor_kind ft_descriptors_kind(int fd)
{
    struct descriptor *d = of(fd);
    int error = errno;

    if (!d)
        return FT_DESCRIPTOR_OTHER;
    if (d->kind == FT_DESCRIPTOR_UNKNOWN)
        d->kind = (unsigned char)ask(fd);
    errno = error;
    return d->kind;
}

off_t ft_descriptors_offset(int fd)
{
    struct descriptor *d = of(fd);
    int error = errno;
    off_t at = d && !d->shared && d->at >= 0 ? d->at : (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);

    errno = error;
    return at;
}

void ft_descriptors_set_offset(int fd, off_t at)
{
    if (of(fd))
        of(fd)->at = at;
}

/* ---- the library's own ---- */

int ft_descriptors_own(int fd)
{
    int own = -1;

    for (int from = OWN_FROM; own < 0 && from > OWN_MOST; from /= 2)
        own = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
    syscall(SYS_close, fd);
    if (own >= MOST) {
        syscall(SYS_close, own);
        errno = EMFILE;
        return -1;
    }
    if (own >= 0)
        table[own] = (struct descriptor){.known = true, .own = true, .at = -1};
    return own;
}

bool ft_descriptors_is_own(int fd) { return of(fd) && of(fd)->own; }

/* ---- what a predecessor left ---- */

static void mark_left(int fd)
{
    if (of(fd) && !of(fd)->known)
        of(fd)->left = true;
}

void ft_descriptors_left(void)
{
    for (int fd = 0; fd < MOST; fd++)
        table[fd].left = false;
    each(mark_left);
}

int ft_descriptors_stray(bool (*is_it)(int fd, const void *arg), const void *arg)
{
    for (int fd = 0; fd < MOST; fd++)
        if (table[fd].left && !table[fd].known && is_it(fd, arg))
            return fd;
    return -1;
}

void ft_descriptors_sweep(void)
{
    for (int fd = 0; fd < MOST; fd++) {
        if (table[fd].left && !table[fd].known)
            syscall(SYS_close, fd);
        table[fd].left = false;
    }
}
