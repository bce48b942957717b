/* SPDX-License-Identifier: BSD-3-Clause */
/* What changes names. Under way: which file a name stands for is noted before, and looked at again.

     rename        done if the target is that file and the source is not
     unlink, rmdir done if the name is not that file any more
     link          done if the new name is that file and was none
     symlink       done if there is one with that text, and there was nothing
     mkdir, mknod  done if there is one of that kind and of this user, and there was nothing */
#include "ft/outcome/real.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "ft/outcome/once.h"
#include "ft/outcome/record.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static int64_t hash_of(int dir, const char *name) { return (int64_t)ft_what(dir, (int64_t)ft_what_name(name), 0); }

/* Which file has this name; 0: none. With its time of birth: file systems use an inode's number again at once. */
static int64_t id_of(int dir, const char *name, int flags)
{
    struct statx s;
    struct stat st;

    if (syscall(SYS_statx, dir, name, flags, STATX_INO | STATX_BTIME, &s) == 0) {
        int64_t born = s.stx_mask & STATX_BTIME ? s.stx_btime.tv_sec * 1000000000 + s.stx_btime.tv_nsec : 0;

        return (int64_t)ft_what((int64_t)s.stx_ino, (int64_t)makedev(s.stx_dev_major, s.stx_dev_minor), born) | 1;
    }
    if (errno != ENOSYS && errno != EPERM)
        return 0;
    return syscall(SYS_newfstatat, dir, name, &st, flags) == 0 ? (int64_t)ft_what((int64_t)st.st_ino, (int64_t)st.st_dev, 0) | 1 : 0;
}

static int64_t name_id(int dir, const char *name) { return id_of(dir, name, AT_SYMLINK_NOFOLLOW); }

/* It was done by the predecessor. */
static int was_done(struct ft_recorded *c)
{
    errno = c->error;
    return (int)ft_call_end(c, 0, 0);
}

/* ---- rename ---- */

/* note: which files the two names were. */
static bool was_renamed(const struct ft_recorded *c, int dir, const char *from, int todir, const char *to, unsigned flags)
{
    int64_t source = c->record->note[0], target = c->record->note[1];
    int64_t at_from = name_id(dir, from), at_to = name_id(todir, to);

    if (!source || at_from == source)
        return false;
    if (at_to != source || (flags & RENAME_EXCHANGE && at_from != target))
        ft_recorder_lost("it was killed in rename, and %s is neither there nor at %s", from, to);
    return true;
}

