/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose processes are whose: the ranks, the process that stands by, and snapshots that are to be kept (reap.h). */
#ifndef LAUNCHER_SNAP_LEADERS_H
#define LAUNCHER_SNAP_LEADERS_H

#include "launcher/base/reap.h"

struct ft_job;

struct ft_leaders ft_leaders_of(const struct ft_job *job);

#endif
