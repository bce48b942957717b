/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of one host (DESIGN section 7): owns the job's shared memory, the keeper of its log, the ranks and their
   output, and does what the policy says. */
#ifndef LAUNCHER_AGENT_H
#define LAUNCHER_AGENT_H

#include "launcher/options.h"

/* Runs a job from start to end; returns ftrun's exit code. Whatever went wrong has been told. */
int ft_agent_run(const struct ft_options *options);

#endif
