/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of one host (DESIGN section 7): owns the job's shared memory, the keeper of its log,
   the ranks and their output, and does what the policy says. */
#ifndef LAUNCHER_AGENT_AGENT_H
#define LAUNCHER_AGENT_AGENT_H

#include "launcher/options/options.h"

struct ft_above;

/* Runs a job from start to end; returns ftrun's exit code. Whatever went wrong has been told.
   above: this agent is one of several (above.h); NULL: it is the only one. */
int ft_agent_run(const struct ft_options *options, const struct ft_above *above);

#endif
