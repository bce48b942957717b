/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/proctext.h"

enum { DEEPEST = 64 };

static uint64_t private_bytes(const char *path)
{
    char text[128];
    unsigned long long resident, shared;

    if (ft_proctext_read(path, text, sizeof text) < 0 || sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || resident < shared)
        return 0;
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ft_usage_private(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    return private_bytes(path);
}

static uint64_t tree(pid_t pid, int depth)
{
    char path[64], text[4096], *p = text;
    uint64_t sum = ft_usage_private(pid);

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    if (depth < DEEPEST && ft_proctext_read(path, text, sizeof text) > 0) {
        char *end;
        long child;

        while ((child = strtol(p, &end, 10)) > 0 && end != p) {
            sum += tree((pid_t)child, depth + 1);
            p = end;
        }
    }
    return sum;
}

uint64_t ft_usage_tree(pid_t pid)
{
    return tree(pid, 0);
}

uint64_t ft_usage_self(void)
{
    return private_bytes("/proc/self/statm");
}

uint64_t ft_usage_unshared(pid_t pid)
{
    char text[4096];
    const char *at;
    uint64_t kib = 0;

    if (ft_proctext_of(pid, "smaps_rollup", text, sizeof text) < 0)
        return 0;
    for (at = text; (at = strstr(at, "\nPrivate_")); at++)
        kib += strtoull(at + strcspn(at, ":") + 1, NULL, 10);
    return kib * 1024;
}

uint64_t ft_usage_memfd(int fd)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}
