/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/sampler.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/agent/watch.h"
#include "launcher/base/usage.h"
#include "launcher/job/activity.h"
#include "launcher/job/death.h"
#include "launcher/snap/snapshot.h"

enum { FIRST_US = 20000, EVERY_US = 100000, SHARE = 50 };

struct ft_sampler {
    struct ft_job *job;
    struct ft_watch *watch;
    struct event *memory, *ranks;
    enum ft_activity *activities;
};

static void wait_us(struct event *timer, uint64_t us)
{
    struct timeval next = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};

    event_add(timer, &next);
}

static void again(struct event *timer, uint64_t every_us, uint64_t begin_ns)
{
    wait_us(timer, ft_max(every_us, SHARE * (ft_clock_ns() - begin_ns) / 1000));
}

static uint64_t memory_of(const struct ft_job *job)
{
    uint64_t sum = ft_usage_self() + ft_usage_memfd(job->region.fd) + ft_usage_memfd(job->models) + ft_snapshots_bytes(job);

    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (job->leaders[r])
            sum += ft_usage_tree(job->leaders[r]);
    return sum;
}

static void note_memory(const struct ft_sampler *s)
{
    struct ft_report *report = s->job->report;

    report->peak_memory_bytes = ft_max(report->peak_memory_bytes, memory_of(s->job));
}

static void on_memory(evutil_socket_t fd, short what, void *arg)
{
    struct ft_sampler *s = arg;
    uint64_t begin = ft_clock_ns();

    (void)fd;
    (void)what;
    note_memory(s);
    ft_job_note_log(s->job);
    again(s->memory, EVERY_US, begin);
}

static void on_ranks(evutil_socket_t fd, short what, void *arg)
{
    struct ft_sampler *s = arg;
    struct ft_job *job = s->job;
    uint64_t begin = ft_clock_ns();
    const struct ft_inspect *look;

    (void)fd;
    (void)what;
    if (!s->watch)
        return;
    ft_death_look(job->procs, job->options->nranks);
    look = ft_watch_look(s->watch);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        s->activities[r] = ft_activity_of(&job->procs[r], &look[r]);
    ft_timeline_sample(job->report->timeline, begin, s->activities);
    again(s->ranks, ft_timeline_every(job->report->timeline) / 1000, begin);
}

struct ft_sampler *ft_sampler_new(struct ft_job *job, struct ft_watch *watch)
{
    struct ft_sampler *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->job = job;
    s->watch = watch;
    s->activities = calloc(job->options->nranks, sizeof *s->activities);
    s->memory = evtimer_new(job->base, on_memory, s);
    s->ranks = evtimer_new(job->base, on_ranks, s);
    if (!s->activities || !s->memory || !s->ranks) {
        ft_sampler_free(s);
        return NULL;
    }
    return s;
}

void ft_sampler_begin(struct ft_sampler *s)
{
    /* At once too, for a job that is over in the loop's first round. */
    if (s->job->report->wanted) {
        note_memory(s);
        wait_us(s->memory, FIRST_US);
    }
    if (s->job->report->timeline)
        on_ranks(-1, 0, s);
}

void ft_sampler_free(struct ft_sampler *s)
{
    if (!s)
        return;
    if (s->memory)
        event_free(s->memory);
    if (s->ranks)
        event_free(s->ranks);
    free(s->activities);
    free(s);
}
