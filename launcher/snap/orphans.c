/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/orphans.h"

#include "ft/outcome/log.h"
#include "launcher/job/job.h"

void ft_orphans_ended(void *arg, pid_t pid, int status, const struct rusage *usage)
{
    const struct ft_job *job = arg;
    bool named = false;

    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, r);

        named |= outcomes && ft_outcome_orphan(outcomes, pid, status, usage, job->leaders[r], job->procs[r].incarnation);
    }
    for (uint32_t r = 0; !named && r < job->options->nranks; r++)
        if (ft_region_outcomes(&job->region, r))
            ft_outcome_stray(ft_region_outcomes(&job->region, r), pid, status, usage);
}