FT_CALLED int do_rename(int dir, const char *from, int todir, const char *to, unsigned flags)
{
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->renameat2(dir, from, todir, to, flags);
    if (ft_call_begin(&c, FT_CALL_RENAME, ft_what(hash_of(dir, from), hash_of(todir, to), flags), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, name_id(dir, from), name_id(todir, to));
    else if (was_renamed(&c, dir, from, todir, to, flags))
        return was_done(&c);
    ft_once_renames(dir, from);
    if (flags & RENAME_EXCHANGE)
        ft_once_renames(todir, to);
    else
        ft_once_replaces(todir, to, AT_SYMLINK_NOFOLLOW);
    errno = c.error;
    return (int)ft_call_end(&c, ft_real()->renameat2(dir, from, todir, to, flags), 0);
}

int rename(const char *from, const char *to) { return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int dir, const char *from, int todir, const char *to) { return do_rename(dir, from, todir, to, 0); }

int renameat2(int dir, const char *from, int todir, const char *to, unsigned flags)
{
    return do_rename(dir, from, todir, to, flags);
}

/* ---- removing ---- */

/* note[0]: which file it was. */
FT_CALLED int do_unlink(int dir, const char *name, int flags)
{
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->unlinkat(dir, name, flags);
    if (ft_call_begin(&c, flags & AT_REMOVEDIR ? FT_CALL_RMDIR : FT_CALL_UNLINK, ft_what(hash_of(dir, name), flags, 0), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, name_id(dir, name), 0);
    else if (c.record->note[0] && name_id(dir, name) != c.record->note[0])
        return was_done(&c);
    ft_once_replaces(dir, name, AT_SYMLINK_NOFOLLOW);
    errno = c.error;
    return (int)ft_call_end(&c, ft_real()->unlinkat(dir, name, flags), 0);
}

int unlink(const char *name) { return do_unlink(AT_FDCWD, name, 0); }
int unlinkat(int dir, const char *name, int flags) { return do_unlink(dir, name, flags); }
int rmdir(const char *name) { return do_unlink(AT_FDCWD, name, AT_REMOVEDIR); }

/* As the C library does it. */
int remove(const char *name)
{
    int error = errno;

    if (do_unlink(AT_FDCWD, name, 0) == 0)
        return 0;
    if (errno != EISDIR)
        return -1;
    errno = error;
    return do_unlink(AT_FDCWD, name, AT_REMOVEDIR);
}

/* ---- making ---- */

/* There is something of this kind, and it may be ours. */
static bool is_made(int dir, const char *name, mode_t kind)
{
    struct stat st;

    return syscall(SYS_newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == kind &&
           st.st_uid == (uid_t)syscall(SYS_geteuid);
}

/* note[0]: what had the name before. */
FT_CALLED int do_mknod(int dir, const char *name, mode_t mode, dev_t device)
{
    bool directory = S_ISDIR(mode);
    struct ft_recorded c;
    mode_t kind = mode & S_IFMT ? mode & S_IFMT : S_IFREG;

    if (ft_recording()) {
        if (ft_call_begin(&c, directory ? FT_CALL_MKDIR : FT_CALL_MKNOD, ft_what(hash_of(dir, name), mode, (int64_t)device), 0))
            return (int)ft_call_give(&c);
        if (!ft_call_noted(&c))
            ft_call_note(&c, name_id(dir, name), 0);
        else if (!c.record->note[0] && is_made(dir, name, kind))
            return was_done(&c);
        errno = c.error;
    } else {
        c.record = NULL;
    }
    return (int)ft_call_end(&c, directory ? ft_real()->mkdirat(dir, name, mode & ~(mode_t)S_IFMT)
                                          : (int)syscall(SYS_mknodat, dir, name, mode, (unsigned)device), 0);
}

int mkdir(const char *name, mode_t mode) { return do_mknod(AT_FDCWD, name, (mode & 07777) | S_IFDIR, 0); }
int mkdirat(int dir, const char *name, mode_t mode) { return do_mknod(dir, name, (mode & 07777) | S_IFDIR, 0); }
int mkfifo(const char *name, mode_t mode) { return do_mknod(AT_FDCWD, name, mode | S_IFIFO, 0); }
int mkfifoat(int dir, const char *name, mode_t mode) { return do_mknod(dir, name, mode | S_IFIFO, 0); }

int mknodat(int dir, const char *name, mode_t mode, dev_t device)
{
    if (S_ISDIR(mode)) { /* mkdir makes these */
        errno = EPERM;
        return -1;
    }
    return do_mknod(dir, name, mode, device);
}

int mknod(const char *name, mode_t mode, dev_t device) { return mknodat(AT_FDCWD, name, mode, device); }

/* What programs linked with glibc before 2.33 call. */
int __xmknod(int version, const char *name, mode_t mode, dev_t *device);
int __xmknodat(int version, int dir, const char *name, mode_t mode, dev_t *device);

int __xmknod(int version, const char *name, mode_t mode, dev_t *device)
{
    (void)version;
    return mknodat(AT_FDCWD, name, mode, *device);
}

int __xmknodat(int version, int dir, const char *name, mode_t mode, dev_t *device)
{
    (void)version;
    return mknodat(dir, name, mode, *device);
}

/* note: which file gets the name, and what had it before. */
FT_CALLED int do_link(int dir, const char *from, int todir, const char *to, int flags)
{
    int follow = flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->linkat(dir, from, todir, to, flags);
    if (ft_call_begin(&c, FT_CALL_LINK, ft_what(hash_of(dir, from), hash_of(todir, to), flags), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, id_of(dir, from, follow | (flags & AT_EMPTY_PATH)), name_id(todir, to));
    else if (c.record->note[0] && !c.record->note[1] && name_id(todir, to) == c.record->note[0])
        return was_done(&c);
    ft_once_links(dir, from, follow | (flags & AT_EMPTY_PATH));
    errno = c.error;
    return (int)ft_call_end(&c, ft_real()->linkat(dir, from, todir, to, flags), 0);
}

int link(const char *from, const char *to) { return do_link(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int dir, const char *from, int todir, const char *to, int flags)
{
    return do_link(dir, from, todir, to, flags);
}

static bool is_symlink_to(int dir, const char *name, const char *text)
{
    char there[4096];
    ssize_t n = syscall(SYS_readlinkat, dir, name, there, sizeof there);

    return n >= 0 && (size_t)n == strlen(text) && memcmp(there, text, (size_t)n) == 0;
}

int symlinkat(const char *text, int dir, const char *name)
{
    struct ft_recorded c;

    if (!ft_recording())
        return ft_real()->symlinkat(text, dir, name);
    if (ft_call_begin(&c, FT_CALL_SYMLINK, ft_what(hash_of(dir, name), (int64_t)ft_what_name(text), 0), 0))
        return (int)ft_call_give(&c);
    if (!ft_call_noted(&c))
        ft_call_note(&c, name_id(dir, name), 0);
    else if (!c.record->note[0] && is_symlink_to(dir, name, text))
        return was_done(&c);
    errno = c.error;
    return (int)ft_call_end(&c, ft_real()->symlinkat(text, dir, name), 0);
}

int symlink(const char *text, const char *name) { return symlinkat(text, AT_FDCWD, name); }
