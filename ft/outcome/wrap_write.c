/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing. Of the bytes a hash is kept. Under way, by kind:

     file     written again at the offset that was noted
     append   before the call the offset is set far beyond every file (SENTINEL), the kernel then sets it to the new end: unchanged means
              that nothing was written. Otherwise what was is found at that end, and the rest is written */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/event.h"
#include "ft/outcome/once.h"
#include "ft/outcome/pieces.h"
#include "ft/outcome/pipes.h"
#include "ft/outcome/record.h"
#include "ft/outcome/tcp.h"

enum { TEAR = 512 }; /* a write that is killed in the middle ends at a multiple of this many bytes of the file */

static const off_t SENTINEL = (off_t)1 << 43;

/* ---- of what is written: one piece of memory, or several ---- */

struct bytes {
    const struct iovec *pieces;
    int n;
    size_t total;
};

static uint64_t hash_of(const struct bytes *b)
{
    uint64_t hash = b->total;

    for (int i = 0; i < b->n; i++)
        hash = ft_what((int64_t)hash, (int64_t)ft_what_bytes(b->pieces[i].iov_base, b->pieces[i].iov_len), 0);
    return hash;
}

static const char *byte_at(const struct bytes *b, size_t at, size_t *together)
{
    int i = 0;

    for (; at >= b->pieces[i].iov_len; i++)
        at -= b->pieces[i].iov_len;
    *together = b->pieces[i].iov_len - at;
    return (const char *)b->pieces[i].iov_base + at;
}

/* Bytes from `from` on, until all are written or a call does not write all it is given. at < 0: where the offset is. */
static ssize_t write_from(int fd, const struct bytes *b, size_t from, off_t at)
{
    size_t done = from, together;

    if (from == 0 && b->n > 1)
        return at < 0 ? ft_real()->writev(fd, b->pieces, b->n) : ft_real()->pwritev64(fd, b->pieces, b->n, at);
    if (b->total == 0)
        return at < 0 ? ft_real()->write(fd, b->pieces->iov_base, 0) : ft_real()->pwrite64(fd, b->pieces->iov_base, 0, at);
    while (done < b->total) {
        const char *piece = byte_at(b, done, &together);
        ssize_t n = at < 0 ? ft_real()->write(fd, piece, together) : ft_real()->pwrite64(fd, piece, together, at + (off_t)(done - from));

        if (n < 0)
            return done > from ? (ssize_t)(done - from) : n;
        done += (size_t)n;
        if ((size_t)n < together)
            break;
    }
    return (ssize_t)(done - from);
}

/* The file's last k bytes before `end` are the first k of b? -1: it cannot be read. */
static int ends_with(int file, off_t end, const struct bytes *b, size_t k)
{
    char text[4096];
    size_t together;

    for (size_t at = 0; at < k;) {
        const char *piece = byte_at(b, at, &together);
        size_t n = ft_min(ft_min(together, k - at), sizeof text);

        if (syscall(SYS_pread64, file, text, n, end - (off_t)(k - at)) != (long)n)
            return -1;
        if (memcmp(text, piece, n) != 0)
            return 0;
        at += n;
    }
    return 1;
}

/* How much of b was appended if the file's part of it ends at `end`. 0: that cannot be told. */
static size_t appended(int file, off_t end, const struct bytes *b)
{
    size_t found = 0;

    if (end >= (off_t)b->total && ends_with(file, end, b, b->total) == 1)
        found = b->total;
    if (end % TEAR != 0)
        return found;
    for (size_t k = 1; k < b->total; k++) /* torn */
        if ((off_t)k <= end && ends_with(file, end, b, k) == 1) {
            if (found)
                return 0; /* it may be this much or that much */
            found = k;
        }
    return found;
}

/* What there is of an append that was under way. */
struct tail {
    int fd;
    const struct bytes *b;
    off_t begin, end;  /* one of them is known; the other is -1 */
    off_t size;        /* the file's, now */
    size_t done;       /* so much of it is there; 0: that cannot be told */
};

static int look_at_tail(void *arg)
{
    struct tail *t = arg;
    char name[40];
    struct stat st;
    int file;

    snprintf(name, sizeof name, "/proc/thread-self/fd/%d", t->fd);
    file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || syscall(SYS_fstat, file, &st) < 0)
        return 0;
    t->size = st.st_size;
    if (t->begin >= 0) {
        size_t k = ft_min((uint64_t)(st.st_size - t->begin), t->b->total);

        t->done = st.st_size > t->begin && ends_with(file, t->begin + (off_t)k, t->b, k) == 1 ? k : 0;
    } else {
        t->done = appended(file, t->end, t->b);
    }
    return 0;
}

