/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/controller.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/base/needs.h"
#include "launcher/base/reap.h"
#include "launcher/base/timer.h"
#include "launcher/control/server.h"
#include "launcher/controller/act.h"
#include "launcher/controller/ask.h"
#include "launcher/controller/comers.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/happens.h"
#include "launcher/controller/job.h"
#include "launcher/controller/lead.h"
#include "launcher/controller/nodes.h"
#include "launcher/controller/report.h"
#include "launcher/controller/say.h"
#include "launcher/controller/start.h"
#include "launcher/controller/status.h"
#include "launcher/controller/stdio.h"
#include "launcher/controller/store.h"
#include "launcher/controller/tell.h"
#include "launcher/job/pair.h"
#include "launcher/job/twin.h"
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

static void on_died(void *arg)
{
    struct ft_controller *c = arg;

    ft_remote_reap(c->remote);
    ft_controller_leave(c);
}

static void on_taken(void *arg, int signal, bool passed_on)
{
    struct ft_controller *c = arg;

    if (!ft_signals_end(signal))
        ft_controller_signal_ranks(c, signal);
    else if (ft_signals_count(&c->signals, passed_on))
        stop(c, signal);
    ft_controller_leave(c);
}

static void end_job(void *arg)
{
    ft_controller_post(arg, &(struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
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
                                       .launcher = c->launcher, .standby = ft_twin_pid(c->twin),
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

static void make_control(struct ft_controller *c)
{
    struct ft_control_job job = {.id = c->o->job_id, .info = show_info, .status = show_status, .stop = asked_to_stop, .ask = ft_controller_ask,
                                 .arg = c};
    struct ft_error e;

    c->control = ft_control_new(&job, &e);
    if (!c->control)
        ft_say_notice(&c->say, "%s; ftrun list, status, stop, wait and attach do not find this job", e.text);
}

static void serve(struct ft_controller *c)
{
    if (ft_control_serve(c->control, c->base) < 0)
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

/* All that outlives a process of ours, in the order in which each needs the one before. */
static int prepare(struct ft_controller *c, struct ft_error *e)
{
    int err;

    if ((err = ft_needs_check(e)) < 0)
        return err;
    if (ft_signals_take(&c->signals) < 0)
        return ft_err_set(e, FT_ESYS, "cannot take signals: %s", strerror(errno));
    if ((err = ft_controller_stdio_make(c, e)) < 0 || (err = ft_controller_act_make(c, e)) < 0 || (err = ft_controller_start_make(c, e)) < 0 ||
        (err = ft_controller_nodes_make(c, e)) < 0 || (err = ft_controller_store_make(c, e)) < 0)
        return err;
    make_control(c);
    return ft_twin_new(&c->twin, 0, e);
}

static void stand_by(void *arg);

static int watch(struct ft_controller *c, struct ft_error *e)
{
    struct ft_pair_config pair = {.base = c->base, .twin = c->twin, .signals = &c->signals, .say = &c->say,
                                  .die_with_launcher = c->o->die_with_launcher, .died = on_died, .take = on_taken, .stand_by = stand_by,
                                  .end = end_job, .arg = c};
    uint64_t gone = (ft_timer_boot_ns() - c->begin_ns) / 1000000;

    c->pair = ft_pair_new(&pair);
    c->timeout = evtimer_new(c->base, on_timeout, c);
    if (!c->pair || !c->timeout)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (c->o->timeout_ms)
        ft_timer_set(c->timeout, c->o->timeout_ms > gone ? c->o->timeout_ms - gone : 1);
    return 0;
}

static const struct ft_comers_calls comers_calls = {.ended = ft_controller_start_ended, .line = ft_controller_start_line};

/* What this process needs to run the job, the first one or a successor. */
static int set_up(struct ft_controller *c, struct ft_error *e)
{
    int err;

    if (ft_reap_adopt() < 0)
        return ft_err_set(e, FT_ESYS, "cannot become the parent of the job: %s", strerror(errno));
    c->base = event_base_new();
    if (!c->base || event_base_priority_init(c->base, 2) < 0)
        return ft_err_set(e, FT_ESYS, "cannot set up the event loop: %s", strerror(errno));
    if ((err = ft_comers_open(c, &comers_calls, e)) < 0 || (err = ft_controller_stdio_open(c, e)) < 0 ||
        (err = ft_controller_act_open(c, e)) < 0 || (err = ft_controller_ask_open(c, e)) < 0 ||
        (err = ft_controller_start_open(c, e)) < 0 || (err = ft_controller_nodes_open(c, e)) < 0 || (err = ft_controller_store_open(c, e)) < 0 ||
        (err = watch(c, e)) < 0)
        return err;
    if (ft_controller_durable_open(c) < 0)
        return ft_err_set(e, FT_ESYS, "cannot start a thread that writes checkpoints: %s", strerror(errno));
    return 0;
}

static void report(struct ft_controller *c)
{
    struct ft_error e;
    const struct ft_report *now = ft_controller_report_of(c->report);
    char line[512];

    if (!c->code && ft_report_differs(now))
        c->code = FT_CODE_DIFFERED;
    if (ft_report_checks(now, c->code != 0, line, sizeof line))
        (ft_report_differs(now) ? ft_say : ft_say_notice)(&c->say, "%s", line);
    if (ft_controller_report_write(c->report, ft_controller_durable_totals(c), c->code, &e) < 0) {
        ft_say(&c->say, "%s", e.text);
        c->code = c->code ? c->code : FT_CODE_JOB;
    }
    if (!c->code && ft_controller_report_summary(c->report, line, sizeof line))
        ft_say_notice(&c->say, "%s", line);
}

static void begin(struct ft_controller *c)
{
    for (size_t i = 0; i < c->o->ncontexts; i++)
        ft_program_tell_exports(&c->o->contexts[i], &c->say);
    ft_controller_display(&c->say, c->o);
    /* To who has asked for what survives hosts, and has not chosen this one. */
    (c->lead || c->o->survive_host ? ft_say_notice : ft_say_detail)(&c->say, "the loss of this host would end the job%s",
                                              c->o->ckpt_dir ? "; --resume would go on from --ckpt-dir"
                                                             : ": with --ckpt-dir it could be resumed");
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_TIME});
}

/* how: the predecessor died (twin.h). */
static void go_on(struct ft_controller *c, int how)
{
    ft_pair_tell(&c->say, how);
    ft_controller_report_recover(c->report);
    ft_controller_recover(c);
    ft_comers_recover(c->comers);
    ft_pair_alone(c->pair);
}

static void tear_down(struct ft_controller *c)
{
    c->say.put = NULL;
    c->say.tap = NULL;
    ft_control_leave(c->control);
    ft_timer_free(c->timeout);
    ft_pair_free(c->pair);
    ft_comers_close(c);
    ft_controller_start_close(c);
    ft_controller_nodes_close(c);
    ft_controller_store_close(c);
    ft_controller_stdio_close(c);
    ft_controller_ask_close(c);
    ft_controller_durable_close(c);
    ft_controller_act_close(c);
    ft_controller_report_close(c->report);
    if (c->base)
        event_base_free(c->base);
}

/* Not before it is known to be the one of its round: another leader may have come, and begun the job. Who has told us where to be may be gone; whoever
   succeeds another process finds the byte still there. */
static bool may_begin(const struct ft_controller *c)
{
    struct pollfd p = {.fd = c->lead ? c->lead->go : -1, .events = POLLIN};

    while (c->lead && poll(&p, 1, -1) < 0 && errno == EINTR)
        ;
    return !c->lead || p.revents & POLLIN;
}

static int run_to_end(struct ft_controller *c, const int *how)
{
    struct ft_error e;
    int err = set_up(c, &e);

    if (err < 0) {
        c->say.put = NULL;
        ft_say(&c->say, "%s", e.text);
        tear_down(c);
        return err == FT_EINVAL ? FT_CODE_USAGE : FT_CODE_JOB; /* --iface, --output-filename */
    }
    serve(c);
    if (c->lead)
        dprintf(c->lead->tell, FT_LEAD_RUNS "%d\n", (int)getpid());
    if (!may_begin(c)) {
        tear_down(c);
        return FT_CODE_JOB;
    }
    setpriority(PRIO_PROCESS, 0, NICE); /* where that is allowed: nodes that hear no answer in time end themselves */
    if (how)
        go_on(c, *how);
    else
        begin(c);
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
    tear_down(c);
    return c->code;
}

/* The job, or what is left of it. how NULL: from the beginning. Returns ftrun's exit code. */
static int run(struct ft_controller *c, const int *how)
{
    int code = run_to_end(c, how);

    if (c->lead)
        dprintf(c->lead->tell, FT_LEAD_OVER "%d\n", code);
    return code;
}

/* ---- two processes ---- */

/* What a copy of another process of ours brings along and must not use: all that was not there before the first fork. */
static void forget(struct ft_controller *c)
{
    struct ft_signals signals = c->signals;

    *c = *c->made;
    c->signals = signals;
    ft_signals_forget(&c->signals);
    ft_control_forget(c->control);
    ft_controller_happens_forget(c);
}

static int take_over(struct ft_controller *c)
{
    int code, how;

    if (ft_twin_stand_by(c->twin, &c->signals, &code, &how))
        return code;
    forget(c);
    code = run(c, &how);
    ft_twin_finish(c->twin, code);
    return code;
}

static void stand_by(void *arg)
{
    forget(arg);
    fflush(NULL);
    _exit(take_over(arg));
}

/* The process that the user started stands by; the child runs the job. */
static int run_in_two(struct ft_controller *c, int *code, struct ft_error *e)
{
    struct ft_controller made;
    int role;

    c->made = &made;
    made = *c;
    if (ft_reap_adopt() < 0)
        return ft_err_set(e, FT_ESYS, "cannot become the parent of the job: %s", strerror(errno));
    fflush(NULL);
    role = ft_twin_fork(c->twin, FT_TWIN_STANDBY, e);
    if (role < 0)
        return role;
    if (role == FT_TWIN_STANDBY) {
        *code = take_over(c);
        return 0;
    }
    *code = run(c, NULL);
    ft_twin_finish(c->twin, *code);
    _exit(*code);
}

static void release(struct ft_controller *c)
{
    ft_control_free(c->control);
    ft_twin_free(c->twin);
    ft_controller_start_free(c);
    ft_controller_nodes_free(c);
    ft_controller_store_free(c);
    ft_controller_stdio_free(c);
    ft_controller_durable_free(c);
    ft_controller_act_free(c);
    ft_controller_report_free(c->report);
    ft_controller_happens_free(c);
    ft_comers_free(c);
}

int ft_controller_run(const struct ft_options *options, const struct ft_lead *lead)
{
    struct ft_controller c = {.o = options, .map = options->map, .lead = lead, .listener = -1, .launcher = getpid(),
                              .begin_ns = ft_timer_boot_ns(),
                              .say = {.quiet = options->quiet, .verbose = options->verbose, .timestamp = options->timestamp_output}};
    struct ft_error e;
    int err = 0, code = FT_CODE_USAGE;

    if (check_request(options, &e) < 0 || ft_comers_make(&c, &e) < 0 || ft_controller_report_new(&c.report, options, &e) < 0 ||
        ft_controller_happens_make(&c, &e) < 0 ||
        (code = ft_controller_durable_make(&c, &e)) || (err = prepare(&c, &e)) < 0 || (err = run_in_two(&c, &code, &e)) < 0) {
        ft_say(&c.say, "%s", e.text);
        if (err)
            code = err == FT_EINVAL ? FT_CODE_USAGE : FT_CODE_JOB; /* --iface, --output-filename */
    }
    release(&c);
    return code;
}
