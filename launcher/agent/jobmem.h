/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's shared memory on this host, as its options and the machine would have it. */
#ifndef LAUNCHER_AGENT_JOBMEM_H
#define LAUNCHER_AGENT_JOBMEM_H

#include "ft/base/err.h"

struct ft_job;

/* Fills in the job's region, models, and log, without the thread that looks after that. 0, or an error and its line. */
int ft_jobmem_open(struct ft_job *job, struct ft_error *e);

#endif