/* By a child with a table of its own: whoever closes a descriptor of a file ends all locks that it has there. Writes what is missing. */
static ssize_t go_on_appending(struct tail *t, off_t at)
{
    _Alignas(16) static char stack[32 << 10];
    pid_t child = ft_real()->clone(look_at_tail, stack + sizeof stack, CLONE_VM | CLONE_VFORK, t);
    ssize_t n;

    if (child > 0)
        syscall(SYS_wait4, child, NULL, __WCLONE, NULL);
    if (t->done == 0)
        ft_recorder_lost("it was killed while it appended to a file, and how much of that is there cannot be told");
    if (t->done == t->b->total)
        return (ssize_t)t->done;
    if (t->size != (t->begin >= 0 ? t->begin + (off_t)t->done : t->end))
        ft_recorder_lost("it was killed while it appended to a file, and others have appended in the middle of that");
    n = write_from(t->fd, t->b, t->done, at);
    if (n > 0 && at < 0 && (off_t)syscall(SYS_lseek, t->fd, 0, SEEK_CUR) != t->size + n)
        ft_recorder_lost("it was killed while it appended to a file, and others appended before it went on");
    return (ssize_t)t->done + (n > 0 ? n : 0);
}

/* note[1] of all of these: the hash of the bytes, afterwards. */
static ssize_t append(struct ft_recorded *c, int fd, const struct bytes *b)
{
    ssize_t n;
    off_t end;

    if (c->under_way && c->record->step) {
        end = (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
        if (end != SENTINEL)
            return go_on_appending(&(struct tail){.fd = fd, .b = b, .begin = -1, .end = end}, -1);
    } else if (b->total && c->record && syscall(SYS_lseek, fd, SENTINEL, SEEK_SET) == SENTINEL) {
        c->record->step = 1;
    }
    errno = c->error;
    n = write_from(fd, b, 0, -1);
    if (n <= 0) {
        int error = errno;

        syscall(SYS_lseek, fd, 0, SEEK_END); /* where an append begins, POSIX says */
        errno = error;
    }
    return n;
}

/* note[0]: the offset before. */
static ssize_t overwrite(struct ft_recorded *c, int fd, const struct bytes *b)
{
    ssize_t n;
    off_t at;

    if (c->under_way && c->record->step) {
        at = c->record->note[0];
        if (at >= 0)
            syscall(SYS_lseek, fd, at, SEEK_SET);
    } else {
        at = ft_descriptors_kind(fd) == FT_DESCRIPTOR_UNKNOWN ? -1 : ft_descriptors_offset(fd);
        ft_call_note(c, at, 0);
    }
    errno = c->error;
    n = at < 0 ? FT_WAITING(write_from(fd, b, 0, -1)) : write_from(fd, b, 0, -1);
    ft_descriptors_set_offset(fd, at >= 0 && n >= 0 ? at + n : -1);
    return n;
}

/* After the call, which says whether the memory can be read. */
static ssize_t ended(struct ft_recorded *c, ssize_t n, const struct bytes *b)
{
    int error = errno;

    if (c->record && n > 0)
        c->record->note[1] = (int64_t)hash_of(b);
    errno = error;
    return ft_call_end(c, n, 0);
}

/* It was written before: other bytes now are dropped, as lines of output are. */
static void compare(struct ft_recorded *c, const struct bytes *b, int fd)
{
    if (c->record->result > 0 && (uint64_t)c->record->note[1] != hash_of(b))
        ft_recorder_tell("what it writes again to descriptor %d differs from before, and is dropped", fd);
}

static void before_write(int fd)
{
    if (ft_descriptors_kind(fd) == FT_DESCRIPTOR_APPEND)
        ft_once_read(fd); /* where that is depends on what there is */
    ft_once_write(fd);
}

static ssize_t write_file(int fd, const struct bytes *b)
{
    struct ft_recorded c;
    ssize_t n;

    if (ft_call_begin_wait(&c, FT_CALL_WRITE, ft_what(fd, (int64_t)b->total, 0), 0)) {
        compare(&c, b, fd);
        return ft_call_give(&c);
    }
    before_write(fd);
    n = ft_descriptors_kind(fd) == FT_DESCRIPTOR_APPEND ? append(&c, fd, b) : overwrite(&c, fd, b);
    return ended(&c, n, b);
}

static struct bytes all_of(const struct iovec *pieces, int n)
{
    return (struct bytes){pieces, n, ft_pieces_total(pieces, (size_t)n)};
}

static ssize_t write_any(int fd, const struct iovec *from, int n)
{
    struct bytes b = all_of(from, n);

    if (ft_pipes_takes(fd))
        return ft_pipes_write(fd, from, n);
    if (ft_tcp_takes(fd))
        return ft_tcp_send(fd, from, n, 0);
    return n == 1 && b.total == sizeof(uint64_t) && ft_event_is(fd) ? ft_event_write(fd, from->iov_base) : write_file(fd, &b);
}

ssize_t writev(int fd, const struct iovec *from, int n)
{
    if (!ft_recording() || n <= 0 || n > IOV_MAX)
        return ft_real()->writev(fd, from, n);
    return write_any(fd, from, n);
}

ssize_t write(int fd, const void *from, size_t n)
{
    if (!ft_recording())
        return ft_real()->write(fd, from, n);
    return write_any(fd, &(struct iovec){(void *)(uintptr_t)from, n}, 1);
}

/* ---- at an offset ---- */

/* note[0]: the size before, of a file to which Linux appends whatever the offset. */
static ssize_t append_at(struct ft_recorded *c, int fd, const struct bytes *b, off_t at)
{
    struct stat st;

    if (b->total && syscall(SYS_fstat, fd, &st) == 0) {
        if (ft_call_noted(c) && st.st_size != c->record->note[0])
            return go_on_appending(&(struct tail){.fd = fd, .b = b, .begin = (off_t)c->record->note[0], .end = -1}, at);
        ft_call_note(c, st.st_size, 0);
    }
    errno = c->error;
    return write_from(fd, b, 0, at);
}

static ssize_t pwrite_all(int fd, const struct iovec *from, int n, off_t at)
{
    struct bytes b = all_of(from, n);
    struct ft_recorded c;
    ssize_t done;

    if (ft_call_begin(&c, FT_CALL_PWRITE, ft_what(fd, (int64_t)b.total, at), 0)) {
        compare(&c, &b, fd);
        return ft_call_give(&c);
    }
    before_write(fd);
    if (ft_descriptors_kind(fd) == FT_DESCRIPTOR_APPEND) {
        done = append_at(&c, fd, &b, at);
    } else {
        errno = c.error;
        done = write_from(fd, &b, 0, at);
    }
    return ended(&c, done, &b);
}

ssize_t pwritev64(int fd, const struct iovec *from, int n, off_t at)
{
    if (!ft_recording() || n <= 0 || n > IOV_MAX || at < 0)
        return ft_real()->pwritev64(fd, from, n, at);
    return pwrite_all(fd, from, n, at);
}

ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at) __attribute__((alias("pwritev64")));

