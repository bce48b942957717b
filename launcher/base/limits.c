/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/proctext.h"

enum { PATH_BYTES = 4096, TEXT_BYTES = 16384 };

static const uint64_t NO_LIMIT = 1ull << 62; /* what version 1 says then is a little more */

static const char *cgroup_line(const char *text, const char *controller, size_t len)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *list = strchr(line, ':');
        const char *end = list ? strchr(list + 1, ':') : NULL;

        if (!end)
            continue;
        if (!len && end == list + 1)
            return end + 1;
        for (const char *c = list + 1; len && c < end; c += strcspn(c, ",:") + 1)
            if (strcspn(c, ",:") == len && !memcmp(c, controller, len))
                return end + 1;
    }
    return NULL;
}

/* Our cgroup's directory below its mount; controller "" is version 2. Empty: the root, or unknown. In a container
   the path may lie outside of what is mounted: then the mount's root is our cgroup. */
static void cgroup_dir(const char *controller, const char *mount, char *dir, size_t size)
{
    char text[TEXT_BYTES];
    const char *path;

    ft_proctext_read("/proc/self/cgroup", text, sizeof text);
    path = cgroup_line(text, controller, strlen(controller));
    snprintf(dir, size, "%s%.*s", mount, path ? (int)strcspn(path, "\n") : 0, path ? path : "");
    if (access(dir, F_OK) < 0)
        snprintf(dir, size, "%s", mount);
}

/* The smallest value on the way from our cgroup up to the mount, as `value` reads each directory. */
static uint64_t smallest(const char *controller, const char *mount, uint64_t (*value)(const char *dir))
{
    char dir[PATH_BYTES];
    uint64_t least = UINT64_MAX;

    cgroup_dir(controller, mount, dir, sizeof dir);
    for (;;) {
        char *slash = strrchr(dir, '/');

        least = ft_min(least, value(dir));
        if (strlen(dir) <= strlen(mount) || !slash)
            return least;
        *slash = 0;
    }
}

static const char *read_in(const char *dir, const char *file, char *text, size_t size)
{
    char path[PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%s", dir, file);
    ft_proctext_read(path, text, size);
    return text;
}

static uint64_t number_in(const char *dir, const char *file)
{
    char text[64], *end;
    uint64_t n;

    read_in(dir, file, text, sizeof text);
    n = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : n; /* "max", or no such file */
}

static uint64_t memory_v1(const char *dir)
{
    return number_in(dir, "memory.limit_in_bytes");
}

static uint64_t memory_v2(const char *dir)
{
    return number_in(dir, "memory.max");
}

static uint64_t rounded_up(uint64_t quota, uint64_t period)
{
    return quota == UINT64_MAX || !period || period == UINT64_MAX ? UINT64_MAX : ft_div_up(quota, period);
}

static uint64_t processors_v1(const char *dir)
{
    uint64_t quota = number_in(dir, "cpu.cfs_quota_us");

    /* -1: none */
    return (int64_t)quota <= 0 ? UINT64_MAX : rounded_up(quota, number_in(dir, "cpu.cfs_period_us"));
}

static uint64_t processors_v2(const char *dir)
{
    char text[64];
    unsigned long long quota, period;

    read_in(dir, "cpu.max", text, sizeof text);
    return sscanf(text, "%llu %llu", &quota, &period) == 2 ? rounded_up(quota, period) : UINT64_MAX;
}

/* The number after `name` at the start of a line. */
static uint64_t field(const char *path, const char *name)
{
    char text[TEXT_BYTES];
    const char *at;

    ft_proctext_read(path, text, sizeof text);
    at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t ft_limits_memory(void)
{
    uint64_t available = field("/proc/meminfo", "MemAvailable:") * 1024;
    uint64_t v1 = smallest("memory", "/sys/fs/cgroup/memory", memory_v1);
    uint64_t v2 = smallest("", "/sys/fs/cgroup", memory_v2);

    return ft_min(available ? available : UINT64_MAX, ft_min(v1, v2));
}

uint32_t ft_limits_processors(void)
{
    uint64_t v1 = smallest("cpu", "/sys/fs/cgroup/cpu", processors_v1);
    uint64_t v2 = smallest("", "/sys/fs/cgroup", processors_v2);

    return (uint32_t)ft_min(UINT32_MAX, ft_min(v1, v2));
}

/* Processes killed in our cgroup, whether for its limit or the host's; version 2 counts those in groups below. UINT64_MAX: it has no limit, or does
   not count them. */
static uint64_t kills_here(const char *controller, const char *mount, uint64_t (*limit)(const char *dir), const char *file)
{
    char dir[PATH_BYTES], text[1024];
    const char *at;

    if (smallest(controller, mount, limit) >= NO_LIMIT)
        return UINT64_MAX;
    cgroup_dir(controller, mount, dir, sizeof dir);
    at = strstr(read_in(dir, file, text, sizeof text), "\noom_kill ");
    return at ? strtoull(at + strlen("\noom_kill "), NULL, 10) : UINT64_MAX;
}

uint64_t ft_limits_oom_kills(void)
{
    uint64_t v1 = kills_here("memory", "/sys/fs/cgroup/memory", memory_v1, "memory.oom_control");
    uint64_t v2 = kills_here("", "/sys/fs/cgroup", memory_v2, "memory.events");

    return v1 != UINT64_MAX ? v1 : v2 != UINT64_MAX ? v2 : field("/proc/vmstat", "\noom_kill ");
}

static int few_files(uint32_t nranks, uint64_t need, const struct rlimit *limit, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "%u ranks need %llu open files, but the limit is %llu: raise it (ulimit -Hn)", nranks,
                      (unsigned long long)need, (unsigned long long)limit->rlim_max);
}

int ft_limits_raise(uint32_t nranks, struct ft_limits *before, struct ft_error *e)
{
    uint64_t need = 5ull * nranks + 160; /* two pipes, a pidfd, and two of snapshots each; the ranks' own lie at 100 and above */
    struct rlimit limit, processes;

    if (access("/proc/self/fd", X_OK) < 0)
        return ft_err_set(e, FT_ESYS, "/proc is not there: %s; ftrun sees its processes in it (mount -t proc proc /proc)", strerror(errno));
    if (getrlimit(RLIMIT_NOFILE, &before->nofile) < 0 || getrlimit(RLIMIT_FSIZE, &before->fsize) < 0 ||
        getrlimit(RLIMIT_NPROC, &processes) < 0)
        return ft_err_set(e, FT_ESYS, "cannot read the resource limits: %s", strerror(errno));
    limit = before->nofile;
    if (limit.rlim_cur < need) {
        limit.rlim_cur = need;
        if (limit.rlim_max < need || setrlimit(RLIMIT_NOFILE, &limit) < 0)
            return few_files(nranks, need, &before->nofile, e);
    }
    limit = before->fsize; /* of the job's memory, which is a file to the kernel */
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (geteuid() && processes.rlim_cur <= nranks)
        return ft_err_set(e, FT_EINVAL, "%u ranks do not fit in the limit of %llu processes: raise it (ulimit -u)", nranks,
                          (unsigned long long)processes.rlim_cur);
    return 0;
}

void ft_limits_give_back(const struct ft_limits *before)
{
    setrlimit(RLIMIT_NOFILE, &before->nofile);
    setrlimit(RLIMIT_FSIZE, &before->fsize);
}
