/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/controller.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/base/needs.h"
#include "launcher/base/timer.h"
#include "launcher/control/server.h"
#include "launcher/controller/act.h"
#include "launcher/controller/ask.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/happens.h"
#include "launcher/controller/job.h"
#include "launcher/controller/nodes.h"
#include "launcher/controller/report.h"
#include "launcher/controller/say.h"
#include "launcher/controller/start.h"
#include "launcher/controller/status.h"
#include "launcher/controller/stdio.h"
#include "launcher/controller/tell.h"
#include "launcher/options/map.h"
#include "launcher/options/program.h"
#include "launcher/report/checks.h"
#include "launcher/report/draft.h"
#include "launcher/report/report.h"
#include "launcher/start/remote.h"
#include "launcher/stdio/sink.h"

enum { NICE = -10 };

/* ---- signals and time ---- */

static void stop(struct ft_controller *c, int signal)
{
    if (c->finished) {
        c->over = true; /* nobody reads what is waiting */
        event_base_loopbreak(c->base);
        return;
    }
    if (ft_nodes_is_ending(c->policy)) {
        ft_controller_durable_hurry(c);
        ft_controller_stdio_hurry(c);
    } else {
        ft_options_say_stopped(c->o, &c->say, signal);
    }
    ft_controller_signal_ranks(c, signal);
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_SIGNAL, .code = 128 + signal});
}

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller *c = arg;
    int signal;

    (void)fd;
    (void)what;
    while ((signal = ft_signals_next(&c->signals)))
        if (signal == SIGCHLD)
            ft_remote_reap(c->remote);
        else if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCONT || signal == SIGTSTP)
            ft_controller_signal_ranks(c, signal);
        else
            stop(c, signal);
    ft_controller_leave(c);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller *c = arg;

    (void)fd;
    (void)what;
    ft_say(&c->say, "the time is up (--timeout %g); the job is ended", (double)c->o->timeout_ms / 1e3);
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_TIMEOUT});
}

/* ---- who asks ---- */

static const struct ft_wire_state *state_of(const void *arg, uint32_t node)
{
    const struct ft_controller *c = arg;

    return &c->nodes[node].state;
}

static const json_t *calls_of(const void *arg, uint32_t rank)
{
    return ft_controller_ask_rank(arg, rank);
}

static const struct ft_report *report_now(void *arg, uint64_t now_ns)
{
    struct ft_controller *c = arg;

    return ft_controller_report_now(c->report, ft_controller_durable_totals(c), now_ns);
}

static struct ft_controller_view view_of(struct ft_controller *c)
{
    return (struct ft_controller_view){.options = c->o, .policy = c->policy, .state = state_of, .calls = calls_of, .arg = c,
                                       .seconds = (double)(ft_timer_boot_ns() - c->begin_ns) / 1e9};
}

static json_t *show_info(void *arg)
{
    struct ft_controller_view v = view_of(arg);

    return ft_controller_info(&v);
}

static json_t *show_status(void *arg)
{
    struct ft_controller_view v = view_of(arg);
    uint64_t now = ft_clock_ns();

    return ft_controller_status(&v, ft_report_all(report_now(arg, now), FT_UNFINISHED, now));
}

static void asked_to_stop(void *arg)
{
    stop(arg, SIGTERM);
}

static void on_tap(void *arg, int stream, const char *data, size_t len)
{
    const struct ft_controller *c = arg;

    ft_control_tap(c->control, stream, data, len);
}

static void serve(struct ft_controller *c)
{
    struct ft_control_job job = {.id = c->o->job_id, .info = show_info, .status = show_status, .stop = asked_to_stop, .ask = ft_controller_ask,
                                 .arg = c};
    struct ft_error e;

    c->control = ft_control_new(&job, &e);
    if (!c->control)
        ft_say_notice(&c->say, "%s; ftrun list, status, stop, wait and attach do not find this job", e.text);
    else if (ft_control_serve(c->control, c->base) < 0)
        ft_say_notice(&c->say, "no memory to answer ftrun list, status, stop, wait and attach");
    c->say.tap = on_tap;
    c->say.tap_arg = c;
}

/* ---- from the beginning to the end ---- */

/* What is known to be impossible is said before anything is started. */
static int check_request(const struct ft_options *o, struct ft_error *e)
{
    if (o->log_full == FT_FULL_FORGET && o->map->nnodes > 1) /* another one may need what is forgotten */
        return ft_err_set(e, FT_EINVAL, "--log-full forget does not work on several hosts yet");
    return 0;
}

