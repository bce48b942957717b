/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples the job's memory for the report: what ranks hold for themselves, ftrun itself and the shared memory. */
#ifndef LAUNCHER_SAMPLER_H
#define LAUNCHER_SAMPLER_H

#include "launcher/job.h"

struct ft_sampler;

/* Starts sampling. NULL: no memory; then the report says 0. */
struct ft_sampler *ft_sampler_new(struct ft_job *job);

void ft_sampler_free(struct ft_sampler *s);

#endif
