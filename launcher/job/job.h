/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's state, shared by the files that act on it: agent.c (set-up and loop), ranks.c (the ranks' processes), act.c
   (what the policy wants done), sweep.c (the end). One thread, except where said. */
#ifndef LAUNCHER_JOB_JOB_H
#define LAUNCHER_JOB_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/shm/keeper.h"
#include "ft/shm/region.h"
#include "launcher/base/reap.h"
#include "launcher/base/say.h"
#include "launcher/base/signals.h"
#include "launcher/options/options.h"
#include "launcher/policy/phases.h"
#include "launcher/policy/rank_policy.h"
#include "launcher/report/report.h"
#include "launcher/report/ways.h"
#include "launcher/wire/description.h"

struct event;
struct event_base;
struct ft_control;
struct ft_deadlines;
struct ft_durable;
struct ft_snapshooter;
struct ft_input;
struct ft_node;
struct ft_oom;
struct ft_output;
struct ft_sink;
struct ft_spawn;
struct ft_stdio_memory;
struct ft_timeout;
struct ft_watch;
struct ft_job;
struct ft_twin;

/* The process of one rank. In shared memory: the agent may be killed at any instruction. */
struct ft_proc {
    _Atomic uint32_t phase; /* enum ft_phase */
    uint32_t rank;
    uint32_t incarnation;
    volatile pid_t pid;     /* of the last incarnation */
    uint64_t started_ns, died_ns;
    uint64_t seen_ns;       /* not dead yet */
    int signal, code;       /* how it died */
    bool oom;               /* the kernel killed it for want of memory (oom.h) */
    pid_t before;           /* the one that this one replaces */
    uint64_t restart;       /* number of the restart that is waiting; 0: it is the first start */
    enum ft_way_back way;   /* how this incarnation came to be */
    bool with_all;          /* its next incarnation starts when all do: FT_DO_GATHER */
    bool lost;              /* how it died, or what it printed, is not known: a launcher process was killed */
    bool stuck_told;        /* that it takes long has been said */

    /* of the agent; a successor sets them anew */
    struct ft_job *job;
    int pidfd;              /* -1: it has been reaped */
    struct event *gone;     /* pidfd is readable */
};

struct ft_job {
    const struct ft_options *options;
    struct ft_say say;
    struct ft_policy *policy;
    struct ft_region region;
    int models;             /* memory for models (ft/shm/models.h) */
    struct ft_keeper *keeper;
    struct event_base *base;
    struct ft_stdio_memory *stdio;
    struct ft_output *output;
    struct ft_sink *sinks[2]; /* of output */
    struct ft_input *input; /* NULL: no rank reads our standard input */
    struct ft_spawn *spawn;
    struct ft_snapshooter *snapshots;
    struct ft_durable *durable;  /* NULL: no --ckpt-dir */
    struct ft_report *report;  /* in shared memory, as policy and procs */
    struct ft_twin *twin;
    struct ft_signals signals;
    struct ft_proc *procs;
    pid_t *leaders;         /* by rank, 0: none alive or waiting to be reaped */
    struct ft_oom *oom;     /* NULL: no memory for it */
    pid_t launcher;         /* the process that the user started */
    struct ft_deadlines *deadlines;
    struct ft_timeout *timeout;  /* NULL: none */
    struct ft_watch *watch;
    struct ft_control *control;  /* NULL: the job cannot be asked anything */
    struct ft_node *node;        /* NULL: there is one node, this */

    struct event *grace;    /* time between two signals to the ranks */
    struct event *again;    /* look again for processes that have been killed */
    bool strangers;         /* some ranks are not our children: their orphans are not either */
    bool sweeping;          /* no rank is left; other processes may be */
    int sweep_stage;
    uint64_t sweep_next_ns; /* when the stage is over */
    bool swept;             /* nothing is left but to write what is waiting */
    bool over;              /* leave the loop */
    int code;               /* of ftrun */
};

struct ft_leaders ft_job_leaders(const struct ft_job *job);
void ft_job_note_log(const struct ft_job *job);  /* enters its size into the report */

/* The number in the job of one of this agent's ranks: what people are told. */
static inline uint32_t ft_job_rank(const struct ft_job *job, uint32_t local)
{
    const struct ft_description *d = job->options->node;

    return d ? d->rank_at[d->first[d->node] + local] : local;
}

static inline void ft_proc_enter(struct ft_proc *proc, enum ft_phase phase)
{
    atomic_store(&proc->phase, phase);
}

static inline enum ft_phase ft_proc_phase(const struct ft_proc *proc)
{
    return atomic_load(&proc->phase);
}

#endif
