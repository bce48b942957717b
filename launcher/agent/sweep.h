/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job: no rank is left. Whatever processes they left behind end too, what was printed is written out,
   then the loop is over. */
#ifndef LAUNCHER_AGENT_SWEEP_H
#define LAUNCHER_AGENT_SWEEP_H

#include "launcher/agent/state.h"

void ft_sweep_begin(struct ft_agent *a);

/* Processes have died, or some time has passed, or output has been written. Nothing, while ranks are left. */
void ft_sweep_step(struct ft_agent *a);

/* The user does not want to wait. Likewise. */
void ft_sweep_hurry(struct ft_agent *a);

#endif
