/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/cgroup.h"
#include "launcher/base/proctext.h"

enum { TEXT_BYTES = 16384 };

static uint64_t rounded_up(uint64_t quota, uint64_t period)
{
    return quota == UINT64_MAX || !period || period == UINT64_MAX ? UINT64_MAX : ft_div_up(quota, period);
}

static uint64_t processors_v1(const struct ft_cgroup *g)
{
    uint64_t quota = ft_cgroup_number(g, "cpu.cfs_quota_us");

    /* -1: none */
    return (int64_t)quota <= 0 ? UINT64_MAX : rounded_up(quota, ft_cgroup_number(g, "cpu.cfs_period_us"));
}

static uint64_t processors_v2(const struct ft_cgroup *g)
{
    char text[64];
    unsigned long long quota, period;

    ft_cgroup_text(g, "cpu.max", text, sizeof text);
    return sscanf(text, "%llu %llu", &quota, &period) == 2 ? rounded_up(quota, period) : UINT64_MAX;
}

/* The smallest value on the way from our cgroup up to the mount, as `value` reads each group. */
static uint64_t smallest(const char *controller, const char *mount, uint64_t (*value)(const struct ft_cgroup *g))
{
    char text[TEXT_BYTES];
    struct ft_cgroup g;
    uint64_t least = UINT64_MAX;

    ft_proctext_read("/proc/self/cgroup", text, sizeof text);
    if (!ft_cgroup_find(&g, text, controller, mount))
        return least;
    do
        least = ft_min(least, value(&g));
    while (ft_cgroup_up(&g));
    return least;
}

uint32_t ft_limits_processors(void)
{
    uint64_t v1 = smallest("cpu", "/sys/fs/cgroup/cpu", processors_v1);
    uint64_t v2 = smallest("", "/sys/fs/cgroup", processors_v2);

    return (uint32_t)ft_min(UINT32_MAX, ft_min(v1, v2));
}

static int few_files(uint32_t nranks, uint64_t need, const struct rlimit *limit, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "%u rank%s: the limit of open files is %llu and must be %llu: raise it (ulimit -Hn)", nranks,
                      ft_plural(nranks), (unsigned long long)limit->rlim_max, (unsigned long long)need);
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
        return ft_err_set(e, FT_EINVAL, "the limit of processes, %llu, is too low for %u rank%s: raise it (ulimit -u)",
                          (unsigned long long)processes.rlim_cur, nranks, ft_plural(nranks));
    return 0;
}

void ft_limits_give_back(const struct ft_limits *before)
{
    setrlimit(RLIMIT_NOFILE, &before->nofile);
    setrlimit(RLIMIT_FSIZE, &before->fsize);
}
