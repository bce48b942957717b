/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with descriptors themselves: doubled, their flags, locks. Under way: a new number is found as that of an open is; all
   else is made again, which changes nothing if it was done. Locks belong to the table of descriptors, which outlives the rank. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/inputs.h"
#include "ft/outcome/once.h"
#include "ft/outcome/record.h"

/* ---- doubling ---- */

/* Both have one offset now. */
static void doubled(int fd, int result)
{
    if (result < 0 || result == fd)
        return;
    ft_descriptors_share(fd);
    ft_descriptors_share(result);
    ft_inputs_double(fd, result);
}

/* The descriptor is the same file, opened alike. */
static bool is_double(int fd, const void *arg)
{
    struct stat a, b;
    int of = *(const int *)arg;

    return syscall(SYS_fstat, of, &a) == 0 && syscall(SYS_fstat, fd, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev &&
           syscall(SYS_fcntl, of, F_GETFL) == syscall(SYS_fcntl, fd, F_GETFL);
}

/* command: F_DUPFD or F_DUPFD_CLOEXEC. */
static int do_dup(int fd, int command, int from)
{
    struct ft_recorded c;
    int result = -1;

    if (ft_call_begin(&c, FT_CALL_DUP, ft_what(fd, command, from), 0)) {
        result = (int)c.record->result;
        if (result >= 0)
            ft_descriptors_add(result);
        doubled(fd, result);
        return (int)ft_call_give(&c);
    }
    if (c.under_way)
        result = ft_descriptors_stray(is_double, &fd);
    errno = c.error;
    if (result < 0)
        result = ft_real()->fcntl64(fd, command, from);
    ft_once_doubled(fd, result);
    if (result >= 0)
        ft_descriptors_add(result);
    doubled(fd, result);
    return (int)ft_call_end(&c, result, 0);
}

int dup(int fd)
{
    if (ft_descriptors_is_own(fd)) {
        errno = EBADF; /* to the program it is not open */
        return -1;
    }
    return ft_recording() ? do_dup(fd, F_DUPFD, 0) : ft_real()->dup(fd);
}

static void doubled_to(int fd, int to, int result)
{
    if (result < 0 || fd == to)
        return;
    ft_descriptors_closed(to);
    ft_descriptors_add(to);
    doubled(fd, to);
}

/* command: -2 or -3, which of the two functions. */
FT_CALLED int do_dup_to(int fd, int to, int command, int flags)
{
    struct ft_recorded c;
    int result;

    if (ft_descriptors_is_own(fd) || ft_descriptors_is_own(to)) {
        errno = EBADF; /* as beyond the limit */
        return -1;
    }
    if (!ft_recording())
        return command == -2 ? ft_real()->dup2(fd, to) : ft_real()->dup3(fd, to, flags);
    if (ft_call_begin(&c, FT_CALL_DUP, ft_what(fd, command, (int64_t)to << 32 | flags), 0)) {
        doubled_to(fd, to, (int)c.record->result);
        return (int)ft_call_give(&c);
    }
    result = command == -2 ? ft_real()->dup2(fd, to) : ft_real()->dup3(fd, to, flags);
    ft_once_doubled(fd, result);
    doubled_to(fd, to, result); /* first: where a replay ends, what is not known is swept away */
    return (int)ft_call_end(&c, result, 0);
}

int dup2(int fd, int to) { return do_dup_to(fd, to, -2, 0); }
int dup3(int fd, int to, int flags) { return do_dup_to(fd, to, -3, flags); }

/* ---- closing many ---- */

/* All but the library's own. */
static long close_between(unsigned first, unsigned last, int flags)
{
    for (unsigned fd = first; fd <= last && fd < FT_DESCRIPTORS; fd++) {
        if (!ft_descriptors_is_own((int)fd))
            continue;
        if (fd > first && syscall(SYS_close_range, first, fd - 1, flags) < 0)
            return -1;
        first = fd + 1;
    }
    return first <= last ? syscall(SYS_close_range, first, last, flags) : 0;
}

static void closed_between(unsigned first, unsigned last, int flags, long result)
{
    for (unsigned fd = first; result == 0 && !(flags & CLOSE_RANGE_CLOEXEC) && fd <= last && fd < FT_DESCRIPTORS; fd++)
        if (!ft_descriptors_is_own((int)fd))
            ft_descriptors_closed((int)fd);
}

int close_range(unsigned first, unsigned last, int flags)
{
    struct ft_recorded c;
    long result;

    if (!ft_recording())
        return (int)(first > last ? syscall(SYS_close_range, first, last, flags) : close_between(first, last, flags));
    if (flags & CLOSE_RANGE_UNSHARE)
        ft_recorder_close("it calls close_range with CLOSE_RANGE_UNSHARE");
    if (ft_call_begin(&c, FT_CALL_CLOSE, ft_what(first, last, flags), 0)) {
        closed_between(first, last, flags, c.record->result);
        return (int)ft_call_give(&c);
    }
    result = first > last ? syscall(SYS_close_range, first, last, flags) : close_between(first, last, flags);
    closed_between(first, last, flags, result);
    return (int)ft_call_end(&c, result, 0);
}

/* One by one where the kernel has no such call (before 5.9). */
void closefrom(int low)
{
    int error = errno;

    if (low < 0)
        low = 0;
    if (close_range((unsigned)low, ~0u, 0) < 0 && errno == ENOSYS)
        for (int fd = low; fd < FT_DESCRIPTORS; fd++)
            if (ft_descriptors_knows(fd) && !ft_descriptors_is_own(fd))
                close(fd);
    errno = error;
}

/* ---- fcntl ---- */

static uint64_t what_lock(int fd, int command, const struct flock *l)
{
    return ft_what((int64_t)ft_what(fd, command, 1), l->l_type | l->l_whence << 16, (int64_t)ft_what(l->l_start, l->l_len, 0));
}

static int do_getlk(int fd, int command, struct flock *l)
{
    return (int)FT_CALL_FILLS(FT_CALL_FCNTL, what_lock(fd, command, l), l, ft_real()->fcntl64(fd, command, l));
}

/* Bytes at the argument, which the kernel fills in. */
static int do_filled(int fd, int command, void *to, size_t bytes)
{
    struct ft_recorded c;

    if (ft_call_begin(&c, FT_CALL_FCNTL, ft_what(fd, command, 0), bytes))
        return (int)ft_call_give_struct(&c, to, bytes);
    return (int)ft_call_end_struct(&c, ft_real()->fcntl64(fd, command, to), to, bytes);
}

/* arg: 0 where there is none. A pid is not compared: it may be another one in a replay. */
static int do_plain(int fd, int command, long arg)
{
    int result = (int)FT_CALL_PLAIN(FT_CALL_FCNTL, ft_what(fd, command, command == F_SETOWN ? 0 : (int)arg),
                                    ft_real()->fcntl64(fd, command, arg));

    if (command == F_SETFL)
        ft_descriptors_forget(fd);
    return result;
}

/* What it does nobody here knows. */
static int do_unknown(int fd, int command, long arg)
{
    struct ft_recorded c;
    int result;

    if (ft_call_begin(&c, FT_CALL_FCNTL, ft_what(fd, command, 0), 0) || c.under_way)
        ft_recorder_lost("it called fcntl with command %d, whose outcome is not kept", command);
    result = (int)ft_call_end(&c, ft_real()->fcntl64(fd, command, arg), 0);
    ft_recorder_close("it calls fcntl with command %d, whose outcome is not kept", command);
    return result;
}

static int do_fcntl(int fd, int command, long arg)
{
    void *at = (void *)arg;

    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return do_dup(fd, command, (int)arg);
    case F_GETLK:
    case F_OFD_GETLK:
        return do_getlk(fd, command, at);
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return (int)FT_CALL_WAITING(FT_CALL_FLOCK, what_lock(fd, command, at), ft_real()->fcntl64(fd, command, at));
    case F_GETOWN_EX:
        return do_filled(fd, command, at, sizeof(struct f_owner_ex));
    case F_GET_RW_HINT:
    case F_GET_FILE_RW_HINT:
        return do_filled(fd, command, at, sizeof(uint64_t));
    case F_SETOWN_EX:
    case F_SET_RW_HINT:
    case F_SET_FILE_RW_HINT:
        return (int)FT_CALL_PLAIN(FT_CALL_FCNTL, ft_what(fd, command, 0), ft_real()->fcntl64(fd, command, at));
    case F_GETFD:
    case F_GETFL:
    case F_GETOWN:
    case F_GETSIG:
    case F_GETLEASE:
    case F_GETPIPE_SZ:
    case F_GET_SEALS:
        return do_plain(fd, command, 0);
    case F_SETFD:
    case F_SETFL:
    case F_SETOWN:
    case F_SETSIG:
    case F_SETLEASE:
    case F_NOTIFY:
    case F_SETPIPE_SZ:
    case F_ADD_SEALS:
        return do_plain(fd, command, arg);
    default:
        return do_unknown(fd, command, arg);
    }
}

