/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/once.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A file's entry: its identity, and these. */
static const uint64_t MADE = 1, READ = 2, WRITES = 4, BITS = 7;

static struct ft_outcome_words *words(void) { return ft_recorder.log.words; }

/* What /proc has of this process (coredump_filter, oom_score_adj, uid_map) is state of its own, which a new process has anew. Such file systems
   are of no device. */
static bool is_own_state(int fd, const struct statx *s)
{
    char name[64], *end;
    struct statfs fs;

    if (s->stx_dev_major != 0 || syscall(SYS_fstatfs, fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
        return false;
    ft_descriptors_name(fd, name, sizeof name);
    return !strncmp(name, "/proc/", 6) && strtol(name + 6, &end, 10) == syscall(SYS_getpid) && *end == '/';
}

/* Which file it is, with its time of birth: file systems use an inode's number again at once. 0: there is none, or it is no file with
   content of its own. By descriptor: name "" and AT_EMPTY_PATH. */
static uint64_t id_of(int dir, const char *name, int flags)
{
    struct statx s;
    uint64_t born, id;

    if (syscall(SYS_statx, dir, name, flags, STATX_INO | STATX_TYPE | STATX_BTIME, &s) < 0 || !S_ISREG(s.stx_mode))
        return 0;
    if (flags & AT_EMPTY_PATH && is_own_state(dir, &s))
        return 0;
    born = s.stx_mask & STATX_BTIME ? (uint64_t)s.stx_btime.tv_sec * 1000000000 + s.stx_btime.tv_nsec : 0;
    id = ft_what((int64_t)s.stx_ino, (int64_t)makedev(s.stx_dev_major, s.stx_dev_minor), (int64_t)born) & ~BITS;
    return id ? id : BITS + 1;
}

/* ---- the files ---- */

/* Where it is, or would be. NULL: there is no room. */
static _Atomic uint64_t *entry(uint64_t id)
{
    for (uint64_t i = 0; i < FT_OUTCOME_FILES / 2; i++) {
        _Atomic uint64_t *e = &words()->files[(id / (BITS + 1) + i) % FT_OUTCOME_FILES];
        uint64_t has = atomic_load(e);

        if (!has || (has & ~BITS) == id)
            return e;
    }
    return NULL;
}

/* Of one for which there is no room: nobody knows whether it was read. */
static uint64_t bits_of(uint64_t id)
{
    const _Atomic uint64_t *e = entry(id);

    return e ? atomic_load(e) & BITS : READ;
}

static void add(uint64_t id, uint64_t bits)
{
    _Atomic uint64_t *e = entry(id);

    if (e)
        atomic_store(e, atomic_load(e) | id | bits);
}

/* ---- what cannot be done twice ---- */

static bool is_known(void) { return atomic_load_explicit(&words()->once, memory_order_relaxed); }

static void done_once(const char *what, const char *name)
{
    int error = errno;

    if (!is_known()) {
        snprintf(words()->once_why, sizeof words()->once_why, "it has %s %s", what, name);
        atomic_store(&words()->once, 1);
    }
    errno = error;
}

static bool is_here(const struct sockaddr *peer)
{
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;

    if (peer->sa_family == AF_INET)
        return *(const uint8_t *)&((const struct sockaddr_in *)(const void *)peer)->sin_addr == 127;
    return peer->sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

void ft_once_connected(const struct sockaddr *peer)
{
    const struct sockaddr_in6 *v6 = (const void *)peer;
    const struct sockaddr_in *v4 = (const void *)peer;
    char name[INET6_ADDRSTRLEN], text[sizeof name + 8];

    if (!is_here(peer) && !atomic_exchange(&words()->connected, 1) && ft_recorder.on)
        ft_recorder.ring(); /* its host may be lost any moment. Who is not recorded may have closed the bell */
    if (is_known())
        return;
    if (peer->sa_family == AF_UNIX) {
        done_once("been connected with", "another process of its host");
        return;
    }
    if (peer->sa_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, name, sizeof name);
    else
        inet_ntop(AF_INET6, &v6->sin6_addr, name, sizeof name);
    snprintf(text, sizeof text, "%s:%d", name, ntohs(v4->sin_port)); /* in both at the same place */
    done_once("been connected with", text);
}

/* One of Python's compiled modules: whoever finds one of another time makes it anew. */
static bool is_compiled(const char *name)
{
    const char *end = name ? strrchr(name, '.') : NULL;

    return end && !strcmp(end, ".pyc");
}

void ft_once_replaces(int dir, const char *name, int flags)
{
    uint64_t id = is_known() || is_compiled(name) ? 0 : id_of(dir, name, flags);

    if (id && (bits_of(id) & (READ | MADE)) == READ)
        done_once("read, and then replaced or removed,", name);
}

void ft_once_renames(int dir, const char *name)
{
    uint64_t id = is_known() ? 0 : id_of(dir, name, AT_SYMLINK_NOFOLLOW);

    if (id && !(bits_of(id) & MADE))
        done_once("renamed", name);
}

/* It reads a file that it has open for writing: what it writes there from now on cannot be done twice. */
static void beware(uint64_t id)
{
    for (int fd = 0; fd < FT_OUTCOME_DESCRIPTORS; fd++)
        if (ft_descriptors_knows(fd) && !ft_descriptors_is_own(fd) && ((int)syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY &&
            id_of(fd, "", AT_EMPTY_PATH) == id)
            atomic_store(&words()->once_of[fd], FT_ONCE_IF_WRITTEN);
}

void ft_once_links(int dir, const char *name, int flags)
{
    uint64_t id = is_known() ? 0 : id_of(dir, name, flags);

    if (!id || bits_of(id) & MADE)
        return;
    beware(id);
    add(id, READ);
}

void ft_once_read_slowly(int fd)
{
    int error = errno;
    uint64_t id = id_of(fd, "", AT_EMPTY_PATH);

    if (id && bits_of(id) & MADE) /* emptied by another descriptor */
        id = 0;
    if (id) {
        beware(id); /* other descriptors of it, doubles as well */
        add(id, READ);
    }
    atomic_store(&words()->once_of[fd], id ? FT_ONCE_IF_WRITTEN : FT_ONCE_FREE);
    errno = error;
}

void ft_once_write_slowly(int fd)
{
    char name[FT_OUTCOME_WHY - 40];
    bool appends = (int)syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND;
    uint64_t id = is_known() ? 0 : id_of(fd, "", AT_EMPTY_PATH);

    if (id && !(bits_of(id) & MADE))
        done_once(appends ? "appended to" : "read, and then written to,", ft_descriptors_name(fd, name, sizeof name));
}

bool ft_once_made(int fd)
{
    int error = errno;
    uint64_t id = id_of(fd, "", AT_EMPTY_PATH);

    errno = error;
    return id && bits_of(id) & MADE;
}

/* Emptied before anything was read of it, it is the program's own. */
void ft_once_cuts(int fd, int64_t length)
{
    int error = errno;
    uint64_t id;

    if (length == 0 && ft_once_is(fd, FT_ONCE_IF_READ) && (id = id_of(fd, "", AT_EMPTY_PATH)) != 0) {
        add(id, MADE);
        atomic_store(&words()->once_of[fd], FT_ONCE_FREE);
    }
    ft_once_write(fd);
    errno = error;
}

/* ---- descriptors ---- */

static enum ft_once opened_for(uint64_t id, int flags)
{
    uint64_t bits = bits_of(id);
    int access = flags & O_ACCMODE;

    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || (flags & O_TMPFILE) == O_TMPFILE ||
        (flags & O_TRUNC && access != O_RDONLY && !(bits & READ && !(bits & MADE))))
        add(id, bits = MADE);
    if (bits & MADE)
        return FT_ONCE_FREE;
    if (access == O_RDONLY) {
        if (bits & WRITES && !(bits & READ))
            beware(id);
        if (!(bits & READ))
            add(id, READ);
        return FT_ONCE_FREE;
    }
    if (!(bits & WRITES))
        add(id, WRITES);
    if (bits & READ)
        return FT_ONCE_IF_WRITTEN;
    return flags & O_APPEND ? FT_ONCE_IF_WRITTEN | FT_ONCE_IF_READ : FT_ONCE_IF_READ;
}

/* With this number nobody sees what is done with it. */
static void beyond(int fd, enum ft_once is)
{
    char name[FT_OUTCOME_WHY - 60];

    if (is != FT_ONCE_FREE && !is_known())
        done_once("opened, by a descriptor above 4095,", ft_descriptors_name(fd, name, sizeof name));
}

void ft_once_opened(int fd, int flags)
{
    enum ft_once is = FT_ONCE_FREE;
    int error = errno;
    uint64_t id;

    if (fd < 0 || flags & O_PATH)
        return;
    id = is_known() ? 0 : id_of(fd, "", AT_EMPTY_PATH);
    if (id)
        is = opened_for(id, flags);
    if (fd >= FT_OUTCOME_DESCRIPTORS)
        beyond(fd, is);
    else
        atomic_store_explicit(&words()->once_of[fd], (uint8_t)is, memory_order_relaxed);
    errno = error;
}

void ft_once_closed(int fd)
{
    if ((unsigned)fd < FT_OUTCOME_DESCRIPTORS)
        atomic_store_explicit(&words()->once_of[fd], FT_ONCE_FREE, memory_order_relaxed);
}

void ft_once_doubled(int fd, int result)
{
    if ((unsigned)fd < FT_OUTCOME_DESCRIPTORS && (unsigned)result < FT_OUTCOME_DESCRIPTORS)
        atomic_store(&words()->once_of[result], atomic_load(&words()->once_of[fd]));
    else if ((unsigned)fd < FT_OUTCOME_DESCRIPTORS && result >= 0)
        beyond(result, (enum ft_once)atomic_load(&words()->once_of[fd]));
}