ssize_t pwrite64(int fd, const void *from, size_t n, off_t at)
{
    if (!ft_recording() || at < 0)
        return ft_real()->pwrite64(fd, from, n, at);
    return pwrite_all(fd, &(struct iovec){(void *)(uintptr_t)from, n}, 1, at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) __attribute__((alias("pwrite64")));

/* Flags ask for speed, or for the disk; RWF_APPEND for another place. */
static ssize_t after_write(int fd, ssize_t n, int flags)
{
    if (n >= 0 && flags & (RWF_SYNC | RWF_DSYNC) && (flags & RWF_SYNC ? fsync(fd) : fdatasync(fd)) < 0)
        return -1;
    return n;
}

ssize_t pwritev64v2(int fd, const struct iovec *from, int n, off_t at, int flags)
{
    struct ft_recorded c;
    struct bytes b;
    ssize_t done;

    if (!ft_recording() || n <= 0 || n > IOV_MAX)
        return ft_real()->pwritev64v2(fd, from, n, at, flags);
    if (!(flags & RWF_APPEND))
        return after_write(fd, at == -1 ? write_any(fd, from, n) : pwrite_all(fd, from, n, at), flags);
    b = all_of(from, n);
    if (ft_call_begin(&c, FT_CALL_PWRITE, ft_what(fd, (int64_t)b.total, -2), 0)) {
        compare(&c, &b, fd);
        return ft_call_give(&c);
    }
    if (ft_call_noted(&c))
        ft_recorder_lost("it was killed in pwritev2 with RWF_APPEND");
    ft_call_note(&c, 0, 0);
    ft_once_read(fd);
    ft_once_write(fd);
    errno = c.error;
    done = ft_real()->pwritev64v2(fd, from, n, at, flags);
    ft_descriptors_set_offset(fd, -1);
    return ended(&c, done, &b);
}

ssize_t pwritev2(int fd, const struct iovec *from, int n, off_t at, int flags) __attribute__((alias("pwritev64v2")));
