/* SPDX-License-Identifier: BSD-3-Clause */
/* From the death of a rank to its next incarnation. The phase of its process (phases.h) says how far that is, so whoever goes on with it
   after a launcher process was killed knows:

     CLEARING   the policy wants it back (ft_ranks_restart). Each call of ft_restart_clear kills what is left of its process tree; when
                nothing is, the first way back that there is:
                its snapshot        -> WAKING; its copy is adopted by ft_restart_look, the bell's
                checkpoint or start -> STARTING, RUNNING (ft_ranks_begin)
                none                -> FT_EV_STRANDED: the policy has all ranks start again, or the node ends
     WAKING     a snapshot that dies before it has made a copy: CLEARING again */
#ifndef LAUNCHER_RANKS_RESTART_H
#define LAUNCHER_RANKS_RESTART_H

#include <stdint.h>

struct ft_job;

/* Processes have died, or some time has passed: goes on with restarts. What the policy has to be told is posted. */
void ft_restart_clear(struct ft_job *job);

/* The ranks' bell has rung: snapshots that are ready or taken, copies that are made, questions about checkpoints. */
void ft_restart_look(struct ft_job *job);

/* A snapshot that was to be woken when the agent died. */
void ft_restart_wake_again(struct ft_job *job, uint32_t rank);

#endif
