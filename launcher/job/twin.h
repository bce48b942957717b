/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher is two processes (DESIGN section 7, RULES 16, 17, 23): the *agent* runs the job, the *standby* waits. The process
   that the user started begins as the standby, and as a subreaper: when the agent is killed the ranks become its children,
   and it becomes the agent. When the standby is killed the agent forks another one.

   What a successor needs is in shared memory (shared.h), in descriptors that were open before the first fork, and in
   those that the agent sends to the standby as it makes them: the ends of the ranks' pipes and their pidfds. */
#ifndef LAUNCHER_JOB_TWIN_H
#define LAUNCHER_JOB_TWIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"

struct ft_signals;
struct ft_twin;

enum ft_twin_role { FT_TWIN_AGENT, FT_TWIN_STANDBY };

/* This process's copies of a rank's descriptors; -1: none. */
enum { FT_END_OUT, FT_END_ERR, FT_END_IN, FT_END_PIDFD, FT_ENDS };

struct ft_ends {
    uint32_t incarnation;    /* they belong to */
    int fd[FT_ENDS];
};

/* Before the first fork; what is open now stays open in every launcher process. FT_ENOMEM, FT_ESYS. */
int ft_twin_new(struct ft_twin **out, uint32_t nranks, struct ft_error *e);

/* Forks: this process takes the role given, the child the other. Returns the caller's role (so twice), or FT_ESYS. Signals must be
   blocked. An agent that forks a standby has to say before what its descriptors are (ft_twin_note); the standby closes all others. */
int ft_twin_fork(struct ft_twin *t, enum ft_twin_role role, struct ft_error *e);

/* Of the other process; 0: there is none. */
pid_t ft_twin_pid(const struct ft_twin *t);

/* True in the process that the user started. */
bool ft_twin_front(const struct ft_twin *t);

/* True in the older one of the two, which is the other's parent, and in one that is alone. What both are sent it takes: the other one, which may
   be born at that very moment and then gets a copy that does not say where it comes from, does not. */
bool ft_twin_leads(const struct ft_twin *t);

/* The standby's life. True: the job is over, *code is its exit code, and the agent is gone. False: the agent is dead, and this
   process has to go on in its place; *how says how it died (a wait status; -1: unknown). What it is sent and has to take (signals.h)
   it passes to the agent; what the agent has died over is there again. */
bool ft_twin_stand_by(struct ft_twin *t, struct ft_signals *signals, int *code, int *how);

/* Before the fork: a standby asks this every so many milliseconds. True: its twin, which may be stopped, is killed. */
void ft_twin_watch(struct ft_twin *t, bool (*late)(void *arg), void *arg, int ms);

/* After that: what the dead agent had sent for rank. Owned by the caller, who may take descriptors out (set them to -1). */
struct ft_ends *ft_twin_ends(struct ft_twin *t, uint32_t rank);

/* Agent: to be watched for reading; then ft_twin_receive until it returns 0. 1: *signal was sent to the standby; who asks for
   the next one has done what it asks for. -1: the standby is dead (and waited for, if it is our child); there is nothing to watch any more. */
int ft_twin_fd(const struct ft_twin *t);
int ft_twin_receive(struct ft_twin *t, int *signal);

/* Agent: the standby gets copies of the descriptors that are not -1 and drops those of older incarnations. If it is too slow to take
   them it does without: a successor then restarts that rank. */
void ft_twin_send(struct ft_twin *t, uint32_t rank, const struct ft_ends *ends);

/* Agent: the standby's copy of rank's FT_END_IN is to be closed: its reader waits for end of file. */
void ft_twin_send_eof(struct ft_twin *t, uint32_t rank);

/* Agent: for the next fork. */
void ft_twin_note(struct ft_twin *t, uint32_t rank, const struct ft_ends *ends);

/* Agent: the job is over. The standby that the user started leaves with this code; any other one is ended and waited for. */
void ft_twin_finish(struct ft_twin *t, int code);

void ft_twin_free(struct ft_twin *t);

#endif
