/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent waits for: signals, timers, output, the ranks' bell, the keeper's alarm. Deaths
   of ranks are watched by ranks.c. */
#ifndef LAUNCHER_AGENT_LOOP_H
#define LAUNCHER_AGENT_LOOP_H

#include "launcher/agent/state.h"

/* In a process that was forked from the agent to stand by for it. Does not return. */
typedef void ft_loop_stand_by(struct ft_agent *a);

/* Makes the event base, the sinks and the output of the job, and says through them from then on.
   NULL with a line. */
struct ft_loop *ft_loop_new(struct ft_agent *a, ft_loop_stand_by *stand_by, struct ft_error *e);

/* The job's memory is there and its ranks have places: from now on it is timed, watched and can
   be asked (deadlines.h, watch.h, server.h). In every agent, before its ranks start or after it
   has taken them over. */
void ft_loop_serve(struct ft_loop *l);

/* There is no standby: makes one, or with --die-with-launcher ends the job. */
void ft_loop_alone(struct ft_loop *l);

/* Until the job is over. */
void ft_loop_run(struct ft_loop *l);

void ft_loop_free(struct ft_loop *l);

#endif
