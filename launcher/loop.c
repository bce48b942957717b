/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/act.h"
#include "launcher/input.h"
#include "launcher/output.h"
#include "launcher/ranks.h"
#include "launcher/sampler.h"
#include "launcher/sink.h"
#include "launcher/sweep.h"

enum { NSIGNALS = 6 };

struct ft_loop {
    struct ft_job *job;
    struct event *signals[NSIGNALS], *keeper_failed;
    struct ft_sampler *sampler;
    int alarm[2];                      /* the keeper's thread writes, the loop reads */
    char keeper_line[FT_ERROR_TEXT];   /* written before alarm is */
};

static void on_stop(evutil_socket_t signal, short what, void *arg)
{
    struct ft_job *job = arg;

    (void)what;
    if (job->sweeping)
        ft_sweep_hurry(job);
    ft_act(job, &(struct ft_event){.kind = FT_EV_SIGNAL, .signal = signal});
}

static void on_pass(evutil_socket_t signal, short what, void *arg)
{
    (void)what;
    ft_ranks_signal(arg, signal);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_job *job = arg;

    (void)fd;
    (void)what;
    ft_ranks_clear(job);
    if (job->sweeping)
        ft_sweep_step(job);
}

static void on_child(evutil_socket_t signal, short what, void *arg)
{
    struct ft_job *job = arg;
    struct ft_leaders leaders = ft_job_leaders(job);

    ft_reap_orphans(&leaders);
    on_again(signal, what, arg);
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

static void on_differs(void *arg, uint32_t rank, int stream, uint64_t line)
{
    const struct ft_job *job = arg;

    ft_say(&job->say, "rank %u: after its restart, line %llu of its %s is not what it was before (a time stamp?); what was "
           "printed first stands", rank, (unsigned long long)line, stream ? "stderr" : "stdout");
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
    ft_say(&l->job->say, "%s; the job is ended", l->keeper_line);
    ft_act(l->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
}

/* Signals that somebody set to be ignored before us (nohup) stay ignored. */
static int watch_signal(struct ft_loop *l, int i, int signal, event_callback_fn handler)
{
    struct sigaction before;

    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_IGN && signal != SIGCHLD)
        return 0;
    l->signals[i] = evsignal_new(l->job->base, signal, handler, l->job);
    return l->signals[i] ? event_add(l->signals[i], NULL) : -1;
}

static int watch_signals(struct ft_loop *l)
{
    static const struct {
        int signal;
        event_callback_fn handler;
    } watched[NSIGNALS] = {
        {SIGINT, on_stop}, {SIGTERM, on_stop}, {SIGHUP, on_stop}, {SIGUSR1, on_pass}, {SIGUSR2, on_pass}, {SIGCHLD, on_child},
    };

    l->job->sigpipe = signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* it may be inherited as ignored: then children vanish unseen */
    for (int i = 0; i < NSIGNALS; i++)
        if (watch_signal(l, i, watched[i].signal, watched[i].handler) < 0)
            return -1;
    return 0;
}

/* A terminal, a pipe or a socket: somebody may be waiting for a prompt. */
static bool somebody_types(void)
{
    struct stat st;

    return !fstat(0, &st) && (isatty(0) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int set_up_output(struct ft_job *job)
{
    struct ft_output_config config = {
        .nranks = job->options->nranks,
        .keep = job->options->max_restarts > 0,
        .prompts = somebody_types(),
        .differs = on_differs,
        .arg = job,
    };

    job->sinks[0] = ft_sink_new(job->base, 1, on_room, job);
    job->sinks[1] = ft_sink_same(1, 2) ? job->sinks[0] : ft_sink_new(job->base, 2, on_room, job);
    if (!job->sinks[0] || !job->sinks[1])
        return -1;
    config.sinks[0] = job->sinks[0];
    config.sinks[1] = job->sinks[1];
    job->output = ft_output_new(job->base, &config);
    job->say.sink = job->sinks[1];
    return job->output ? 0 : -1;
}

static int fill(struct ft_loop *l, struct ft_job *job)
{
    job->base = event_base_new();
    if (!job->base || watch_signals(l) < 0 || set_up_output(job) < 0)
        return -1;
    job->input = ft_input_new(job->base);
    job->grace = evtimer_new(job->base, on_grace, job);
    job->again = evtimer_new(job->base, on_again, job);
    l->keeper_failed = event_new(job->base, l->alarm[0], EV_READ, on_keeper_failed, l);
    if (!job->grace || !job->again || !l->keeper_failed || event_add(l->keeper_failed, NULL) < 0)
        return -1;
    if (job->report.fd >= 0)
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

void ft_loop_run(struct ft_loop *l)
{
    if (!l->job->over) /* it may be over before it began: nothing could be started */
        event_base_dispatch(l->job->base);
}

static void free_event(struct event *ev)
{
    if (ev)
        event_free(ev);
}

void ft_loop_free(struct ft_loop *l)
{
    struct ft_job *job = l->job;

    ft_sampler_free(l->sampler);
    ft_input_free(job->input);
    free_event(l->keeper_failed);
    free_event(job->again);
    free_event(job->grace);
    for (int i = 0; i < NSIGNALS; i++)
        free_event(l->signals[i]);
    job->say.sink = NULL;
    ft_output_free(job->output);
    if (job->sinks[1] != job->sinks[0])
        ft_sink_free(job->sinks[1]);
    ft_sink_free(job->sinks[0]);
    if (job->base)
        event_base_free(job->base);
    close(l->alarm[0]);
    close(l->alarm[1]);
    free(l);
}
