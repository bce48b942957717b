/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/proctext.h"

enum { TEXT_BYTES = 16384 };

static const uint64_t NO_LIMIT = 1ull << 62; /* what version 1 says then is a little more */

/* ---- which group ---- */

void ft_memgroup_read(struct ft_memgroup *g, const char *text, const char *root)
{
    char v1[FT_CGROUP_PATH];

    snprintf(v1, sizeof v1, "%s/memory", root);
    g->version = ft_cgroup_find(&g->at, text, "memory", v1) ? 1 : ft_cgroup_find(&g->at, text, "", root) ? 2 : 0;
}

void ft_memgroup_of(struct ft_memgroup *g, pid_t pid, bool *known)
{
    char text[TEXT_BYTES];
    ssize_t n = pid ? ft_proctext_of(pid, "cgroup", text, sizeof text) : ft_proctext_read("/proc/self/cgroup", text, sizeof text);

    ft_memgroup_read(g, text, "/sys/fs/cgroup");
    *known = n > 0 && (g->version != 1 || strlen(g->at.dir) > g->at.mount);
}

bool ft_memgroup_is(const struct ft_memgroup *a, const struct ft_memgroup *b)
{
    return a->version == b->version && (!a->version || !strcmp(a->at.dir, b->at.dir));
}

/* ---- how much ---- */

/* What is to be written back is free only once it is. Shared memory is not among these pages. */
static uint64_t reclaimable(const char *stat, int version)
{
    static const char *const names[][4] = {{"total_inactive_file", "total_active_file", "total_dirty", "total_writeback"},
                                           {"inactive_file", "active_file", "file_dirty", "file_writeback"}};
    const char *const *name = names[version - 1];
    uint64_t file = ft_cgroup_field(stat, name[0]) + ft_cgroup_field(stat, name[1]);
    uint64_t not_yet = ft_cgroup_field(stat, name[2]) + ft_cgroup_field(stat, name[3]);

    return file - ft_min(file, not_yet);
}

static void look_at_group(const struct ft_memgroup *g, const struct ft_cgroup *at, struct ft_memory *m)
{
    uint64_t limit = ft_cgroup_number(at, g->version == 1 ? "memory.limit_in_bytes" : "memory.max"), used, file;
    char stat[TEXT_BYTES];

    if (g->version == 2) {
        limit = ft_min(limit, ft_cgroup_number(at, "memory.high")); /* above it nothing is killed, but made to wait */
        m->all |= ft_cgroup_number(at, "memory.oom.group") == 1;
    }
    used = ft_cgroup_number(at, g->version == 1 ? "memory.usage_in_bytes" : "memory.current");
    if (limit >= NO_LIMIT || used == UINT64_MAX)
        return;
    file = reclaimable(ft_cgroup_text(at, "memory.stat", stat, sizeof stat), g->version);
    used -= ft_min(used, file);
    if (limit - ft_min(limit, used) >= ft_memory_left(m))
        return;
    m->limit = limit;
    m->used = used;
    m->group = true;
}

static void look_at_machine(struct ft_memory *m)
{
    char text[TEXT_BYTES];
    uint64_t available;

    ft_proctext_read("/proc/meminfo", text, sizeof text);
    m->limit = ft_cgroup_field(text, "MemTotal") * 1024;
    available = ft_cgroup_field(text, "MemAvailable") * 1024;
    m->used = m->limit - ft_min(m->limit, available);
    if (!m->limit || !available)
        *m = (struct ft_memory){.limit = UINT64_MAX}; /* nothing is known */
}

void ft_memory_look(const struct ft_memgroup *g, struct ft_memory *m)
{
    struct ft_cgroup at = g->at;

    *m = (struct ft_memory){.limit = 0};
    look_at_machine(m);
    if (!g->version)
        return;
    do
        look_at_group(g, &at, m);
    while (ft_cgroup_up(&at));
}

uint64_t ft_memory_here(void)
{
    struct ft_memgroup own;
    struct ft_memory m;
    bool known;

    ft_memgroup_of(&own, 0, &known);
    ft_memory_look(&own, &m);
    return ft_memory_left(&m);
}

const char *ft_memory_of_files(const char *dir)
{
    struct statfs fs;

    if (statfs(dir, &fs) < 0)
        return NULL;
    switch ((unsigned long)fs.f_type) {
    case TMPFS_MAGIC:
        return "tmpfs";
    case RAMFS_MAGIC:
        return "ramfs";
    case HUGETLBFS_MAGIC:
        return "hugetlbfs";
    default:
        return NULL;
    }
}

/* ---- who is killed ---- */

uint64_t ft_memgroup_kills(const struct ft_memgroup *g)
{
    char text[1024];

    if (!g->version)
        return 0;
    ft_cgroup_text(&g->at, g->version == 1 ? "memory.oom_control" : "memory.events.local", text, sizeof text);
    if (g->version == 2 && !*text) /* before Linux 5.2 */
        ft_cgroup_text(&g->at, "memory.events", text, sizeof text);
    return ft_cgroup_field(text, "oom_kill");
}

int ft_memory_score(pid_t pid, int otherwise)
{
    char text[32], *end;
    long score;

    ft_proctext_of(pid, "oom_score_adj", text, sizeof text);
    score = strtol(text, &end, 10);
    return end == text ? otherwise : (int)score;
}

void ft_memory_set_score(pid_t pid, int score)
{
    char path[64], text[16];
    int n = snprintf(text, sizeof text, "%d", score), fd;

    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* it is gone, or has become another user */
    if (write(fd, text, (size_t)n) < 0) {
        /* the kernel goes by what it was: no worse than without */
    }
    close(fd);
}
