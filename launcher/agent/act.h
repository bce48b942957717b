/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the policy what happened and does what it wants done. */
#ifndef LAUNCHER_AGENT_ACT_H
#define LAUNCHER_AGENT_ACT_H

#include "launcher/job/job.h"

void ft_act(struct ft_job *job, const struct ft_event *ev);

/* Does effects; harmless if some have been done already, by an agent that was killed. */
void ft_act_do(struct ft_job *job, const struct ft_effects *effects);

#endif
