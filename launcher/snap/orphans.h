/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of a rank that was killed: its successor waits for them (ft/outcome/children.h). */
#ifndef LAUNCHER_SNAP_ORPHANS_H
#define LAUNCHER_SNAP_ORPHANS_H

#include <sys/resource.h>
#include <sys/types.h>

/* arg: the job. An orphan has ended: the rank that had it, or its successor, is told. As struct ft_leaders wants it. */
void ft_orphans_ended(void *arg, pid_t pid, int status, const struct rusage *usage);

#endif
