/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's own state, shared by the files of this folder: agent.c (set-up and end), loop.c
   (events), act.c (what the policy wants done), sweep.c (the end of the job). What they do to
   ranks is in the job (job.h). One thread. */
#ifndef LAUNCHER_AGENT_STATE_H
#define LAUNCHER_AGENT_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/base/signals.h"
#include "launcher/job/job.h"

struct event;
struct ft_control;
struct ft_deadlines;
struct ft_events;
struct ft_loop;
struct ft_sink;
struct ft_store;
struct ft_timeout;
struct ft_watch;

/* sweep.c's */
struct ft_sweep {
    bool on;                /* no rank is left; other processes may be */
    int stage;
    uint64_t next_ns;       /* when the stage is over */
    bool done;              /* nothing is left but to write what is waiting */
    bool over;              /* leave the loop */
};

struct ft_agent {
    struct ft_job job;
    pid_t launcher;         /* the process that the user started */
    struct ft_signals signals;
    struct ft_loop *loop;
    struct event *grace;    /* time between two signals to the ranks */
    struct ft_sink *sinks[2]; /* of output */
    struct ft_deadlines *deadlines;
    struct ft_timeout *timeout;  /* NULL: none */
    struct ft_watch *watch;
    struct ft_control *control;  /* NULL: the job cannot be asked anything */
    struct ft_events *events;    /* NULL: no --events, or the controller has it */
    struct ft_store *store;      /* NULL: the controller has it */
    struct ft_sweep sweep;
};

#endif
