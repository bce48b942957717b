/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/agent/act.h"
#include "launcher/agent/deadlines.h"
#include "launcher/agent/sampler.h"
#include "launcher/agent/status.h"
#include "launcher/agent/store.h"
#include "launcher/agent/streams.h"
#include "launcher/agent/sweep.h"
#include "launcher/agent/tracking.h"
#include "launcher/agent/watch.h"
#include "launcher/base/reap.h"
#include "launcher/base/timer.h"
#include "launcher/control/server.h"
#include "launcher/job/above.h"
#include "launcher/job/full.h"
#include "launcher/job/groups.h"
#include "launcher/job/pair.h"
#include "launcher/ranks/check.h"
#include "launcher/ranks/ranks.h"
#include "launcher/ranks/restart.h"
#include "launcher/report/draft.h"
#include "launcher/snap/cut.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/scarce.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"
#include "launcher/tracker/tracker.h"

struct ft_loop {
    struct ft_agent *agent;
    ft_loop_stand_by *stand_by;
    struct event *bell, *tick, *check;
    struct event *keeper_failed;
    struct ft_pair *pair;
    struct ft_sampler *sampler;
    struct ft_draft *draft;
    int alarm[2];                      /* the keeper's thread writes, the loop reads */
    char keeper_line[FT_ERROR_TEXT];   /* written before alarm is */
};

/* What could not be done yet, and what the processes that have died meanwhile were waited for. */
static void go_on(struct ft_agent *a)
{
    ft_snapshots_look(&a->job); /* a rank that is about to exec waits until its snapshots are gone */
    ft_act_posted(a);
    ft_sweep_step(a);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    go_on(arg);
}

static void on_grace(evutil_socket_t fd, short what, void *arg)
{
    struct ft_agent *a = arg;

    (void)fd;
    (void)what;
    ft_job_post(&a->job, &(struct ft_event){.kind = FT_EV_GRACE});
}

/* Ranks, or their snapshots, have said something. */
static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    struct ft_agent *a = arg;
    struct ft_job *job = &a->job;
    uint64_t rings;

    (void)what;
    if (read(fd, &rings, sizeof rings) < 0)
        return;
    ft_restart_look(job);
    ft_durable_look(job);
    ft_store_look(a->store);
    ft_above_rung(job);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_loop *l = arg;
    struct ft_job *job = &l->agent->job;

    (void)fd;
    (void)what;
    ft_scarce_tick(job);
    ft_snapshots_tick(job);
    ft_cuts_look(job);
    ft_store_look(l->agent->store); /* a rank may be killed before it rings */
    ft_timer_set(l->tick, ft_snapshots_tick_ms(job));
}

static void on_check(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_loop *l = arg;

    (void)fd;
    (void)what;
    ft_check_tick(&l->agent->job);
    ft_timer_set(l->check, FT_CHECK_MS);
}

static void keeper_failed(void *arg, const char *line)
{
    struct ft_loop *l = arg;

    strncpy(l->keeper_line, line, sizeof l->keeper_line - 1);
    if (write(l->alarm[1], "", 1) < 0) {
        /* the pipe holds one byte or more: the loop knows */
    }
}

