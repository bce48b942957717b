/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/job.h"

#include <event2/event.h>

#include "ft/base/util.h"
#include "launcher/tracker/tracker.h"

void ft_job_post(struct ft_job *job, const struct ft_event *ev)
{
    struct ft_posted *p = &job->posted;

    FT_INVARIANT(p->n < p->room, "a few events for each rank are posted before the policy is told");
    p->events[(p->first + p->n++) % p->room] = *ev;
    if (p->wake)
        event_active(p->wake, 0, 0);
}

bool ft_job_next(struct ft_job *job, struct ft_event *ev)
{
    struct ft_posted *p = &job->posted;

    if (!p->n)
        return false;
    *ev = p->events[p->first];
    p->first = (p->first + 1) % p->room;
    p->n--;
    return true;
}

int ft_job_renew(struct ft_job *job, struct ft_error *e)
{
    ft_keeper_stop(job->keeper);
    ft_job_note_log(job);
    ft_region_reset(&job->region);
    ft_report_renew(job->report);
    ft_tracker_renew(job->tracker);
    return ft_keeper_run(job->keeper, job->keeper_failed, job->keeper_arg, e);
}

void ft_job_note_log(const struct ft_job *job)
{
    ft_report_log(job->report, ft_region_log_bytes(&job->region), ft_region_released_bytes(&job->region),
                  ft_keeper_stats(job->keeper).spilled_bytes);
}
