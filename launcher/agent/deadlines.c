/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/deadlines.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/shm/wait.h"
#include "launcher/agent/state.h"
#include "launcher/agent/sweep.h"
#include "launcher/base/shared.h"

struct ft_timeout {
    struct ft_agent *agent;
    struct event *timer;
};

struct ft_deadlines *ft_deadlines_new(uint64_t now_ns, uint64_t timeout_ms)
{
    struct ft_deadlines *d = ft_shared_new(sizeof *d);

    if (d)
        *d = (struct ft_deadlines){.begin_ns = now_ns, .end_ns = timeout_ms ? now_ns + timeout_ms * 1000000 : 0, .hung = -1};
    return d;
}

void ft_deadlines_free(struct ft_deadlines *d)
{
    if (d)
        ft_shared_free(d, sizeof *d);
}

/* When every rank is done only their output may be left to write, or processes of theirs that do not end. */
static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct ft_timeout *t = arg;
    struct ft_agent *a = t->agent;
    struct ft_job *job = &a->job;

    (void)fd;
    (void)what;
    ft_say(&job->say, "the time is up (--timeout %g); the job is ended", (double)(a->deadlines->end_ns - a->deadlines->begin_ns) / 1e9);
    if (a->sweep.on) {
        job->code = job->code ? job->code : FT_CODE_TIMEOUT;
        ft_sweep_hurry(a);
    } else {
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_TIMEOUT});
    }
}

struct ft_timeout *ft_timeout_new(struct ft_agent *a)
{
    struct ft_timeout *t = a->deadlines->end_ns ? calloc(1, sizeof *t) : NULL;
    uint64_t now = ft_clock_ns(), left;
    struct timeval wait;

    if (!t)
        return NULL;
    t->agent = a;
    left = a->deadlines->end_ns > now ? (a->deadlines->end_ns - now) / 1000 : 0;
    wait = (struct timeval){.tv_sec = (time_t)(left / 1000000), .tv_usec = (suseconds_t)(left % 1000000)};
    t->timer = evtimer_new(a->job.base, on_timeout, t);
    if (t->timer && event_add(t->timer, &wait) == 0)
        return t;
    ft_timeout_free(t);
    return NULL;
}

void ft_timeout_free(struct ft_timeout *t)
{
    if (!t)
        return;
    if (t->timer)
        event_free(t->timer);
    free(t);
}
