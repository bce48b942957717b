/* SPDX-License-Identifier: BSD-3-Clause */
/* From the death of a rank to its next incarnation. The phase of its process (phases.h) says how far
   that is, so whoever goes on with it after a launcher process was killed knows:

     CLEARING   the policy wants it back (ft_restart_rank). Each call of ft_restart_clear kills what
                is left of its process tree. When nothing is, the first way back that there is:
       its snapshot          WAKING; its copy is adopted by ft_restart_look, when the bell rings
       checkpoint or start   STARTING, RUNNING (ft_ranks_begin)
       none                  FT_EV_STRANDED: all ranks start again, or the node ends
     WAKING     a snapshot that dies before it has made a copy: CLEARING again

   The last way back (ways.h, FT_BACK_ALL): a rank can neither go on from a snapshot nor start over
   alone, because a part of the log that it would need is gone. All ranks are killed, those that had
   left included (ft_restart_recall). When nothing is left of any of them the log and all counters
   are made new, and all start again from the beginning. What they print again is dropped as in any
   restart. A successor finds the job gathering, all ranks where they are, and the keeper finishes a
   reset that was cut short (ft_region_resetting). */
#ifndef LAUNCHER_RANKS_RESTART_H
#define LAUNCHER_RANKS_RESTART_H

#include <stdint.h>

struct ft_job;

/* rank's leader is dead, and it is to have a successor: restart `number` of this rank. */
void ft_restart_rank(struct ft_job *job, uint32_t rank, uint64_t number);

/* Restarts that wait are off. */
void ft_restart_cancel(struct ft_job *job);

/* rank starts with all others, whatever has become of it. */
void ft_restart_recall(struct ft_job *job, uint32_t rank);

/* Processes have died, or some time has passed: goes on with restarts. What the policy has to be
   told is posted. */
void ft_restart_clear(struct ft_job *job);

/* The ranks' bell has rung: snapshots that are ready or taken, copies that are made, questions
   about checkpoints. */
void ft_restart_look(struct ft_job *job);

/* A snapshot that was to be woken when the agent died. */
void ft_restart_wake_again(struct ft_job *job, uint32_t rank);

#endif
