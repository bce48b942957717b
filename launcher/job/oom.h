/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the kernel killed a rank for want of memory, its control group's or the host's. It says only how many processes it has killed, here or on the whole host
   (limits.h): as many deaths by SIGKILL within a minute are taken for those. */
#ifndef LAUNCHER_JOB_OOM_H
#define LAUNCHER_JOB_OOM_H

#include <stdbool.h>

struct event_base;
struct ft_oom;

/* From now on. NULL: no memory; then no death is one of these. */
struct ft_oom *ft_oom_new(struct event_base *base);
void ft_oom_free(struct ft_oom *o);

/* A process has just been found dead by SIGKILL. */
bool ft_oom_took_it(struct ft_oom *o);

#endif
