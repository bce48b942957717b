/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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
        if (ioctl(maps, PROCMAP_QUERY, &q) < 0)
            return errno == ENOENT ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
        if (!is_own(own, not_copied, &(struct mapping){q.start, q.major, q.minor, q.inode}))
            return FT_IMAGE_MAPPING;
    }
}

/* For kernels that cannot be asked. */
static enum ft_image_reason read_all(const struct ft_image_own *own, const struct stat *not_copied)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    enum ft_image_reason reason = maps ? FT_IMAGE_GOOD : FT_IMAGE_SYSTEM;
    struct mapping m;
    char line[512], mode[8];

    while (reason == FT_IMAGE_GOOD && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%*x %7s %*x %x:%x %lu", &m.start, mode, &m.major, &m.minor, &m.inode) == 5 && mode[1] == 'w' &&
            mode[3] == 's' && !is_own(own, not_copied, &m))
            reason = FT_IMAGE_MAPPING;
        while (!strchr(line, '\n') && fgets(line, sizeof line, maps)) /* the rest of a long line */
            ;
    }
    if (maps)
        fclose(maps);
    return reason;
}

enum ft_image_reason ft_mappings_look(const struct ft_image_own *own)
{
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    enum ft_image_reason reason = FT_IMAGE_SYSTEM;
    struct stat not_copied = {0};

    if (own->not_copied && fstat(own->not_copied, &not_copied) != 0)
        not_copied.st_ino = 0;
    if (maps >= 0) {
        reason = ask(maps, own, &not_copied);
        close(maps);
    }
    return reason == FT_IMAGE_SYSTEM ? read_all(own, &not_copied) : reason;
}
