/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the policy what happened and does what it wants done. Whatever happens is posted
   (ft_job_post), by whoever learns of it. The event loop calls ft_act_posted before it does
   anything else, so a step of the policy is never within another one. */
#ifndef LAUNCHER_AGENT_ACT_H
#define LAUNCHER_AGENT_ACT_H

#include "launcher/agent/state.h"

/* What is posted wakes the loop, before all else that has come. -1: no memory. */
int ft_act_watch(struct ft_agent *a);
void ft_act_unwatch(struct ft_agent *a);

/* Tells the policy all that has been posted, and does what it wants. */
void ft_act_tell(struct ft_agent *a);

/* The same, and goes on with restarts. Not within a step, so not by what a deed calls. */
void ft_act_posted(struct ft_agent *a);

/* Does effects; harmless if some have been done already, by an agent that was killed. */
void ft_act_do(struct ft_agent *a, const struct ft_effects *effects);

/* Posts ev and does all that is posted now: for what counts as heard by others as soon as the caller
   returns, such as a signal that the standby has passed on (twin.h). As ft_act_posted. */
void ft_act(struct ft_agent *a, const struct ft_event *ev);

#endif
