/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of one host (DESIGN section 7): owns the job's shared memory, the keeper of its log, the ranks and their
   output, and does what the policy says. */
#ifndef LAUNCHER_AGENT_H
#define LAUNCHER_AGENT_H

#include "launcher/options.h"

/* Runs a job from start to end; returns ftrun's exit code. Whatever went wrong has been told. */
int ft_agent_run(const struct ft_options *options);

/* In a process that was forked from the agent to stand by for it. Does not return. */
struct ft_job;
void ft_agent_stand_by(struct ft_job *job) __attribute__((noreturn));

#endif
