/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/started.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/procstat.h"
#include "launcher/base/proctext.h"

/* The same program as this one. */
static bool is_ftrun(pid_t pid)
{
    char path[64], own[PATH_MAX], other[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own), m;

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    m = readlink(path, other, sizeof other);
    return n > 0 && n == m && memcmp(own, other, (size_t)n) == 0;
}

/* A rank that has started an ftrun of its own ends the chain: that is another job. */
static bool is_under(pid_t pid, pid_t top)
{
    struct ft_procstat stat;

    while (pid != top && ft_procstat_read(pid, &stat) && stat.parent > 1 && is_ftrun(stat.parent))
        pid = stat.parent;
    return pid == top;
}

/* Who listens there, as the kernel says; 0: nobody. */
static pid_t listener(int dir, const char *name)
{
    struct ucred who = {.pid = 0};
    socklen_t size = sizeof who;
    int fd = ft_rundir_connect(dir, name);

    if (fd < 0)
        return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
        who.pid = 0;
    close(fd);
    return who.pid;
}

bool ft_started_find(int dir, pid_t pid, char id[FT_SOCKET_NAME])
{
    int again = dup(dir);
    DIR *files = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;
    bool found = false;

    if (files)
        rewinddir(files);
    while (files && !found && (entry = readdir(files))) {
        size_t len = strlen(entry->d_name);
        pid_t who = len > 5 && len < FT_SOCKET_NAME && !strcmp(entry->d_name + len - 5, ".sock") ? listener(dir, entry->d_name) : 0;

        found = who > 0 && is_under(who, pid);
        if (found)
            snprintf(id, FT_SOCKET_NAME, "%.*s", (int)strcspn(entry->d_name, "."), entry->d_name);
    }
    if (files)
        closedir(files);
    else if (again >= 0)
        close(again);
    return found;
}

bool ft_started_url(pid_t pid, char url[FT_STARTED_TEXT])
{
    char words[4096];
    ssize_t n = is_ftrun(pid) ? ft_proctext_of(pid, "cmdline", words, sizeof words) : -1;

    for (const char *word = words; n > 0 && word < words + n; word += strlen(word) + 1) {
        const char *value = !strncmp(word, "--rdzv=", 7) ? word + 7 : !strcmp(word, "--rdzv") ? word + 7 : NULL;

        if (value && value < words + n) {
            snprintf(url, FT_STARTED_TEXT, "%s", value);
            return true;
        }
    }
    return false;
}
