/* SPDX-License-Identifier: BSD-3-Clause */
/* What asks for files by name. By value; under way: asked again. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/record.h"

void __chk_fail(void) __attribute__((noreturn));

/* ---- stat: the kernel's own call, since glibc before 2.33 has no function of this name ---- */

FT_CALLED int do_stat(int dir, const char *name, struct stat *st, int flags)
{
    if (!ft_recording())
        return (int)syscall(SYS_newfstatat, dir, name, st, flags);
    return (int)FT_CALL_FILLS(FT_CALL_STAT, ft_what(dir, (int64_t)ft_what_name(name), flags), st,
                              syscall(SYS_newfstatat, dir, name, st, flags));
}

FT_CALLED int do_fstat(int fd, struct stat *st)
{
    if (!ft_recording())
        return (int)syscall(SYS_fstat, fd, st);
    return (int)FT_CALL_FILLS(FT_CALL_FSTAT, ft_what(fd, 0, 0), st, syscall(SYS_fstat, fd, st));
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one structure has both names");

static struct stat *plain(struct stat64 *st) { return (struct stat *)(void *)st; }

int stat(const char *name, struct stat *st) { return do_stat(AT_FDCWD, name, st, 0); }
int stat64(const char *name, struct stat64 *st) { return do_stat(AT_FDCWD, name, plain(st), 0); }
int lstat(const char *name, struct stat *st) { return do_stat(AT_FDCWD, name, st, AT_SYMLINK_NOFOLLOW); }
int lstat64(const char *name, struct stat64 *st) { return do_stat(AT_FDCWD, name, plain(st), AT_SYMLINK_NOFOLLOW); }
int fstat(int fd, struct stat *st) { return do_fstat(fd, st); }
int fstat64(int fd, struct stat64 *st) { return do_fstat(fd, plain(st)); }
int fstatat(int dir, const char *name, struct stat *st, int flags) { return do_stat(dir, name, st, flags); }
int fstatat64(int dir, const char *name, struct stat64 *st, int flags) { return do_stat(dir, name, plain(st), flags); }

/* What programs linked with glibc before 2.33 call. */
#define OLD_STAT(suffix, type, to)                                                                  \
    int __xstat##suffix(int version, const char *name, struct type *st);                            \
    int __lxstat##suffix(int version, const char *name, struct type *st);                           \
    int __fxstat##suffix(int version, int fd, struct type *st);                                     \
    int __fxstatat##suffix(int version, int dir, const char *name, struct type *st, int flags);     \
    int __xstat##suffix(int version, const char *name, struct type *st)                             \
    {                                                                                               \
        (void)version;                                                                              \
        return do_stat(AT_FDCWD, name, to(st), 0);                                                  \
    }                                                                                               \
    int __lxstat##suffix(int version, const char *name, struct type *st)                            \
    {                                                                                               \
        (void)version;                                                                              \
        return do_stat(AT_FDCWD, name, to(st), AT_SYMLINK_NOFOLLOW);                                \
    }                                                                                               \
    int __fxstat##suffix(int version, int fd, struct type *st)                                      \
    {                                                                                               \
        (void)version;                                                                              \
        return do_fstat(fd, to(st));                                                                \
    }                                                                                               \
    int __fxstatat##suffix(int version, int dir, const char *name, struct type *st, int flags)      \
    {                                                                                               \
        (void)version;                                                                              \
        return do_stat(dir, name, to(st), flags);                                                   \
    }

OLD_STAT(, stat, )
OLD_STAT(64, stat64, plain)

int statx(int dir, const char *restrict name, int flags, unsigned mask, struct statx *restrict s)
{
    if (!ft_recording())
        return ft_real()->statx(dir, name, flags, mask, s);
    return (int)FT_CALL_FILLS(FT_CALL_STAT, ft_what(dir, (int64_t)ft_what_name(name), (int64_t)mask << 32 | (flags | 1 << 30)), s,
                              ft_real()->statx(dir, name, flags, mask, s));
}

/* ---- file systems ---- */

_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64) && sizeof(struct statvfs) == sizeof(struct statvfs64),
               "one structure has both names");

int statfs64(const char *name, struct statfs64 *s)
{
    if (!ft_recording())
        return ft_real()->statfs64(name, s);
    return (int)FT_CALL_FILLS(FT_CALL_STATFS, ft_what((int64_t)ft_what_name(name), 0, 0), s, ft_real()->statfs64(name, s));
}

int fstatfs64(int fd, struct statfs64 *s)
{
    if (!ft_recording())
        return ft_real()->fstatfs64(fd, s);
    return (int)FT_CALL_FILLS(FT_CALL_STATFS, ft_what(fd, 1, 0), s, ft_real()->fstatfs64(fd, s));
}

