/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base/proctext.h"

/* "12:cpu,cpuacct:/path": the path, up to the end of the line; NULL: there is no such line. */
static const char *path_of(const char *text, const char *controller)
{
    size_t len = strlen(controller);

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

bool ft_cgroup_find(struct ft_cgroup *g, const char *text, const char *controller, const char *mount)
{
    const char *path = path_of(text, controller);
    int len = path ? (int)strcspn(path, "\n") : 0;

    if (!path || access(mount, F_OK) < 0)
        return false;
    g->mount = strlen(mount);
    if ((size_t)snprintf(g->dir, sizeof g->dir, "%s%.*s", mount, len == 1 ? 0 : len, path) >= sizeof g->dir || access(g->dir, F_OK) < 0)
        snprintf(g->dir, sizeof g->dir, "%s", mount);
    return true;
}

bool ft_cgroup_up(struct ft_cgroup *g)
{
    char *slash = strrchr(g->dir, '/');

    if (strlen(g->dir) <= g->mount || !slash)
        return false;
    *slash = 0;
    return true;
}

const char *ft_cgroup_text(const struct ft_cgroup *g, const char *file, char *text, size_t size)
{
    char path[FT_CGROUP_PATH + 64];

    snprintf(path, sizeof path, "%s/%s", g->dir, file);
    ft_proctext_read(path, text, size);
    return text;
}

uint64_t ft_cgroup_number(const struct ft_cgroup *g, const char *file)
{
    char text[64], *end;
    uint64_t n;

    ft_cgroup_text(g, file, text, sizeof text);
    n = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : n;
}

uint64_t ft_cgroup_field(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, name, len) && strchr(" :\t", line[len]))
            return strtoull(line + len + strspn(line + len, " :\t"), NULL, 10);
    return 0;
}
