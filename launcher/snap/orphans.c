/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/orphans.h"

#include "ft/outcome/log.h"
#include "launcher/job/job.h"

/* To the ranks that have named it. */
static bool tell_named(const struct ft_job *job, pid_t pid, int status, const struct rusage *usage)
{
    bool named = false;

    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, r);

        named |= outcomes && ft_outcome_orphan(outcomes, pid, status, usage, job->leaders[r], job->procs[r].incarnation);
    }
    return named;
}

void ft_orphans_ended(void *arg, pid_t pid, int status, const struct rusage *usage)
{
    const struct ft_job *job = arg;

    if (tell_named(job, pid, status, usage))
        return;
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_region_outcomes(&job->region, r))
            ft_outcome_stray(ft_region_outcomes(&job->region, r), pid, status, usage);
    tell_named(job, pid, status, usage); /* a rank names it, and then looks among the strays: it was there before that, or the name is here */
}
