/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's two processes (twin.h), as the one that runs the job has them in its loop: the signals that either is sent, the
   death of the other one, and another one in its place. */
#ifndef LAUNCHER_JOB_PAIR_H
#define LAUNCHER_JOB_PAIR_H

#include <stdbool.h>

struct event_base;
struct ft_pair;
struct ft_say;
struct ft_signals;
struct ft_twin;

struct ft_pair_config {
    struct event_base *base;
    struct ft_twin *twin;
    struct ft_signals *signals;
    const struct ft_say *say;
    bool die_with_launcher;
    void (*died)(void *arg);   /* children have: SIGCHLD */
    void (*take)(void *arg, int signal, bool passed_on); /* of what only the older process takes, only that comes */
    void (*note)(void *arg);   /* ft_twin_note, before a fork; NULL: there is nothing to note */
    void (*stand_by)(void *arg); /* in the new process. Does not return */
    void (*end)(void *arg);    /* --die-with-launcher: the job is to end, and that has been told */
    void *arg;
};

/* NULL: no memory. */
struct ft_pair *ft_pair_new(const struct ft_pair_config *config);

/* There is no standby: makes one, or with --die-with-launcher ends the job. */
void ft_pair_alone(struct ft_pair *p);

void ft_pair_free(struct ft_pair *p);

/* A line for who has taken over, how (twin.h) its predecessor died. */
void ft_pair_tell(const struct ft_say *say, int how);

#endif
