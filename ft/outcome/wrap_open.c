/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing. Under way: an open is done if there is a descriptor that no outcome accounts for; a close, if it is gone. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"

/* The descriptor may be this open's: it can do what was asked for. */
static bool is_opened(int fd, const void *arg)
{
    int wanted = *(const int *)arg, has = (int)syscall(SYS_fcntl, fd, F_GETFL);

    return has >= 0 && (has & (O_ACCMODE | O_APPEND | O_PATH)) == (wanted & (O_ACCMODE | O_APPEND | O_PATH));
}

static int do_open(int dir, const char *name, int flags, mode_t mode)
{
    struct ft_recorded c;
    int fd = -1;

    if (ft_call_begin(&c, FT_CALL_OPEN, ft_what(dir, (int64_t)ft_what_name(name), flags), 0))
        return ft_call_give_fd(&c);
    if (c.under_way)
        fd = ft_descriptors_stray(is_opened, &flags);
    if (fd < 0) {
        errno = c.error;
        fd = ft_real()->openat64(dir, name, flags, mode);
    }
    return ft_call_end_fd(&c, fd);
}

static int open_at(int dir, const char *name, int flags, mode_t mode)
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

/* note[0]: what there was before: 1, a descriptor; 2, none. */
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
        ft_descriptors_remove(fd);
        return (int)ft_call_give(&c);
    }
    if (c.under_way && c.record->note[0] == 1 && syscall(SYS_fcntl, fd, F_GETFD) < 0) {
        errno = c.error;
        result = 0;
    } else {
        if (c.record)
            c.record->note[0] = ft_descriptors_knows(fd) ? 1 : 2;
        errno = c.error;
        result = ft_real()->close(fd);
    }
    ft_descriptors_remove(fd);
    return (int)ft_call_end(&c, result, 0);
}
