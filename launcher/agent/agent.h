/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of one host (DESIGN section 7): owns the job's shared memory, the keeper of its log, the ranks and their
   output, and does what the policy says. */
#ifndef LAUNCHER_AGENT_AGENT_H
#define LAUNCHER_AGENT_AGENT_H

#include "ft/base/err.h"
#include "launcher/options/options.h"

/* Runs a job from start to end; returns ftrun's exit code. Whatever went wrong has been told. */
int ft_agent_run(const struct ft_options *options);

struct ft_job;

/* No rank is left: the log and all that ranks have said of themselves are made new. Killed in the middle of it, a successor's
   set-up finishes it. FT_ESYS: no keeper. */
int ft_agent_renew(struct ft_job *job, struct ft_error *e);

/* In a process that was forked from the agent to stand by for it. Does not return. */
void ft_agent_stand_by(struct ft_job *job) __attribute__((noreturn));

#endif
