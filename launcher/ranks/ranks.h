/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' processes: start and death. What comes after that is restart.h's. */
#ifndef LAUNCHER_RANKS_RANKS_H
#define LAUNCHER_RANKS_RANKS_H

#include "launcher/job/job.h"
#include "launcher/job/twin.h"

/* Starts the first incarnations of those that have none. What goes wrong ends the job through
   the policy. */
void ft_ranks_start(struct ft_job *job);

/* One incarnation of proc, from its block in shared memory to the event that tells of its death.
   -1: it cannot be started, which has been told and posted. */
int ft_ranks_begin(struct ft_job *job, struct ft_proc *proc);

/* Says so, and posts that the job ends with code. Returns -1. */
int ft_ranks_failed(struct ft_job *job, const struct ft_error *e, int code);

/* Before a process of the rank runs, and again when there is one: from then on the standby can
   go on with it. */
void ft_ranks_tell_standby(const struct ft_job *job, uint32_t rank);

/* This process's descriptors of rank. */
struct ft_ends ft_ranks_ends(const struct ft_job *job, uint32_t rank);

/* proc->pidfd is watched from now on. FT_ESYS. */
int ft_ranks_watch(struct ft_job *job, struct ft_proc *proc, struct ft_error *e);

/* How proc died has been recorded: for the report, people, and the policy. */
void ft_ranks_buried(struct ft_job *job, struct ft_proc *proc);

/* To the process group of every rank that runs. */
void ft_ranks_signal(struct ft_job *job, int signal);

/* Enters into the report what is known by now about rank's last restart. */
void ft_ranks_note_recovery(struct ft_job *job, uint32_t rank);

/* And, at the end of the job, what became of the rank. */
void ft_ranks_note_end(struct ft_job *job, uint32_t rank);

/* The furthest unit that rank ever came to, also before all ranks started again (restart.h). */
uint64_t ft_ranks_furthest(const struct ft_job *job, uint32_t rank);

/* "was killed by signal 9 (SIGKILL)", "exited with code 3". Returns text. */
const char *ft_ranks_death(const struct ft_proc *proc, char *text, size_t size);

#endif
