/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's state, shared by the files that act on it: agent.c (set-up and loop), ranks.c (the ranks' processes), act.c
   (what the policy wants done), sweep.c (the end). One thread, except where said. */
#ifndef LAUNCHER_JOB_H
#define LAUNCHER_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/shm/keeper.h"
#include "ft/shm/region.h"
#include "launcher/options.h"
#include "launcher/policy.h"
#include "launcher/reap.h"
#include "launcher/report.h"
#include "launcher/say.h"
#include "launcher/spawn.h"

struct event;
struct event_base;
struct ft_input;
struct ft_output;
struct ft_sink;
struct ft_job;

/* The process of one rank. */
struct ft_proc {
    struct ft_job *job;
    uint32_t rank;
    pid_t pid;              /* of the last incarnation */
    int pidfd;              /* -1: it has been reaped */
    struct event *gone;     /* pidfd is readable */
    uint32_t incarnation;
    uint64_t started_ns, died_ns;
    int signal, code;       /* how it died */
    bool clearing;          /* to be restarted once the rest of its tree is dead */
    bool stuck_told;        /* that it takes long has been said */
    uint64_t restart;       /* number of the restart that is waiting */
};

struct ft_job {
    const struct ft_options *options;
    struct ft_say say;
    struct ft_policy *policy;
    struct ft_region region;
    struct ft_keeper *keeper;
    struct event_base *base;
    struct ft_sink *sinks[2];
    struct ft_output *output;
    struct ft_input *input; /* NULL: rank 0 gets our standard input itself */
    struct ft_spawn *spawn;
    struct ft_report report;
    struct ft_proc *procs;
    pid_t *leaders;         /* by rank, 0: none alive or waiting to be reaped */
    uint64_t oom_kills;     /* of the host, when last looked at */

    struct event *grace;    /* time between two signals to the ranks */
    struct event *again;    /* look again for processes that have been killed */
    void (*sigpipe)(int);   /* what SIGPIPE was set to before */
    bool sweeping;          /* no rank is left; other processes may be */
    int sweep_stage;
    uint64_t sweep_next_ns; /* when the stage is over */
    bool swept;             /* nothing is left but to write what is waiting */
    bool over;              /* leave the loop */
    int code;               /* of ftrun */
};

uint64_t ft_job_now(void);  /* CLOCK_MONOTONIC, ns */
struct ft_leaders ft_job_leaders(const struct ft_job *job);

#endif
