/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file has beside its bytes: mode, owner, times, extended attributes; and its length. Under way: made again. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

#include "ft/outcome/record.h"

static int64_t hash_of(int dir, const char *name) { return (int64_t)ft_what(dir, (int64_t)ft_what_name(name), 0); }

/* ---- mode and owner ---- */

int fchmodat(int dir, const char *name, mode_t mode, int flags)
{
    if (!ft_recording())
        return ft_real()->fchmodat(dir, name, mode, flags);
    return (int)FT_CALL_PLAIN(FT_CALL_CHMOD, ft_what(hash_of(dir, name), mode, flags), ft_real()->fchmodat(dir, name, mode, flags));
}

int fchmod(int fd, mode_t mode)
{
    if (!ft_recording())
        return ft_real()->fchmod(fd, mode);
    return (int)FT_CALL_PLAIN(FT_CALL_CHMOD, ft_what(fd, mode, -1), ft_real()->fchmod(fd, mode));
}

int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }
int lchmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, AT_SYMLINK_NOFOLLOW); }

int fchownat(int dir, const char *name, uid_t user, gid_t group, int flags)
{
    if (!ft_recording())
        return ft_real()->fchownat(dir, name, user, group, flags);
    return (int)FT_CALL_PLAIN(FT_CALL_CHOWN, ft_what(hash_of(dir, name), (int64_t)user << 32 | group, flags),
                              ft_real()->fchownat(dir, name, user, group, flags));
}

int fchown(int fd, uid_t user, gid_t group)
{
    if (!ft_recording())
        return ft_real()->fchown(fd, user, group);
    return (int)FT_CALL_PLAIN(FT_CALL_CHOWN, ft_what(fd, (int64_t)user << 32 | group, -1), ft_real()->fchown(fd, user, group));
}

int chown(const char *name, uid_t user, gid_t group) { return fchownat(AT_FDCWD, name, user, group, 0); }
int lchown(const char *name, uid_t user, gid_t group) { return fchownat(AT_FDCWD, name, user, group, AT_SYMLINK_NOFOLLOW); }

/* ---- times: what they are set to is not compared, since programs take it from the clock ---- */

int utimensat(int dir, const char *name, const struct timespec times[2], int flags)
{
    if (!ft_recording())
        return ft_real()->utimensat(dir, name, times, flags);
    return (int)FT_CALL_PLAIN(FT_CALL_UTIME, ft_what(hash_of(dir, name), flags, 0), ft_real()->utimensat(dir, name, times, flags));
}

int futimens(int fd, const struct timespec times[2])
{
    if (!ft_recording())
        return ft_real()->futimens(fd, times);
    return (int)FT_CALL_PLAIN(FT_CALL_UTIME, ft_what(fd, 0, 1), ft_real()->futimens(fd, times));
}

