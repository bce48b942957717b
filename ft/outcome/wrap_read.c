/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, and the offset. Bytes are kept by value. Under way: a read of a file is made again at the offset that was noted; so is a
   seek. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/event.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/once.h"
#include "ft/outcome/pipes.h"
#include "ft/outcome/record.h"
#include "ft/outcome/tcp.h"

/* note[0]: the offset before. */
static ssize_t read_piece(int fd, void *to, size_t n)
{
    struct ft_recorded c;
    ssize_t got;
    off_t at;

    if (ft_call_begin_wait(&c, FT_CALL_READ, ft_what(fd, (int64_t)n, 0), n)) {
        if (c.record->result > 0)
            memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c);
    }
    if (ft_call_noted(&c)) {
        at = c.record->note[0];
        if (at >= 0)
            syscall(SYS_lseek, fd, at, SEEK_SET);
    } else { /* nor was one that is under way made, if nothing is noted */
        at = ft_descriptors_kind(fd) == FT_DESCRIPTOR_UNKNOWN ? -1 : ft_descriptors_offset(fd);
        ft_call_note(&c, at, 0);
    }
    ft_once_read(fd);
    errno = c.error;
    got = at < 0 ? FT_WAITING(ft_real()->read(fd, to, n)) : ft_real()->read(fd, to, n);
    ft_descriptors_set_offset(fd, at >= 0 && got >= 0 ? at + got : -1);
    if (got > 0 && c.record)
        memcpy(ft_call_data(&c), to, (size_t)got);
    return ft_call_end(&c, got, got > 0 ? (size_t)got : 0);
}

/* One that gives less than it was asked for is the last one: the end of the file. */
static ssize_t read_file(int fd, void *to, size_t n)
{
    size_t done = 0;

    for (;;) {
        size_t piece = ft_min(n - done, FT_OUTCOME_PIECE);
        ssize_t got = read_piece(fd, (char *)to + done, piece);

        if (got < 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
        if ((size_t)got < piece || done == n)
            return (ssize_t)done;
    }
}

static ssize_t read_any(int fd, void *to, size_t n)
{
    if (ft_inputs_has(fd, n))
        return ft_inputs_read(fd, to, n);
    if (ft_pipes_gives(fd))
        return ft_pipes_read(fd, to, n, true);
    if (ft_tcp_gives(fd))
        return ft_tcp_receive(fd, &(struct iovec){to, n}, 1, 0);
    return n >= sizeof(uint64_t) && ft_event_is(fd) ? ft_event_read(fd, to) : read_file(fd, to, n);
}

ssize_t read(int fd, void *to, size_t n)
{
    return ft_recording() ? read_any(fd, to, n) : ft_real()->read(fd, to, n);
}

static ssize_t pread_piece(int fd, void *to, size_t n, off_t at)
{
    struct ft_recorded c;
    ssize_t got;

    if (ft_call_begin(&c, FT_CALL_PREAD, ft_what(fd, (int64_t)n, at), n)) {
        if (c.record->result > 0)
            memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c);
    }
    ft_once_read(fd);
    got = ft_real()->pread64(fd, to, n, at);
    if (got > 0 && c.record)
        memcpy(ft_call_data(&c), to, (size_t)got);
    return ft_call_end(&c, got, got > 0 ? (size_t)got : 0);
}

static ssize_t pread_all(int fd, void *to, size_t n, off_t at)
{
    size_t done = 0;

    if (ft_inputs_has(fd, n))
        return ft_inputs_pread(fd, to, n, at);
    for (;;) {
        size_t piece = ft_min(n - done, FT_OUTCOME_PIECE);
        ssize_t got = pread_piece(fd, (char *)to + done, piece, at + (off_t)done);

        if (got < 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
        if ((size_t)got < piece || done == n)
            return (ssize_t)done;
    }
}

ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return ft_recording() ? pread_all(fd, to, n, at) : ft_real()->pread64(fd, to, n, at);
}

