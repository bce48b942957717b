/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/agent/act.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/deadlines.h"
#include "launcher/agent/sampler.h"
#include "launcher/agent/sweep.h"
#include "launcher/agent/watch.h"
#include "launcher/base/timer.h"
#include "launcher/control/server.h"
#include "launcher/job/full.h"
#include "launcher/job/oom.h"
#include "launcher/node/node.h"
#include "launcher/ranks/ranks.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/sink.h"

enum { AGAIN_MS = 100, LONELY_MS = 1000 };

struct ft_loop {
    struct ft_job *job;
    struct event *signals, *twin, *lonely, *keeper_failed;
    bool lonely_told;                  /* that there is no standby, and none to be had */
    struct ft_sampler *sampler;
    int alarm[2];                      /* the keeper's thread writes, the loop reads */
    char keeper_line[FT_ERROR_TEXT];   /* written before alarm is */
};

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_job *job = arg;

    (void)fd;
    (void)what;
    ft_ranks_clear(job);
    if (job->sweeping)
        ft_sweep_step(job);
}

static void on_grace(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ft_act(arg, &(struct ft_event){.kind = FT_EV_GRACE});
}

static void on_room(void *arg)
{
    struct ft_job *job = arg;

    ft_output_resume(job->output);
    if (job->sweeping)
        ft_sweep_step(job);
}

static void on_tap(void *arg, int stream, const char *data, size_t len)
{
    const struct ft_job *job = arg;

    ft_control_tap(job->control, stream, data, len);
}

static void on_differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    const struct ft_job *job = arg;

    ft_say(&job->say, "rank %u: after its restart, line %llu of its %s is not what it was before (a time stamp?); what was "
           "printed first stands", ft_job_rank(job, rank), (unsigned long long)line, stream ? "stderr" : "stdout");
}

void ft_loop_keeper_failed(void *arg, const char *line)
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
    ft_full_tell(l->job); /* what happened before */
    ft_say(&l->job->say, "%s; the job is ended", l->keeper_line);
    ft_act(l->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

static void stop(struct ft_job *job, int signal)
{
    if (job->sweeping)
        ft_sweep_hurry(job);
    ft_act(job, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = signal});
}

static void children_died(struct ft_job *job)
{
    struct ft_leaders leaders = ft_job_leaders(job);

    ft_reap_orphans(&leaders);
    on_again(-1, 0, job);
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
static void stop_here(struct ft_job *job, int signal)
{
    int code;

    if (!ft_policy_ends(job->policy, &code))
        ft_say(&job->say, "ftrun on host %s was told to stop by signal %d (SIG%s); the job is ended", ft_say_host(), signal,
               sigabbrev_np(signal));
    stop(job, signal);
}

static void take_signal(struct ft_job *job, int signal, bool passed_on)
{
    if (job->node && signal != SIGTERM)
        return; /* they are the controller's business, which may be in the same process group, or a hung up starter's */
    if (ft_signals_end(signal)) {
        if (ft_signals_count(&job->signals, passed_on))
            (job->node ? stop_here : stop)(job, signal);
    } else if (signal == SIGTSTP) {
        suspend(job);
    } else {
        ft_ranks_signal(job, signal); /* SIGUSR1, SIGUSR2, SIGCONT */
    }
}

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    struct ft_job *job = arg;
    int signal;

    (void)fd;
    (void)what;
    while ((signal = ft_signals_next(&job->signals)))
        if (signal == SIGCHLD)
            children_died(job);
        else if (ft_twin_leads(job->twin) || ft_signals_end(signal))
            take_signal(job, signal, false);
}

static int watch_twin(struct ft_loop *l);

/* The standby is dead: from now on the death of this process would be the job's. */
static void on_lonely(evutil_socket_t fd, short what, void *arg)
{
    struct ft_loop *l = arg;
    struct ft_job *job = l->job;
    struct ft_error e;
    sigset_t all, mask;
    int role;

    (void)fd;
    (void)what;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_ends ends = ft_ranks_ends(job, r);

        ft_twin_note(job->twin, r, &ends);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    role = ft_twin_fork(job->twin, FT_TWIN_AGENT, &e);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (role == FT_TWIN_STANDBY)
        ft_agent_stand_by(job);
    if (role < 0 || watch_twin(l) < 0) {
        if (!l->lonely_told)
            ft_say(&job->say, "%s; it is tried again", role < 0 ? e.text : "no memory for a second launcher process");
        l->lonely_told = true;
        ft_timer_set(l->lonely, LONELY_MS);
        return;
    }
    l->lonely_told = false;
    ft_say_detail(&job->say, "process %d stands by for process %d", ft_twin_pid(job->twin), getpid());
}

