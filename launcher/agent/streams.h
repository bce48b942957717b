/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks print, and what they are given to read, as parts of the job: who is told what of them. */
#ifndef LAUNCHER_AGENT_STREAMS_H
#define LAUNCHER_AGENT_STREAMS_H

struct ft_agent;
struct ft_job;

/* Before the loop turns. -1: there is no memory. */
int ft_streams_output(struct ft_agent *a);
int ft_streams_input(struct ft_job *job);

#endif
