/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/sampler.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "launcher/snapshot.h"
#include "launcher/usage.h"

/* Ten times a second, or as often as costs 2 percent of a processor. */
enum { FIRST_US = 20000, EVERY_US = 100000, SHARE = 50 };

struct ft_sampler {
    struct ft_job *job;
    struct event *timer;
};

static uint64_t sample(const struct ft_job *job)
{
    uint64_t sum = ft_usage_self() + ft_usage_memfd(job->region.fd) + ft_snapshots_bytes(job);

    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (job->leaders[r])
            sum += ft_usage_tree(job->leaders[r]);
    return sum;
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct ft_sampler *s = arg;
    struct ft_report *report = s->job->report;
    uint64_t begin = ft_job_now(), cost_us;
    struct timeval next;

    (void)fd;
    (void)what;
    report->peak_memory_bytes = ft_max(report->peak_memory_bytes, sample(s->job));
    ft_job_note_log(s->job);
    cost_us = (ft_job_now() - begin) / 1000;
    cost_us = ft_max(EVERY_US, SHARE * cost_us);
    next = (struct timeval){.tv_sec = (time_t)(cost_us / 1000000), .tv_usec = (suseconds_t)(cost_us % 1000000)};
    event_add(s->timer, &next);
}

struct ft_sampler *ft_sampler_new(struct ft_job *job)
{
    struct ft_sampler *s = calloc(1, sizeof *s);
    struct timeval first = {.tv_usec = FIRST_US};

    if (!s)
        return NULL;
    s->job = job;
    s->timer = evtimer_new(job->base, on_time, s);
    if (!s->timer || event_add(s->timer, &first) < 0) {
        ft_sampler_free(s);
        return NULL;
    }
    return s;
}

void ft_sampler_free(struct ft_sampler *s)
{
    if (!s)
        return;
    if (s->timer)
        event_free(s->timer);
    free(s);
}
