/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the job for its report (how much memory its ranks, ftrun itself and the log have) and for its timeline (what its ranks
   do): ten times a second, or as ft_timeline_every says; less often if that would cost more than 2 percent of a processor. */
#ifndef LAUNCHER_AGENT_SAMPLER_H
#define LAUNCHER_AGENT_SAMPLER_H

#include "launcher/job/job.h"

struct ft_sampler;
struct ft_watch;

/* watch: NULL if there was no memory for it. NULL: no memory; then the report says 0 and the timeline is empty. */
struct ft_sampler *ft_sampler_new(struct ft_job *job, struct ft_watch *watch);

/* Starts sampling what is wanted. The first look at the ranks is now: no death has been acted upon. */
void ft_sampler_begin(struct ft_sampler *s);

void ft_sampler_free(struct ft_sampler *s);

#endif
