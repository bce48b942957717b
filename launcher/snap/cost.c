/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/cost.h"

#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/usage.h"
#include "launcher/job/job.h"
#include "launcher/snap/slot.h"

enum { LEAST_NS = 1000000 /* it costs at least */ };

/* Since it was last looked at. It is less then if everything was made new. */
static uint64_t grown(uint64_t now, uint64_t *before)
{
    uint64_t since = now < *before ? now : now - *before;

    *before = now;
    return since;
}

uint64_t ft_cost_stood(struct ft_snapshot *s)
{
    return grown(ft_look(&ft_snap_words_of(s)->stood_ns), &s->stood_ns);
}

void ft_cost_note(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);

    ft_report_still(s->job->report, s->rank, grown(ft_look(&w->still_ns), &s->still_ns), ft_look(&w->still_most_ns), ft_look(&w->threads));
}

void ft_cost_begin(struct ft_snapshot *s)
{
    s->last_ns = ft_cost_stood(s);
    ft_cost_note(s);
}

/* Copied pages are paid for by who writes first: the rank, for the most part. Counted when the snapshot ends, or is replaced: by its page
   faults, which new memory has, too, if they can be little; else by what the snapshot has for itself, which takes as long to find out as
   to fork (16 MiB: 0.36 ms). */
void ft_cost_pages(struct ft_snapshot *s, const struct ft_snap_slot *slot)
{
    uint64_t page_ns = ft_peek(&ft_snap_words_of(s)->page_ns), most = ft_peek(&ft_snap_words_of(s)->faults) * page_ns;

    if (most > s->last_ns / 2)
        most = ft_min(most, ft_usage_unshared(slot->pid) / (uint64_t)sysconf(_SC_PAGESIZE) * page_ns);
    s->last_ns += most;
}

/* What the dearest rank's snapshot cost, for ranks that share a processor one after the other; and a quarter for what cannot be counted:
   caches and translations that are lost (`figures --share`: 16.6 ms, 13.5 of them counted). */
uint64_t ft_cost_round(const struct ft_job *job, const struct ft_snapshot *ranks)
{
    const struct ft_params *p = &job->region.header->params;
    uint64_t most = LEAST_NS;

    for (uint32_t r = 0; r < p->nranks; r++)
        most = ft_max(most, ranks[r].last_ns);
    return most * 5 / 4 * ft_max(1, ft_div_up(p->nranks, p->cores));
}
