/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank of this agent is doing, in one word (phases.h). */
#ifndef LAUNCHER_JOB_ACTIVITY_H
#define LAUNCHER_JOB_ACTIVITY_H

#include "launcher/policy/phases.h"

struct ft_inspect;
struct ft_proc;

/* i is of the same rank, and of now. */
enum ft_activity ft_activity_of(const struct ft_proc *proc, const struct ft_inspect *i);

#endif
