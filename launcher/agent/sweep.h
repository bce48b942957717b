/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job: no rank is left. Whatever processes they left behind end too, what was printed is written out,
   then the loop is over. */
#ifndef LAUNCHER_AGENT_SWEEP_H
#define LAUNCHER_AGENT_SWEEP_H

#include "launcher/job/job.h"

void ft_sweep_begin(struct ft_job *job);

/* Processes have died, or some time has passed, or output has been written. */
void ft_sweep_step(struct ft_job *job);

/* The user does not want to wait. */
void ft_sweep_hurry(struct ft_job *job);

#endif
