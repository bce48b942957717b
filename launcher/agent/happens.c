/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/happens.h"

#include <errno.h>
#include <string.h>

#include "launcher/events/events.h"
#include "launcher/ranks/ranks.h"
#include "launcher/report/report.h"
#include "launcher/snap/durable.h"

static void rank_of(const void *arg, uint32_t rank, struct ft_events_rank *is)
{
    const struct ft_proc *proc = &((const struct ft_job *)arg)->procs[rank];

    *is = (struct ft_events_rank){.pid = proc->pid, .ended = ft_proc_phase(proc) == FT_PROC_RETIRED};
}

/* Those of whom something may be new: looking for a rank's last restart takes a while if there are many of them. */
static bool may_be_new(const struct ft_job *job, uint32_t rank)
{
    const struct ft_rank_total *total = &job->report->ranks[rank];

    return total->restarts || !total->origin_ns || ft_proc_phase(&job->procs[rank]) != FT_PROC_RUNNING;
}

static struct ft_events_view view_of(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (may_be_new(job, r))
            ft_ranks_note_end(job, r);
    job->report->durable = ft_durable_totals(job);
    return (struct ft_events_view){.report = job->report, .rank = rank_of, .arg = job, .all = ft_policy_gatherings(job->policy),
                                   .signal = ft_policy_signal(job->policy)};
}

static void look(void *arg)
{
    struct ft_agent *a = arg;
    struct ft_events_view v = view_of(&a->job);

    ft_events_look(a->events, &v);
}

void ft_happens_serve(struct ft_agent *a)
{
    if (ft_events_run(a->events, a->job.base, look, a) < 0)
        ft_say(&a->job.say, "--events: cannot start a thread that writes them: %s", strerror(errno));
}

void ft_happens_end(struct ft_agent *a)
{
    struct ft_events_view v = view_of(&a->job);

    ft_events_end(a->events, &v, a->job.code);
}
