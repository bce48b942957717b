/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/renew.h"

#include "ft/shm/wait.h"
#include "launcher/job/job.h"
#include "launcher/ranks/ranks.h"
#include "launcher/snap/snapshot.h"

void ft_renew_recall(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];

    proc->with_all = true;
    if (ft_proc_phase(proc) == FT_PROC_RETIRED) {
        proc->died_ns = proc->seen_ns = ft_clock_ns(); /* what it has done is lost now, not when it left */
        ft_ranks_restart(job, rank, ft_policy_restarts_of(job->policy, rank));
    } else if (ft_proc_phase(proc) == FT_PROC_NEW || ft_proc_phase(proc) == FT_PROC_WAKING) {
        ft_proc_enter(proc, FT_PROC_CLEARING);
    }
}

static bool all_are_dead(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) != FT_PROC_CLEARING)
            return false;
    return true;
}

static bool all_are_clear(struct ft_job *job)
{
    bool clear = true;

    ft_snapshots_drop_all(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        clear &= ft_ranks_is_clear(job, r) && ft_snapshots_gone(job, r);
    return clear;
}

/* What the region will not know any more. */
static void note_progress(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        job->report->ranks[r].units = ft_ranks_furthest(job, r);
}

bool ft_renew_try(struct ft_job *job)
{
    struct ft_error e;

    if (!all_are_dead(job))
        return true; /* each death is posted */
    if (!all_are_clear(job))
        return false;
    note_progress(job);
    if (ft_job_renew(job, &e) < 0) {
        ft_say(&job->say, "%s", e.text);
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    } else {
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_RENEWED});
    }
    return true;
}