int statvfs64(const char *restrict name, struct statvfs64 *restrict s)
{
    if (!ft_recording())
        return ft_real()->statvfs64(name, s);
    return (int)FT_CALL_FILLS(FT_CALL_STATFS, ft_what((int64_t)ft_what_name(name), 2, 0), s, ft_real()->statvfs64(name, s));
}

int fstatvfs64(int fd, struct statvfs64 *s)
{
    if (!ft_recording())
        return ft_real()->fstatvfs64(fd, s);
    return (int)FT_CALL_FILLS(FT_CALL_STATFS, ft_what(fd, 3, 0), s, ft_real()->fstatvfs64(fd, s));
}

int statfs(const char *name, struct statfs *s) { return statfs64(name, (struct statfs64 *)(void *)s); }
int fstatfs(int fd, struct statfs *s) { return fstatfs64(fd, (struct statfs64 *)(void *)s); }
int statvfs(const char *restrict name, struct statvfs *restrict s) { return statvfs64(name, (struct statvfs64 *)(void *)s); }
int fstatvfs(int fd, struct statvfs *s) { return fstatvfs64(fd, (struct statvfs64 *)(void *)s); }

/* ---- access ---- */

int faccessat(int dir, const char *name, int mode, int flags)
{
    if (!ft_recording())
        return ft_real()->faccessat(dir, name, mode, flags);
    return (int)FT_CALL_PLAIN(FT_CALL_ACCESS, ft_what(dir, (int64_t)ft_what_name(name), (int64_t)mode << 32 | flags),
                              ft_real()->faccessat(dir, name, mode, flags));
}

int access(const char *name, int mode) { return faccessat(AT_FDCWD, name, mode, 0); }
int euidaccess(const char *name, int mode) { return faccessat(AT_FDCWD, name, mode, AT_EACCESS); }
int eaccess(const char *name, int mode) { return faccessat(AT_FDCWD, name, mode, AT_EACCESS); }

/* ---- texts: of links, and of paths ---- */

ssize_t readlinkat(int dir, const char *restrict name, char *restrict to, size_t n)
{
    struct ft_recorded c;
    ssize_t got;

    if (!ft_recording())
        return ft_real()->readlinkat(dir, name, to, n);
    if (ft_call_begin(&c, FT_CALL_READLINK, ft_what(dir, (int64_t)ft_what_name(name), (int64_t)n), n < PATH_MAX ? n : PATH_MAX)) {
        memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c);
    }
    got = ft_real()->readlinkat(dir, name, to, n);
    if (got > 0 && c.record)
        memcpy(ft_call_data(&c), to, (size_t)got);
    return ft_call_end(&c, got, got > 0 ? (size_t)got : 0);
}

ssize_t readlink(const char *restrict name, char *restrict to, size_t n) { return readlinkat(AT_FDCWD, name, to, n); }

ssize_t __readlink_chk(const char *name, char *to, size_t n, size_t room);
ssize_t __readlinkat_chk(int dir, const char *name, char *to, size_t n, size_t room);

ssize_t __readlinkat_chk(int dir, const char *name, char *to, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return readlinkat(dir, name, to, n);
}

ssize_t __readlink_chk(const char *name, char *to, size_t n, size_t room) { return __readlinkat_chk(AT_FDCWD, name, to, n, room); }

/* Programs want to know how far a path could be followed: `to` has that after an error, too. */
char *realpath(const char *restrict name, char *restrict to)
{
    struct ft_recorded c;
    char *text, *partly;
    size_t bytes;
    int error;

    if (!ft_recording())
        return ft_real()->realpath(name, to);
    if (ft_call_begin(&c, FT_CALL_REALPATH, ft_what((int64_t)ft_what_name(name), to != NULL, 0), PATH_MAX)) {
        if (c.record->result == 0 && !to)
            to = malloc(ft_call_bytes(&c));
        if (to)
            memcpy(to, ft_call_data(&c), ft_call_bytes(&c));
        return ft_call_give(&c) == 0 ? to : NULL;
    }
    ft_inside();
    text = ft_real()->realpath(name, to);
    ft_outside();
    error = errno;
    partly = text ? text : to;
    bytes = !partly || (!text && error != ENOENT && error != EACCES) ? 0 : strnlen(partly, PATH_MAX - 1) + 1;
    if (c.record)
        memcpy(ft_call_data(&c), partly ? partly : "", bytes);
    errno = error;
    ft_call_end(&c, text ? 0 : -1, bytes);
    return text;
}

char *__realpath_chk(const char *name, char *to, size_t room);
char *__realpath_chk(const char *name, char *to, size_t room)
{
    if (room < PATH_MAX)
        __chk_fail();
    return realpath(name, to);
}

char *canonicalize_file_name(const char *name) { return realpath(name, NULL); }