static int set_up(struct ft_controller *c, struct ft_error *e)
{
    int err;

    if ((err = ft_needs_check(e)) < 0)
        return err;
    c->base = event_base_new();
    if (!c->base || event_base_priority_init(c->base, 2) < 0 || ft_signals_take(&c->signals) < 0)
        return ft_err_set(e, FT_ESYS, "cannot set up the event loop: %s", strerror(errno));
    if ((err = ft_controller_stdio_open(c, e)) < 0 || (err = ft_controller_act_open(c, e)) < 0 || (err = ft_controller_ask_open(c, e)) < 0 ||
        (err = ft_controller_start_open(c, e)) < 0 || (err = ft_controller_nodes_open(c, e)) < 0)
        return err;
    c->signalled = event_new(c->base, c->signals.fd, EV_READ | EV_PERSIST, on_signals, c);
    c->timeout = evtimer_new(c->base, on_timeout, c);
    if (ft_controller_durable_serve(c) < 0)
        return ft_err_set(e, FT_ESYS, "cannot start a thread that writes checkpoints: %s", strerror(errno));
    if (!c->signalled || !c->timeout || event_add(c->signalled, NULL) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (c->o->timeout_ms)
        ft_timer_set(c->timeout, c->o->timeout_ms);
    return 0;
}

static void report(struct ft_controller *c)
{
    struct ft_error e;
    const struct ft_report *now = ft_controller_report_of(c->report);
    char line[512];

    if (!c->code && ft_report_differs(now))
        c->code = FT_CODE_DIFFERED;
    if (ft_report_checks(now, line, sizeof line))
        (ft_report_differs(now) ? ft_say : ft_say_notice)(&c->say, "%s", line);
    if (ft_controller_report_write(c->report, ft_controller_durable_totals(c), c->code, &e) < 0) {
        ft_say(&c->say, "%s", e.text);
        c->code = c->code ? c->code : FT_CODE_JOB;
    }
    if (!c->code && ft_controller_report_summary(c->report, line, sizeof line))
        ft_say_notice(&c->say, "%s", line);
}

static int run(struct ft_controller *c)
{
    for (size_t i = 0; i < c->o->ncontexts; i++)
        ft_program_tell_exports(&c->o->contexts[i], &c->say);
    ft_controller_display(&c->say, c->o);
    serve(c);
    setpriority(PRIO_PROCESS, 0, NICE); /* where that is allowed: nodes that hear no answer in time end themselves */
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_TIME});
    ft_controller_happens_serve(c);
    c->draft = ft_draft_new(c->base, ft_controller_report_of(c->report), report_now, c);
    if (!c->over)
        event_base_dispatch(c->base);
    ft_draft_free(c->draft); /* what is final comes after it */
    c->say.put = ft_sink_put_last;
    ft_controller_stdio_check(c);
    ft_say_detail(&c->say, "done: %u node%s, %llu of them replaced, %llu restart%s of ranks", c->map->nnodes, ft_plural(c->map->nnodes),
                  (unsigned long long)ft_nodes_replaced(c->policy), (unsigned long long)ft_nodes_restarts(c->policy),
                  ft_plural(ft_nodes_restarts(c->policy)));
    report(c);
    ft_controller_happens_end(c);
    ft_control_end(c->control, c->code);
    return c->code;
}

static void tear_down(struct ft_controller *c)
{
    c->say.put = NULL;
    c->say.tap = NULL;
    ft_control_leave(c->control);
    ft_control_free(c->control);
    ft_timer_free(c->timeout);
    ft_timer_free(c->signalled);
    ft_controller_start_close(c);
    ft_controller_nodes_close(c);
    ft_controller_stdio_close(c);
    ft_controller_ask_close(c);
    ft_controller_durable_close(c);
    ft_controller_act_close(c);
    ft_controller_report_free(c->report);
    ft_controller_happens_close(c);
    if (c->base)
        event_base_free(c->base);
}

int ft_controller_run(const struct ft_options *options)
{
    struct ft_controller c = {.o = options, .map = options->map, .listener = -1, .begin_ns = ft_timer_boot_ns(),
                              .say = {.quiet = options->quiet, .verbose = options->verbose, .timestamp = options->timestamp_output}};
    struct ft_error e;
    int code = FT_CODE_USAGE, err;

    if (check_request(options, &e) < 0 || ft_controller_report_new(&c.report, options, &e) < 0 || ft_controller_happens_open(&c, &e) < 0 ||
        (code = ft_controller_durable_open(&c, &e))) {
        ft_say(&c.say, "%s", e.text);
        ft_controller_durable_close(&c);
        return code;
    }
    if ((err = set_up(&c, &e)) < 0) {
        c.say.put = NULL;
        ft_say(&c.say, "%s", e.text);
        code = err == FT_EINVAL ? FT_CODE_USAGE : FT_CODE_JOB; /* --iface, --output-filename */
    } else {
        code = run(&c);
    }
    tear_down(&c);
    return code;
}
