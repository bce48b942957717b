/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/absent.h"

#include "ft/shm/word.h"
#include "launcher/base/reap.h"
#include "launcher/job/job.h"
#include "launcher/snap/slot.h"

static bool has_left_nobody(const struct ft_job *job, const struct ft_proc *proc)
{
    struct ft_leaders leaders = ft_leaders_of(job);

    return !ft_reap_signal(&leaders, proc->rank, proc->pid, 0, NULL);
}

static bool has_called(const struct ft_job *job, uint32_t rank)
{
    return ft_look32(&ft_region_rank(&job->region, rank)->state) != FT_RANK_ABSENT;
}

static bool has_left(const struct ft_proc *proc)
{
    return ft_proc_phase(proc) == FT_PROC_RETIRED && !proc->signal && !proc->code;
}

/* Processes are looked for only if it matters: plain programs leave one after the other for hours. */
struct ft_absent ft_absent_look(const struct ft_job *job)
{
    uint32_t n = job->options->nranks;
    struct ft_absent a = {.rank = n};

    for (uint32_t r = 0; r < n; r++)
        a.called |= has_called(job, r);
    for (uint32_t r = 0; r < n && a.rank == n && (a.called || job->above); r++)
        if (has_left(&job->procs[r]) && !has_called(job, r) && has_left_nobody(job, &job->procs[r]))
            a.rank = r;
    return a;
}
