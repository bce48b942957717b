/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing. Under way: an open is done if there is a descriptor that no outcome accounts for; a close, if it is gone. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"

static long fstatat_raw(int dir, const char *name, struct stat *st, int flags)
{
    return syscall(SYS_newfstatat, dir, name, st, flags);
}

struct opening {
    int dir;
    const char *name;
    int flags;
};

/* The descriptor may be this open's: it can do what was asked for, and has the file of that name. (Another without an outcome is one that
   the C library opened for itself when a predecessor was killed.) */
static bool is_opened(int fd, const void *arg)
{
    const struct opening *o = arg;
    int has = (int)syscall(SYS_fcntl, fd, F_GETFL);
    struct stat st, named;

    if (has < 0 || (has & (O_ACCMODE | O_APPEND | O_PATH)) != (o->flags & (O_ACCMODE | O_APPEND | O_PATH)) ||
        fstatat_raw(fd, "", &st, AT_EMPTY_PATH) < 0)
        return false;
    if (fstatat_raw(o->dir, o->name, &named, o->flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0 || st.st_dev != named.st_dev)
        return false;
    if ((o->flags & O_TMPFILE) == O_TMPFILE)
        return st.st_nlink == 0 && st.st_size == 0; /* of that directory's file system: memory without a name has no link either */
    return st.st_ino == named.st_ino;
}

static int do_open(int dir, const char *name, int flags, mode_t mode)
{
    struct ft_recorded c;
    int fd;

    if (flags & (O_ACCMODE | O_TRUNC))
        ft_inputs_before_change(dir, name);
    if (ft_call_begin_wait(&c, FT_CALL_OPEN, ft_what(dir, (int64_t)ft_what_name(name), flags), 0)) {
        fd = ft_call_give_fd(&c);
        ft_inputs_given(&c, fd);
        return fd;
    }
    fd = c.under_way ? ft_descriptors_stray(is_opened, &(struct opening){dir, name, flags}) : -1;
    if (fd < 0) {
        if (flags & O_TRUNC)
            ft_once_replaces(dir, name, 0);
        errno = c.error;
        fd = FT_WAITING(ft_real()->openat64(dir, name, flags, mode)); /* of a named pipe */
    }
    ft_inputs_opened(&c, fd, flags);
    ft_once_opened(fd, flags);
    return ft_call_end_fd(&c, fd);
}

/* Inlined: who has called matters (record.h). */
FT_CALLED int open_at(int dir, const char *name, int flags, mode_t mode)
{
    return ft_recording() ? do_open(dir, name, flags, mode) : ft_real()->openat64(dir, name, flags, mode);
}

static bool has_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

#define GET_MODE(flags, mode)               \
    do {                                    \
        va_list args_;                      \
        va_start(args_, flags);             \
        if (has_mode(flags))                \
            mode = va_arg(args_, mode_t);   \
        va_end(args_);                      \
    } while (0)

int open(const char *name, int flags, ...)
{
    mode_t mode = 0;

    GET_MODE(flags, mode);
    return open_at(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
{
    mode_t mode = 0;

    GET_MODE(flags, mode);
    return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int dir, const char *name, int flags, ...)
{
    mode_t mode = 0;

    GET_MODE(flags, mode);
    return open_at(dir, name, flags, mode);
}

int openat64(int dir, const char *name, int flags, ...)
{
    mode_t mode = 0;

    GET_MODE(flags, mode);
    return open_at(dir, name, flags, mode);
}

/* What a fortified program calls. */
int __open_2(const char *name, int flags);
int __open64_2(const char *name, int flags);
int __openat_2(int dir, const char *name, int flags);
int __openat64_2(int dir, const char *name, int flags);

int __open_2(const char *name, int flags) { return open_at(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return open_at(AT_FDCWD, name, flags, 0); }
int __openat_2(int dir, const char *name, int flags) { return open_at(dir, name, flags, 0); }
int __openat64_2(int dir, const char *name, int flags) { return open_at(dir, name, flags, 0); }

int creat(const char *name, mode_t mode) { return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static int give_pipe(struct ft_recorded *c, int fds[2])
{
    if (c->record->result == 0) {
        memcpy(fds, ft_call_data(c), 2 * sizeof fds[0]);
        ft_descriptors_add(fds[0]);
        ft_descriptors_add(fds[1]);
    }
    return (int)ft_call_give(c);
}

static bool is_none(int fd, const void *arg)
{
    (void)fd;
    (void)arg;
    return false;
}

static int call_pipe(int flags, int fds[2]) { return ft_real()->pipe2(fds, flags); }
static int call_pair(int type, int fds[2]) { return ft_real()->socketpair(AF_UNIX, type, 0, fds); }

/* One that was under way nobody has seen: it is closed, and made again. */
static int make_two(int (*make)(int how, int fds[2]), int how, int fds[2])
{
    struct ft_recorded c;
    int result;

    if (ft_call_begin(&c, FT_CALL_PIPE, ft_what(how, make == call_pair, 0), 2 * sizeof fds[0]))
        return give_pipe(&c, fds);
    if (c.under_way)
        ft_descriptors_stray(is_none, NULL);
    errno = c.error;
    result = make(how, fds);
    if (result < 0 || !c.record)
        return (int)ft_call_end(&c, result, 0);
    memcpy(ft_call_data(&c), fds, 2 * sizeof fds[0]);
    ft_descriptors_add(fds[0]);
    ft_descriptors_add(fds[1]);
    return (int)ft_call_end(&c, result, 2 * sizeof fds[0]);
}

int pipe2(int fds[2], int flags) { return ft_recording() ? make_two(call_pipe, flags, fds) : ft_real()->pipe2(fds, flags); }
int pipe(int fds[2]) { return ft_recording() ? make_two(call_pipe, 0, fds) : ft_real()->pipe2(fds, 0); }

/* Of streams. Others cannot be followed. */
int socketpair(int domain, int type, int protocol, int fds[2])
{
    if (!ft_recording())
        return ft_real()->socketpair(domain, type, protocol, fds);
    if (domain == AF_UNIX && protocol == 0 && (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM)
        return make_two(call_pair, type, fds);
    return FT_CLOSED(ft_real()->socketpair(domain, type, protocol, fds), "it has opened a pair of sockets that are not streams");
}

/* note[0]: what there was before, or has been found out. note[1], step: which file the descriptor was of, and its number + 1, if there are
   several threads: what was closed may be another one's by the kill, whose call does not know it yet. */
enum { CLOSES = 1, CLOSES_NOTHING, CLOSED };

static int64_t file_of(int fd)
{
    struct stat st;

    return syscall(SYS_fstat, fd, &st) < 0 ? 0 : (int64_t)ft_what((int64_t)st.st_ino, (int64_t)st.st_dev, 0);
}

static void note_close(struct ft_recorded *c, int fd)
{
    if (!c->record)
        return;
    c->record->note[0] = ft_descriptors_knows(fd) ? CLOSES : CLOSES_NOTHING;
    if (!ft_threads_many || fd < 0 || fd >= FT_DESCRIPTORS)
        return;
    c->record->note[1] = file_of(fd);
    atomic_signal_fence(memory_order_release);
    c->record->step = (uint16_t)(fd + 1);
}

void ft_close_settle(struct ft_outcome *o)
{
    int fd = o->step - 1;

    if (fd < 0 || o->note[0] != CLOSES || file_of(fd) == o->note[1])
        return;
    o->note[0] = CLOSED;
    ft_once_closed(fd);
    ft_descriptors_lose(fd);
}

int close(int fd)
{
    struct ft_recorded c;
    int result;

    if (ft_descriptors_is_own(fd)) {
        errno = EBADF; /* to the program it is not open */
        return -1;
    }
    if (!ft_recording())
        return ft_real()->close(fd);
    if (ft_call_begin(&c, FT_CALL_CLOSE, ft_what(fd, 0, 0), 0)) {
        ft_descriptors_closed(fd);
        return (int)ft_call_give(&c);
    }
    if (c.under_way && c.record->note[0] == CLOSED) {
        errno = c.error;
        return (int)ft_call_end(&c, 0, 0);
    }
    if (c.under_way && c.record->note[0] == CLOSES && !ft_descriptors_was_open(fd)) {
        errno = c.error;
        result = 0;
    } else {
        note_close(&c, fd);
        errno = c.error;
        result = ft_real()->close(fd);
    }
    if (result == 0)
        ft_once_closed(fd);
    ft_descriptors_closed(fd); /* before others know that it ended: the number may be theirs then */
    return (int)ft_call_end(&c, result, 0);
}
