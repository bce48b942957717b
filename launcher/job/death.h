/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank's process died, for its parent and for a launcher process that is not its parent (any more). */
#ifndef LAUNCHER_JOB_DEATH_H
#define LAUNCHER_JOB_DEATH_H

#include "launcher/job/job.h"

/* If the process behind proc->pidfd is dead: records when and how, enters FT_PROC_DEAD, waits for it if it is our child and closes
   the pidfd. False: it lives. */
bool ft_death_reap(struct ft_proc *proc);

/* Notes of those of n that are not dead that they are not: what a death's detection is told by. */
void ft_death_look(struct ft_proc *procs, uint32_t n);

/* Whether it is, or was until it is waited for, a child of this process. */
bool ft_death_is_child(pid_t pid);

/* So many calls that write it has made, if it is not reaped yet, and has left no core. UINT64_MAX: the kernel does not tell, or counts those
   for the core, which it writes now. */
uint64_t ft_death_writes(pid_t pid);

#endif
