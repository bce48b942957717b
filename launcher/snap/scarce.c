/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/scarce.h"

#include <stdio.h>

#include "ft/outcome/log.h"
#include "ft/shm/cut.h"
#include "ft/shm/pages.h"
#include "ft/shm/wait.h"
#include "ft/snap/image.h"
#include "launcher/job/job.h"
#include "launcher/snap/budget.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/steps.h"

static bool open_log(const struct ft_snapshot *s, struct ft_outcome_log *log)
{
    if (!ft_outcomes_of(s))
        return false;
    ft_outcome_log_open(log, ft_outcomes_of(s), s->job->region.header->params.outcome_bytes);
    return true;
}

/* A rank without a snapshot needs nothing in its log of outcomes but what it is at, which is not longer than an extent; and what calls of its
   threads fill in that have been under way for longer. A replay reads what is older. */
static void release_outcomes(const struct ft_snapshot *s)
{
    struct ft_outcome_log log;
    uint64_t tail = open_log(s, &log) ? atomic_load(&log.words->tail) : 0;

    if (s->live == s->job->procs[s->rank].incarnation + 1 && tail > FT_OUTCOME_EXTENT &&
        tail - FT_OUTCOME_EXTENT > atomic_load(&log.words->released))
        ft_outcome_log_alone(&log, s->numbers + 1, tail - FT_OUTCOME_EXTENT);
}

/* Memory of what is released goes back to the system. */
static void trim_outcomes(const struct ft_snapshot *s)
{
    const struct ft_region *region = &s->job->region;
    struct ft_outcome_log log;
    char *where;

    if (!open_log(s, &log))
        return;
    for (uint32_t slot = 0; (where = ft_outcome_log_take(&log, &slot)); slot++) {
        ft_pages_drop(region->fd, (uint64_t)(where - region->base), FT_OUTCOME_EXTENT);
        ft_outcome_log_give(&log, slot);
    }
}

/* Once. */
static void tell(struct ft_snapshot *s)
{
    const struct ft_memory *m = ft_budget_of(s->job, s->rank);
    struct ft_snapshot *first = &s->job->snapshots->ranks[0];
    char used[96] = "";

    s->oom = false;
    if (m->limit < UINT64_MAX && m->used > m->limit / 2) /* else its group, or what was too much, went with it */
        snprintf(used, sizeof used, ", %llu of %llu MiB are used%s", (unsigned long long)m->used >> 20, (unsigned long long)m->limit >> 20,
                 m->group ? " in the job's control group" : "");
    if (!first->short_told)
        ft_say_notice(&s->job->say, "host %s is short of memory%s: snapshots go first, and none is made until there is more; a rank that "
                      "has none and is killed replays from the start. A higher limit or fewer ranks help", ft_say_host(), used);
    first->short_told = true;
}

static void drop_snapshots(struct ft_snapshot *s)
{
    tell(s);
    ft_steps_drop(s);
    ft_cut_unregister(&s->job->region, s->rank);
    s->asked_ns = ft_clock_ns();
    s->refusals++;
    s->reason = FT_IMAGE_MEMORY;
    s->told = true;
}

void ft_scarce_tick(struct ft_job *job)
{
    ft_budget_look(job);
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = &job->snapshots->ranks[r];

        if (s->oom)
            tell(s);
        if (ft_proc_phase(&job->procs[r]) != FT_PROC_RUNNING)
            continue; /* a dead one is to go on from its snapshot */
        if (ft_slot_any(s) && ft_budget_takes_snapshots(job, r))
            drop_snapshots(s);
        if (!ft_slot_any(s))
            release_outcomes(s);
        if (ft_budget_is_short(job, r))
            trim_outcomes(s);
    }
}
