/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of checkpoints (ft/checkpoint.h): answers what ranks ask for while they stand still, and makes what is committed
   their cuts. All that is known is in the words of ft/shm/versions.h, so a successor of the agent only looks again. */
#ifndef LAUNCHER_SNAP_CUT_H
#define LAUNCHER_SNAP_CUT_H

#include <stdbool.h>
#include <stdint.h>

struct ft_job;

/* A rank has said something. */
void ft_cuts_look(struct ft_job *job);

/* The newest version that all ranks would begin with if they began again; 0: none. */
uint64_t ft_cuts_newest(const struct ft_job *job);

/* The version that rank would load if it were started again alone; 0: none. */
uint64_t ft_cuts_version(const struct ft_job *job, uint32_t rank);

#endif
