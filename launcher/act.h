/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the policy what happened and does what it wants done. */
#ifndef LAUNCHER_ACT_H
#define LAUNCHER_ACT_H

#include "launcher/job.h"

void ft_act(struct ft_job *job, const struct ft_event *ev);

#endif