ssize_t pread(int fd, void *to, size_t n, off_t at) __attribute__((alias("pread64")));

/* What a fortified program calls. */
void __chk_fail(void) __attribute__((noreturn));
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off_t at, size_t room);

ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return ft_recording() ? read_any(fd, to, n) : ft_real()->read(fd, to, n);
}

ssize_t __pread64_chk(int fd, void *to, size_t n, off_t at, size_t room)
{
    if (n > room)
        __chk_fail();
    return ft_recording() ? pread_all(fd, to, n, at) : ft_real()->pread64(fd, to, n, at);
}

ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room) __attribute__((alias("__pread64_chk")));

/* note[0]: the offset before. */
off_t lseek64(int fd, off_t offset, int whence)
{
    struct ft_recorded c;
    off_t at;

    if (!ft_recording())
        return ft_real()->lseek64(fd, offset, whence);
    if (ft_call_begin(&c, FT_CALL_SEEK, ft_what(fd, offset, whence), 0))
        return ft_call_give(&c);
    if (ft_call_noted(&c)) {
        if (c.record->note[0] >= 0)
            syscall(SYS_lseek, fd, (off_t)c.record->note[0], SEEK_SET);
    } else if (whence == SEEK_CUR) { /* others do not depend on where it is */
        ft_call_note(&c, ft_descriptors_offset(fd), 0);
    }
    if (whence >= SEEK_END && !ft_once_is(fd, FT_ONCE_IF_WRITTEN)) /* also SEEK_HOLE, SEEK_DATA */
        ft_once_read(fd); /* what it writes there depends on what there was */
    errno = c.error;
    at = ft_real()->lseek64(fd, offset, whence);
    ft_descriptors_set_offset(fd, at);
    return ft_call_end(&c, at, 0);
}

off_t lseek(int fd, off_t offset, int whence) __attribute__((alias("lseek64")));

/* ---- in pieces ---- */

static ssize_t read_each(int fd, const struct iovec *to, int n, off_t at)
{
    size_t done = 0;

    for (int i = 0; i < n; i++) {
        ssize_t got = at < 0 ? read_any(fd, to[i].iov_base, to[i].iov_len) : pread_all(fd, to[i].iov_base, to[i].iov_len, at + (off_t)done);

        if (got < 0)
            return done ? (ssize_t)done : got;
        done += (size_t)got;
        if ((size_t)got < to[i].iov_len)
            break;
    }
    return (ssize_t)done;
}

/* Of a pipe only one may be read: a second read would wait. */
static int pieces_of(int fd, int n) { return ft_pipes_gives(fd) ? 1 : n; }

ssize_t readv(int fd, const struct iovec *to, int n)
{
    if (!ft_recording())
        return ft_real()->readv(fd, to, n);
    if (n <= 0)
        return read_any(fd, NULL, 0);
    if (ft_tcp_gives(fd))
        return ft_tcp_receive(fd, to, n, 0);
    return read_each(fd, to, pieces_of(fd, n), -1);
}

ssize_t preadv64(int fd, const struct iovec *to, int n, off_t at)
{
    if (!ft_recording() || at < 0)
        return ft_real()->preadv64(fd, to, n, at);
    return read_each(fd, to, n, at);
}

ssize_t preadv(int fd, const struct iovec *to, int n, off_t at) __attribute__((alias("preadv64")));

/* Flags ask for speed: one that would wait (RWF_NOWAIT) may do so. */
ssize_t preadv64v2(int fd, const struct iovec *to, int n, off_t at, int flags)
{
    if (!ft_recording() || n <= 0)
        return ft_real()->preadv64v2(fd, to, n, at, flags);
    if (at < 0 && ft_tcp_gives(fd))
        return ft_tcp_receive(fd, to, n, 0);
    return read_each(fd, to, at < 0 ? pieces_of(fd, n) : n, at);
}

ssize_t preadv2(int fd, const struct iovec *to, int n, off_t at, int flags) __attribute__((alias("preadv64v2")));
