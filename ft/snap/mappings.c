/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ft/base/util.h"

/* struct procmap_query of <linux/fs.h>, Linux 6.11. */
struct query {
    uint64_t size, flags, address;
    uint64_t start, end, mode, page_bytes, offset, inode;
    uint32_t major, minor, name_bytes, build_id_bytes;
    uint64_t name, build_id;
};

enum { QUERY_WRITABLE = 0x02, QUERY_SHARED = 0x08, QUERY_COVERING_OR_NEXT = 0x10 };
#define PROCMAP_QUERY _IOWR('f', 17, struct query)

struct mapping {
    unsigned long start;
    unsigned major, minor;
    unsigned long inode;
};

static bool is_own(const struct ft_image_own *own, const struct stat *not_copied, const struct mapping *m)
{
    return m->start - (uintptr_t)own->mapping.start < own->mapping.bytes || m->start - (uintptr_t)own->also.start < own->also.bytes ||
           (own->shares && own->shares(m->start)) ||
           (not_copied->st_ino && m->inode == not_copied->st_ino && major(not_copied->st_dev) == m->major &&
            minor(not_copied->st_dev) == m->minor);
}

/* One question instead of a line for each library: 12 us instead of 68. ENOENT: there is no other. */
static enum ft_image_reason ask(int maps, const struct ft_image_own *own, const struct stat *not_copied)
{
    struct query q = {.end = 0};

    for (;;) {
        q = (struct query){.size = sizeof q, .flags = QUERY_WRITABLE | QUERY_SHARED | QUERY_COVERING_OR_NEXT, .address = q.end};
        if (syscall(SYS_ioctl, maps, PROCMAP_QUERY, &q) < 0)
            return errno == ENOENT ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
        if (!is_own(own, not_copied, &(struct mapping){q.start, q.major, q.minor, q.inode}))
            return FT_IMAGE_MAPPING;
    }
}

/* "start-end mode offset major:minor inode name". False: it is no such line, or of memory that is read only, or private. */
static bool is_shared(const char *at, struct mapping *m)
{
    m->start = ft_number_read(&at, 16);
    if (*at++ != '-')
        return false;
    ft_number_read(&at, 16);
    if (at[0] != ' ' || !at[1] || at[2] != 'w' || !at[3] || at[4] != 's' || at[5] != ' ')
        return false;
    at += 6;
    ft_number_read(&at, 16);
    at += *at == ' ';
    m->major = (unsigned)ft_number_read(&at, 16);
    at += *at == ':';
    m->minor = (unsigned)ft_number_read(&at, 16);
    at += *at == ' ';
    m->inode = ft_number_read(&at, 10);
    return true;
}

/* For kernels that cannot be asked. Of each line its first bytes, up to the name: all that counts. */
static enum ft_image_reason read_all(int maps, const struct ft_image_own *own, const struct stat *not_copied)
{
    static char text[4096]; /* one thread at a time makes a copy */
    char line[128];
    size_t length = 0;
    long n;

    while ((n = syscall(SYS_read, maps, text, sizeof text)) > 0)
        for (long i = 0; i < n; i++) {
            struct mapping m;

            if (text[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = text[i];
                continue;
            }
            line[length] = 0;
            length = 0;
            if (is_shared(line, &m) && !is_own(own, not_copied, &m))
                return FT_IMAGE_MAPPING;
        }
    return n < 0 ? FT_IMAGE_SYSTEM : FT_IMAGE_GOOD;
}

enum ft_image_reason ft_mappings_look(const struct ft_image_own *own)
{
    int maps = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    enum ft_image_reason reason;
    struct stat not_copied = {0};

    if (maps < 0)
        return FT_IMAGE_SYSTEM;
    if (own->not_copied && syscall(SYS_fstat, own->not_copied, &not_copied) != 0)
        not_copied.st_ino = 0;
    reason = ask(maps, own, &not_copied);
    if (reason == FT_IMAGE_SYSTEM)
        reason = read_all(maps, own, &not_copied);
    syscall(SYS_close, maps);
    return reason;
}
