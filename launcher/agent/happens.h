/* SPDX-License-Identifier: BSD-3-Clause */
/* --events of a job on one host (events/events.h): what the agent knows. */
#ifndef LAUNCHER_AGENT_HAPPENS_H
#define LAUNCHER_AGENT_HAPPENS_H

#include "launcher/agent/state.h"

/* This process is the agent: it tells what happens from now on. */
void ft_happens_serve(struct ft_agent *a);

/* The loop is over, and the job, with its code. */
void ft_happens_end(struct ft_agent *a);

#endif