static void on_keeper_failed(evutil_socket_t fd, short what, void *arg)
{
    struct ft_loop *l = arg;

    (void)fd;
    (void)what;
    ft_full_tell(&l->agent->job); /* what happened before */
    ft_say(&l->agent->job.say, "%s; the job is ended", l->keeper_line);
    ft_job_post(&l->agent->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

static void stop(struct ft_agent *a, int signal)
{
    ft_sweep_hurry(a);
    ft_act(a, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = signal});
}

static void on_died(void *arg)
{
    struct ft_agent *a = arg;
    struct ft_leaders leaders = ft_leaders_of(&a->job);

    ft_reap_orphans(&leaders);
    go_on(a);
}

/* The ranks are in groups of their own, so a terminal's Ctrl-Z reaches them through us only. A SIGTSTP they could not
   take (an orphaned group ignores it) would leave them running: SIGSTOP. */
static void suspend(struct ft_job *job)
{
    ft_ranks_signal(job, SIGSTOP);
    if (ft_twin_front(job->twin))
        kill(getpid(), SIGSTOP); /* the user's shell waits for this */
}

/* One node of several: the controller has not been told, and neither has the user. */
static void stop_here(struct ft_agent *a, int signal)
{
    const struct ft_job *job = &a->job;
    int code;

    if (!ft_policy_ends(job->policy, &code))
        ft_say(&job->say, "ftrun on host %s was told to stop by signal %d (SIG%s); the job is ended", ft_say_host(), signal,
               sigabbrev_np(signal));
    stop(a, signal);
}

static void on_taken(void *arg, int signal, bool passed_on)
{
    struct ft_agent *a = arg;
    struct ft_job *job = &a->job;

    if (job->above && signal != SIGTERM)
        return; /* they are the controller's business, which may be in the same process group, or a hung up starter's */
    if (ft_signals_end(signal)) {
        if (ft_signals_count(&a->signals, passed_on))
            (job->above ? stop_here : stop)(a, signal);
    } else if (signal == SIGTSTP) {
        suspend(job);
    } else {
        ft_ranks_signal(job, signal); /* SIGUSR1, SIGUSR2, SIGCONT */
    }
}

static void note_ends(void *arg)
{
    const struct ft_agent *a = arg;

    for (uint32_t r = 0; r < a->job.options->nranks; r++) {
        struct ft_ends ends = ft_ranks_ends(&a->job, r);

        ft_twin_note(a->job.twin, r, &ends);
    }
}

static void on_stand_by(void *arg)
{
    struct ft_agent *a = arg;

    a->loop->stand_by(a);
}

static void end_job(void *arg)
{
    struct ft_agent *a = arg;

    ft_job_post(&a->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

static struct ft_pair *new_pair(struct ft_agent *a)
{
    struct ft_pair_config config = {.base = a->job.base, .twin = a->job.twin, .signals = &a->signals, .say = &a->job.say,
                                    .die_with_launcher = a->job.options->die_with_launcher, .died = on_died, .take = on_taken,
                                    .note = note_ends, .stand_by = on_stand_by, .end = end_job, .arg = a};

    return ft_pair_new(&config);
}

void ft_loop_alone(struct ft_loop *l) { ft_pair_alone(l->pair); }

/* NULL in *event: no memory. -1 likewise. */
static int make(struct event **event, struct event_base *base, int fd, short what, event_callback_fn call, void *arg)
{
    *event = event_new(base, fd, what, call, arg);
    return *event ? 0 : -1;
}

static int watch_ranks(struct ft_loop *l)
{
    struct ft_job *job = &l->agent->job;
    ft_snapshots_watch(job);
    if (make(&l->bell, job->base, ft_snapshots_bell(job), EV_READ | EV_PERSIST, on_bell, l->agent) < 0 || event_add(l->bell, NULL) < 0 ||
        make(&l->tick, job->base, -1, 0, on_tick, l) < 0)
        return -1;
    ft_timer_set(l->tick, ft_snapshots_tick_ms(job));
    if (job->options->check_seed) {
        if (make(&l->check, job->base, -1, 0, on_check, l) < 0)
            return -1;
        ft_timer_set(l->check, FT_CHECK_MS);
    }
    return ft_durable_watch(job);
}

static int fill(struct ft_loop *l)
{
    struct ft_agent *a = l->agent;
    struct ft_job *job = &a->job;

    job->base = event_base_new();
    /* first what was posted, and a node's lease (node.c) */
    if (!job->base || event_base_priority_init(job->base, 2) < 0 || ft_act_watch(a) < 0)
        return -1;
    if (ft_streams_output(a) < 0 || !(l->pair = new_pair(a)) || ft_streams_input(job) < 0)
        return -1;
    job->groups = ft_groups_new(job->base, job->options->nranks);
    if (make(&a->grace, job->base, -1, 0, on_grace, a) < 0 || make(&job->again, job->base, -1, 0, on_again, a) < 0 || watch_ranks(l) < 0)
        return -1;
    job->keeper_failed = keeper_failed;
    job->keeper_arg = l;
    return make(&l->keeper_failed, job->base, l->alarm[0], EV_READ, on_keeper_failed, l) < 0 ? -1 : event_add(l->keeper_failed, NULL);
}

struct ft_loop *ft_loop_new(struct ft_agent *a, ft_loop_stand_by *stand_by, struct ft_error *e)
{
    struct ft_loop *l = calloc(1, sizeof *l);

    if (!l)
        goto no_memory;
    l->agent = a;
    l->stand_by = stand_by;
    if (pipe2(l->alarm, O_CLOEXEC | O_NONBLOCK) < 0)
        goto no_pipe;
    if (fill(l) == 0)
        return l;
    ft_err_set(e, 0, "cannot set up the event loop: %s", strerror(errno));
    ft_loop_free(l);
    return NULL;

no_pipe:
    free(l);
no_memory:
    ft_err_set(e, 0, "cannot set up the event loop: %s", strerror(errno));
    return NULL;
}

static const struct ft_report *report_now(void *arg, uint64_t now_ns)
{
    struct ft_job *job = arg;

    (void)now_ns;
    ft_status_note(job);
    return job->report;
}

void ft_loop_serve(struct ft_loop *l)
{
    struct ft_agent *a = l->agent;
    struct ft_job *job = &a->job;

    a->timeout = ft_timeout_new(a);
    a->watch = ft_watch_new(job, a->deadlines);
    if (job->report->wanted || job->report->timeline)
        l->sampler = ft_sampler_new(job, a->watch);
    l->draft = ft_draft_new(job->base, job->report, report_now, job);
    if (ft_store_serve(a->store) < 0) {
        ft_say(&job->say, "no memory for the job's store; the job is ended");
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    }
    if (ft_tracking_serve(a) < 0)
        ft_say(&job->say, "no memory for --xgboost-tracker");
    if (ft_control_serve(a->control, job->base) < 0)
        ft_say_notice(&job->say, "no memory to answer ftrun list, status, stop, wait and attach");
}

void ft_loop_run(struct ft_loop *l)
{
    if (l->sampler)
        ft_sampler_begin(l->sampler);
    if (!l->agent->sweep.over) /* it may be over before it began: nothing could be started */
        event_base_dispatch(l->agent->job.base);
    ft_draft_free(l->draft); /* what is final comes after it */
    l->draft = NULL;
}

void ft_loop_free(struct ft_loop *l)
{
    struct ft_agent *a = l->agent;
    struct ft_job *job = &a->job;

    job->say.tap = NULL;
    ft_store_leave(a->store);
    ft_tracker_leave(job->tracker);
    ft_control_leave(a->control);
    ft_watch_free(a->watch);
    ft_timeout_free(a->timeout);
    ft_sampler_free(l->sampler);
    ft_groups_free(job->groups);
    ft_durable_unwatch(job);
    ft_snapshots_unwatch(job);
    ft_input_free(job->input);
    ft_timer_free(l->keeper_failed);
    ft_timer_free(job->again);
    ft_timer_free(a->grace);
    ft_timer_free(l->check);
    ft_timer_free(l->tick);
    ft_timer_free(l->bell);
    ft_pair_free(l->pair);
    job->say.put = NULL;
    ft_output_free(job->output);
    ft_act_unwatch(a);
    if (job->base)
        event_base_free(job->base);
    close(l->alarm[0]);
    close(l->alarm[1]);
    free(l);
}
