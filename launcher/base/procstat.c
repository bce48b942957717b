/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/procstat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/proctext.h"

enum { NAME = 2, ENV_START = 50, ENV_END = 51, EXIT_CODE = 52, KERNEL_THREAD = 0x200000 /* PF_KTHREAD */ };  /* numbers of fields, from 1 */

bool ft_procstat_read(pid_t pid, struct ft_procstat *stat)
{
    char text[1024];
    unsigned flags;
    const char *at;

    if (ft_proctext_of(pid, "stat", text, sizeof text) < 0)
        return false;
    at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || sscanf(at + 1, " %c %d %d %*d %*d %*d %u", &stat->state, &stat->parent, &stat->group, &flags) != 4)
        return false;
    stat->kernel = flags & KERNEL_THREAD;
    stat->environment = 0;
    for (int field = NAME; field < EXIT_CODE && at; field++) {
        at = strchr(at + 1, ' ');
        if (at && field + 1 == ENV_START)
            stat->environment = strtoul(at, NULL, 10);
        if (at && field + 1 == ENV_END && strtoul(at, NULL, 10) == 0)
            stat->environment = 0; /* exec is about to say where it ends */
    }
    stat->status = at ? atoi(at) : 0;
    return true;
}

bool ft_procstat_stopped(pid_t pid)
{
    struct ft_procstat stat;

    return ft_procstat_read(pid, &stat) && (stat.state == 'T' || stat.state == 't');
}
