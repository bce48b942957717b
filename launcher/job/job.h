/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of this host, as those know them who start, stop, copy and watch them. One thread,
   except where said. */
#ifndef LAUNCHER_JOB_JOB_H
#define LAUNCHER_JOB_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/shm/keeper.h"
#include "ft/shm/region.h"
#include "launcher/base/say.h"
#include "launcher/options/options.h"
#include "launcher/policy/phases.h"
#include "launcher/policy/rank_policy.h"
#include "launcher/report/report.h"
#include "launcher/report/ways.h"
#include "launcher/wire/description.h"

struct event;
struct event_base;
struct ft_above;
struct ft_durable;
struct ft_groups;
struct ft_snapshooter;
struct ft_input;
struct ft_node;
struct ft_output;
struct ft_spawn;
struct ft_stdio_memory;
struct ft_job;
struct ft_tracker;
struct ft_twin;

/* It was to go on from a snapshot and did something else there than its predecessor. So it ended itself: it has touched nothing, and that
   is no death of the rank's. */
enum ft_astray { FT_ASTRAY_NOT, FT_ASTRAY_AGAIN /* the same is tried again */, FT_ASTRAY_GIVEN_UP /* that snapshot is */ };

/* --check-replay (ranks/check.h), of a rank. */
struct ft_check {
    uint32_t killed;        /* this incarnation, + 1, has been killed for it */
    bool on;                /* the last death was such a one, or of a replay after it */
    bool last;              /* it had left with 0, ... */
    uint32_t state;         /* ... as this: enum ft_rank_state */
    bool differs;           /* that replay does, and is counted */
    uint32_t kills;         /* so many */
    uint64_t died_ns;       /* of the last one, */
    uint64_t at;            /* and how far it had come */
    uint64_t next;          /* it is killed when it has come here; 0: not decided yet */
};

/* The process of one rank. In shared memory: the agent may be killed at any instruction. */
struct ft_proc {
    _Atomic uint32_t phase; /* enum ft_phase */
    uint32_t rank;
    uint32_t incarnation;
    volatile pid_t pid;     /* of the last incarnation */
    uint64_t started_ns, died_ns;
    uint64_t seen_ns;       /* not dead yet */
    int signal, code;       /* how it died */
    bool oom;               /* the kernel killed it for want of memory (groups.h) */
    bool by_itself;         /* it sent itself the signal that it died of */
    enum ft_astray astray;
    struct ft_check check;
    uint64_t writes;        /* so many calls that write it has made, says the kernel; UINT64_MAX: it does not, or it has left a core */
    pid_t before;           /* the one that this one replaces */
    uint64_t restart;       /* number of the restart that is waiting; 0: it is the first start */
    enum ft_begun from;     /* what this incarnation was made of: exec, or a copy */
    enum ft_way_back way;   /* how this incarnation came to be */
    bool with_all;          /* its next incarnation starts when all do: FT_DO_GATHER */
    bool lost;              /* how it died, or what it printed, is not known: a launcher process was killed */
    bool stuck_told;        /* that it takes long has been said */
    bool closed;            /* it died with a snapshot that is not to be woken: said when its successor starts */

    /* of the agent; a successor sets them anew */
    struct ft_job *job;
    int pidfd;              /* -1: it has been reaped */
    struct event *gone;     /* pidfd is readable */
};

/* What the policy has not been told yet. */
struct ft_posted {
    struct ft_event *events;
    uint32_t first, n, room;
    struct event *wake;     /* comes before all others: the agent tells the policy (act.h) */
};

/* What whoever works on the ranks of this host has to know. What is the agent's alone is in
   agent/state.h, a node's in node/job.h. */
struct ft_job {
    const struct ft_options *options;
    struct ft_say say;
    struct event_base *base;
    const struct ft_above *above;   /* NULL: there is one node, this */
    struct ft_node *node;           /* ..., its argument */

    /* memory that outlives this process */
    struct ft_policy *policy;
    struct ft_proc *procs;
    struct ft_report *report;
    struct ft_region region;
    int models;                     /* memory for models (ft/shm/models.h) */
    struct ft_stdio_memory *stdio;

    /* the parts */
    struct ft_keeper *keeper;
    const char *spill_memory;       /* --log-spill is memory: "tmpfs" or the like; NULL: it is on a disk */
    ft_keeper_failed *keeper_failed; /* called in its thread */
    void *keeper_arg;
    struct ft_twin *twin;
    struct ft_output *output;
    struct ft_input *input;         /* NULL: no rank reads our standard input */
    struct ft_spawn *spawn;
    struct ft_snapshooter *snapshots;
    struct ft_durable *durable;     /* NULL: no --ckpt-dir */
    struct ft_groups *groups;       /* NULL: no memory for it */
    struct ft_tracker *tracker;     /* NULL: no --xgboost-tracker, or another host has it */

    struct ft_posted posted;
    pid_t *leaders;                 /* by rank, 0: none alive or waiting to be reaped */
    bool strangers;                 /* some ranks, so their orphans, are not our children */
    struct event *again;            /* looks again for processes that have been killed */
    int code;                       /* of ftrun */
};

/* Something for the policy. It is told before anything else happens to the agent, but not before
   the caller returns to the loop: so whoever posts goes on with what is known now. */
void ft_job_post(struct ft_job *job, const struct ft_event *ev);

/* For the agent: the next one that was posted. False: there is none. */
bool ft_job_next(struct ft_job *job, struct ft_event *ev);

/* No rank is left: the log and all that ranks have said of themselves are made new. Killed in
   the middle of it, a successor's set-up finishes it. FT_ESYS: no keeper. */
int ft_job_renew(struct ft_job *job, struct ft_error *e);

/* What becomes of the log's oldest part at its limit. Other nodes may need it: there nothing is forgotten. */
static inline enum ft_full ft_job_log_full(const struct ft_job *job)
{
    return job->spill_memory && !job->above ? FT_FULL_FORGET : job->options->log_full;
}

/* Enters the log's size into the report. */
void ft_job_note_log(const struct ft_job *job);

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