void ft_loop_alone(struct ft_loop *l)
{
    if (l->job->options->die_with_launcher) {
        ft_say(&l->job->say, "a process of ftrun was killed; the job is ended (--die-with-launcher)");
        ft_act(l->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    } else {
        on_lonely(-1, 0, l);
    }
}

static void on_twin(evutil_socket_t fd, short what, void *arg)
{
    struct ft_loop *l = arg;
    struct ft_job *job = l->job;
    pid_t twin = ft_twin_pid(job->twin);
    int got, signal;

    (void)fd;
    (void)what;
    while ((got = ft_twin_receive(job->twin, &signal)) > 0)
        take_signal(job, signal, true);
    if (got == 0)
        return;
    event_free(l->twin);
    l->twin = NULL;
    ft_say_notice(&job->say, "process %d of ftrun is gone; process %d goes on with the job", twin, getpid());
    if (job->options->die_with_launcher)
        ft_loop_alone(l);
    else
        ft_timer_set(l->lonely, AGAIN_MS);
}

static int watch_twin(struct ft_loop *l)
{
    l->twin = event_new(l->job->base, ft_twin_fd(l->job->twin), EV_READ | EV_PERSIST, on_twin, l);
    return l->twin ? event_add(l->twin, NULL) : -1;
}

/* A terminal, a pipe or a socket: somebody may be waiting for a prompt. */
static bool somebody_types(void)
{
    struct stat st;

    return !fstat(0, &st) && (isatty(0) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static void on_file_failed(void *arg, const struct ft_error *e)
{
    const struct ft_job *job = arg;

    ft_say(&job->say, "%s", e->text);
}

static int set_up_output(struct ft_job *job)
{
    const struct ft_options *o = job->options;
    struct ft_output_config config = {
        .prompts = somebody_types() ? o->stdin_rank : -1,
        .tag = o->tag_output,
        .timestamp = o->timestamp_output,
        .differs = on_differs,
        .tap = on_tap,
        .failed = on_file_failed,
        .room = on_room,
        .arg = job,
        .flush = job->node ? ft_node_flush : NULL,
        .fenced = job->node ? ft_node_is_fenced : NULL,
        .node = job->node,
    };

    job->output = ft_output_new(job->base, job->stdio, &config);
    if (!job->output)
        return -1;
    for (int i = 0; i < 2; i++)
        job->sinks[i] = ft_output_sink(job->output, i);
    job->say.put = ft_sink_put;
    job->say.put_arg = job->sinks[1];
    job->say.tap = on_tap;
    job->say.tap_arg = job;
    return 0;
}

static void on_input_ended(void *arg)
{
    const struct ft_job *job = arg;

    ft_twin_send_eof(job->twin, (uint32_t)job->options->stdin_rank);
}

static void on_input_failed(void *arg, const struct ft_error *e)
{
    struct ft_job *job = arg;

    ft_say(&job->say, "%s; the job is ended", e->text);
    ft_act(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

static int set_up_input(struct ft_job *job)
{
    struct ft_input_config config = {.ended = on_input_ended, .failed = on_input_failed, .arg = job};

    if (job->stdio->store.kind == FT_STORE_NONE)
        return 0;
    job->input = ft_input_new(job->base, job->stdio, &config);
    return job->input ? 0 : -1;
}

static int fill(struct ft_loop *l, struct ft_job *job)
{
    job->base = event_base_new();
    if (job->base && job->node)
        event_base_priority_init(job->base, 2); /* its lease goes before all else */
    if (!job->base || set_up_output(job) < 0)
        return -1;
    l->signals = event_new(job->base, job->signals.fd, EV_READ | EV_PERSIST, on_signals, job);
    l->lonely = evtimer_new(job->base, on_lonely, l);
    if (!l->signals || event_add(l->signals, NULL) < 0 || !l->lonely || (ft_twin_pid(job->twin) && watch_twin(l) < 0))
        return -1;
    if (set_up_input(job) < 0)
        return -1;
    job->oom = ft_oom_new(job->base);
    job->grace = evtimer_new(job->base, on_grace, job);
    job->again = evtimer_new(job->base, on_again, job);
    if (ft_snapshots_watch(job) < 0 || ft_durable_watch(job) < 0)
        return -1;
    l->keeper_failed = event_new(job->base, l->alarm[0], EV_READ, on_keeper_failed, l);
    if (!job->grace || !job->again || !l->keeper_failed || event_add(l->keeper_failed, NULL) < 0)
        return -1;
    if (job->report->wanted || job->report->timeline)
        l->sampler = ft_sampler_new(job);
    return 0;
}

struct ft_loop *ft_loop_new(struct ft_job *job, struct ft_error *e)
{
    struct ft_loop *l = calloc(1, sizeof *l);

    if (!l)
        goto no_memory;
    l->job = job;
    if (pipe2(l->alarm, O_CLOEXEC | O_NONBLOCK) < 0)
        goto no_pipe;
    if (fill(l, job) == 0)
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

void ft_loop_serve(struct ft_loop *l)
{
    struct ft_job *job = l->job;

    job->timeout = ft_timeout_new(job);
    job->watch = ft_watch_new(job);
    if (ft_control_serve(job->control, job->base) < 0)
        ft_say_notice(&job->say, "no memory to answer ftrun list, status, stop, wait and attach");
}

void ft_loop_run(struct ft_loop *l)
{
    if (l->sampler)
        ft_sampler_begin(l->sampler);
    if (!l->job->over) /* it may be over before it began: nothing could be started */
        event_base_dispatch(l->job->base);
}

void ft_loop_free(struct ft_loop *l)
{
    struct ft_job *job = l->job;

    job->say.tap = NULL;
    ft_control_leave(job->control);
    ft_watch_free(job->watch);
    ft_timeout_free(job->timeout);
    ft_sampler_free(l->sampler);
    ft_oom_free(job->oom);
    ft_durable_unwatch(job);
    ft_snapshots_unwatch(job);
    ft_input_free(job->input);
    ft_timer_free(l->keeper_failed);
    ft_timer_free(job->again);
    ft_timer_free(job->grace);
    ft_timer_free(l->lonely);
    ft_timer_free(l->twin);
    ft_timer_free(l->signals);
    job->say.put = NULL;
    ft_output_free(job->output);
    if (job->base)
        event_base_free(job->base);
    close(l->alarm[0]);
    close(l->alarm[1]);
    free(l);
}
