/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' processes: start, death, clearing of what they leave behind, restart. */
#ifndef LAUNCHER_RANKS_RANKS_H
#define LAUNCHER_RANKS_RANKS_H

#include "launcher/job/job.h"
#include "launcher/job/twin.h"

/* Starts the first incarnations of those that have none. What goes wrong ends the job through the policy. */
void ft_ranks_start(struct ft_job *job);

/* rank's leader is dead: kill what it left behind, then start its successor. */
void ft_ranks_restart(struct ft_job *job, uint32_t rank, uint64_t number);

/* This process's descriptors of rank. */
struct ft_ends ft_ranks_ends(const struct ft_job *job, uint32_t rank);

/* proc->pidfd is watched from now on. FT_ESYS. */
int ft_ranks_watch(struct ft_job *job, struct ft_proc *proc, struct ft_error *e);

/* How proc died has been recorded: tells the policy, and does what it wants. */
void ft_ranks_buried(struct ft_job *job, struct ft_proc *proc);

/* Restarts that wait for that are off. */
void ft_ranks_cancel(struct ft_job *job);

/* Invariant 5: rank's leader is dead, and nothing of its process tree lives. False: it has been killed, and is not dead yet. */
bool ft_ranks_is_clear(struct ft_job *job, uint32_t rank);

/* Processes have died, or some time has passed: goes on with restarts. */
void ft_ranks_clear(struct ft_job *job);

/* If rank's snapshot has made the next incarnation: goes on with that. If it never will, with another way back. */
void ft_ranks_copied(struct ft_job *job, uint32_t rank);
void ft_ranks_unwakable(struct ft_job *job, uint32_t rank);

/* A snapshot that was to be woken when the agent died. */
void ft_ranks_wake_again(struct ft_job *job, uint32_t rank);

/* To the process group of every rank that runs. */
void ft_ranks_signal(struct ft_job *job, int signal);

/* Enters into the report what is known by now about rank's last restart. */
void ft_ranks_note_recovery(struct ft_job *job, uint32_t rank);

/* And, at the end of the job, what became of the rank. */
void ft_ranks_note_end(struct ft_job *job, uint32_t rank);

/* The furthest unit that rank ever came to, also before all ranks started again (launcher/ranks/renew.h). */
uint64_t ft_ranks_furthest(const struct ft_job *job, uint32_t rank);

/* "was killed by signal 9 (SIGKILL)", "exited with code 3". Returns text. */
const char *ft_ranks_death(const struct ft_proc *proc, char *text, size_t size);

#endif