static const struct timespec *finer(struct timespec to[2], const struct timeval times[2])
{
    for (int i = 0; times && i < 2; i++)
        to[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    return times ? to : NULL;
}

static bool is_wrong(const struct timeval times[2])
{
    for (int i = 0; times && i < 2; i++)
        if (times[i].tv_usec < 0 || times[i].tv_usec >= 1000000)
            return true;
    return false;
}

static int do_utimes(int dir, const char *name, const struct timeval times[2], int flags)
{
    struct timespec ts[2];

    if (is_wrong(times)) {
        errno = EINVAL;
        return -1;
    }
    return utimensat(dir, name, finer(ts, times), flags);
}

int utimes(const char *name, const struct timeval times[2]) { return do_utimes(AT_FDCWD, name, times, 0); }
int lutimes(const char *name, const struct timeval times[2]) { return do_utimes(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW); }
int futimesat(int dir, const char *name, const struct timeval times[2]) { return do_utimes(dir, name, times, 0); }

int futimes(int fd, const struct timeval times[2])
{
    struct timespec ts[2];

    if (is_wrong(times)) {
        errno = EINVAL;
        return -1;
    }
    return futimens(fd, finer(ts, times));
}

int utime(const char *name, const struct utimbuf *times)
{
    struct timespec ts[2] = {{times ? times->actime : 0, 0}, {times ? times->modtime : 0, 0}};

    return utimensat(AT_FDCWD, name, times ? ts : NULL, 0);
}

/* ---- extended attributes ---- */

enum { VALUE_MOST = 64 << 10 }; /* XATTR_SIZE_MAX, and XATTR_LIST_MAX */

/* note[0]: it was there before. One that is made and is there already, or is removed and is not, was so by the predecessor if this was
   under way and it was otherwise before. */
static int changed(struct ft_recorded *c, int result, int so_already, bool otherwise)
{
    if (result < 0 && otherwise && errno == so_already) {
        errno = c->error;
        result = 0;
    }
    return (int)ft_call_end(c, result, 0);
}

static ssize_t filled(struct ft_recorded *c, ssize_t got, const void *from, size_t room)
{
    size_t bytes = got > 0 && room ? (size_t)got : 0;

    if (c->record)
        memcpy(ft_call_data(c), bytes ? from : "", bytes);
    return ft_call_end(c, got, bytes);
}

static ssize_t given(struct ft_recorded *c, void *to)
{
    if (ft_call_bytes(c))
        memcpy(to, ft_call_data(c), ft_call_bytes(c));
    return ft_call_give(c);
}

static int64_t whose(const char *file) { return (int64_t)ft_what_name(file); }
static int64_t whose_fd(int fd) { return fd; }

#define XATTRS(letter, type, hash)                                                                  \
    int letter##setxattr(type file, const char *name, const void *value, size_t n, int flags)       \
    {                                                                                               \
        struct ft_recorded c;                                                                       \
        uint64_t what;                                                                              \
        bool again;                                                                                 \
                                                                                                    \
        if (!ft_recording())                                                                        \
            return ft_real()->letter##setxattr(file, name, value, n, flags);                        \
        what = ft_what(hash(file), (int64_t)ft_what_name(name), (int64_t)ft_what_bytes(value, n) + flags);   \
        if (ft_call_begin(&c, FT_CALL_XATTR, what, 0))                                              \
            return (int)ft_call_give(&c);                                                           \
        again = ft_call_noted(&c);                                                                  \
        if (!again && flags & XATTR_CREATE)                                                         \
            ft_call_note(&c, ft_real()->letter##getxattr(file, name, NULL, 0) >= 0, 0);             \
        errno = c.error;                                                                            \
        return changed(&c, ft_real()->letter##setxattr(file, name, value, n, flags), EEXIST, again && !c.record->note[0]);   \
    }                                                                                               \
                                                                                                    \
    int letter##removexattr(type file, const char *name)                                            \
    {                                                                                               \
        struct ft_recorded c;                                                                       \
        bool again;                                                                                 \
                                                                                                    \
        if (!ft_recording())                                                                        \
            return ft_real()->letter##removexattr(file, name);                                      \
        if (ft_call_begin(&c, FT_CALL_XATTR, ft_what(hash(file), (int64_t)ft_what_name(name), 1), 0))        \
            return (int)ft_call_give(&c);                                                           \
        again = ft_call_noted(&c);                                                                  \
        if (!again)                                                                                 \
            ft_call_note(&c, ft_real()->letter##getxattr(file, name, NULL, 0) >= 0, 0);             \
        errno = c.error;                                                                            \
        return changed(&c, ft_real()->letter##removexattr(file, name), ENODATA, again && c.record->note[0]);                 \
    }                                                                                               \
                                                                                                    \
    ssize_t letter##getxattr(type file, const char *name, void *value, size_t n)                    \
    {                                                                                               \
        struct ft_recorded c;                                                                       \
        uint64_t what;                                                                              \
                                                                                                    \
        if (!ft_recording())                                                                        \
            return ft_real()->letter##getxattr(file, name, value, n);                               \
        what = ft_what(hash(file), (int64_t)ft_what_name(name), (int64_t)n + 2);                    \
        if (ft_call_begin(&c, FT_CALL_XATTR, what, n < VALUE_MOST ? n : VALUE_MOST))                \
            return given(&c, value);                                                                \
        return filled(&c, ft_real()->letter##getxattr(file, name, value, n), value, n);             \
    }                                                                                               \
                                                                                                    \
    ssize_t letter##listxattr(type file, char *list, size_t n)                                      \
    {                                                                                               \
        struct ft_recorded c;                                                                       \
                                                                                                    \
        if (!ft_recording())                                                                        \
            return ft_real()->letter##listxattr(file, list, n);                                     \
        if (ft_call_begin(&c, FT_CALL_XATTR, ft_what(hash(file), 0, (int64_t)n), n < VALUE_MOST ? n : VALUE_MOST))   \
            return given(&c, list);                                                                 \
        return filled(&c, ft_real()->letter##listxattr(file, list, n), list, n);                    \
    }

XATTRS(, const char *, whose)
XATTRS(l, const char *, whose)
XATTRS(f, int, whose_fd)