/* The argument is a number or a pointer: either way a word. */
#define GET_ARG(last, arg)              \
    do {                                \
        va_list args_;                  \
        va_start(args_, last);          \
        arg = va_arg(args_, long);      \
        va_end(args_);                  \
    } while (0)

FT_CALLED int fcntl_of(int fd, int command, long arg)
{
    if (ft_descriptors_is_own(fd)) {
        errno = EBADF;
        return -1;
    }
    return ft_recording() ? do_fcntl(fd, command, arg) : ft_real()->fcntl64(fd, command, arg);
}

int fcntl(int fd, int command, ...)
{
    long arg;

    GET_ARG(command, arg);
    return fcntl_of(fd, command, arg);
}

int fcntl64(int fd, int command, ...)
{
    long arg;

    GET_ARG(command, arg);
    return fcntl_of(fd, command, arg);
}

/* ---- locks ---- */

int flock(int fd, int operation)
{
    if (!ft_recording())
        return ft_real()->flock(fd, operation);
    return (int)FT_CALL_WAITING(FT_CALL_FLOCK, ft_what(fd, operation, 2), ft_real()->flock(fd, operation));
}

int lockf64(int fd, int command, off_t bytes)
{
    if (!ft_recording())
        return ft_real()->lockf64(fd, command, bytes);
    return (int)FT_CALL_WAITING(FT_CALL_FLOCK, ft_what(fd, command, ft_what(bytes, 3, 0) & INT64_MAX), ft_real()->lockf64(fd, command, bytes));
}

int lockf(int fd, int command, off_t bytes) { return lockf64(fd, command, bytes); }
