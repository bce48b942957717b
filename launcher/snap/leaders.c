/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/leaders.h"

#include "launcher/job/job.h"
#include "launcher/job/twin.h"
#include "launcher/snap/snapshot.h"

struct ft_leaders ft_leaders_of(const struct ft_job *job)
{
    struct ft_leaders leaders = {.pids = job->leaders, .n = job->options->nranks, .other = ft_twin_pid(job->twin),
                                 .job = job->options->job_id, .strangers = job->strangers};

    if (job->options->node)
        leaders.ranks = job->options->node->rank_at + job->options->node->first[job->options->node->node];
    leaders.kept = ft_snapshots_kept(job, &leaders.nkept);
    return leaders;
}
