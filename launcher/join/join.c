/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/join/join.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/needs.h"
#include "launcher/base/reap.h"
#include "launcher/base/say.h"
#include "launcher/base/signals.h"
#include "launcher/base/timer.h"
#include "launcher/join/children.h"
#include "launcher/join/host.h"
#include "launcher/join/lead.h"
#include "launcher/options/kubernetes.h"
#include "launcher/options/rendezvous.h"
#include "launcher/rdzv/rdzv.h"

enum {
    PASS_MS = 50,              /* before a signal is passed on: who sends it to all of us has done so then */
    CLOSE_MS = 3000,           /* for the store to take that the job is over */
    LOST_MS = 1000,            /* for the store to take that this host leaves, if there is one */
    KILL_MS = 5000,            /* besides --grace, for agents to end */
    CODE_AGAIN = 255           /* in a pod: Kubernetes takes exit codes below 128 for the program's own, for which nothing is tried again */
};

struct join {
    struct ft_options *o;
    const struct ft_rendezvous *r;
    struct ft_say say;
    struct ft_signals signals;
    struct event_base *base;
    struct event *signalled, *told, *pass, *end, *hurry;
    struct ft_rdzv *rdzv;
    struct ft_join_host *host;
    struct ft_leading lead;

    uint64_t version, term;    /* of the round; as the leader, 0: it is not */
    struct ft_rdzv_list *list; /* NULL: not joined */
    int64_t place;
    bool began;                /* it has had a place since the round began */
    uint64_t followed;         /* the term of the controller that is followed or run; 0: there was none in this round */
    char where[FT_RDZV_ADDRESS + 1]; /* it can be reached there, ... */
    uint64_t where_term;       /* ... that of this term */
    char line[FT_RDZV_ADDRESS + 16]; /* of the controller's here, as it comes */
    size_t nline;

    bool waited;               /* for a controller that was not reached */
    bool leads, goes, led;     /* the controller has been started here; it is the round's; it has ended */
    pid_t runs;                /* the process of it that runs the job, as far as is known; 0: not yet */
    int led_code;              /* the job's, as it has said it; -1: it has not */
    bool ending, closing, leaving, left;
    int job_code;              /* closing: of the job, which is not always that of this ftrun */
    bool over;                 /* the round: there is nothing to close */
    struct ft_rdzv_state closed;   /* as it is in the store; phase SETUP: it is not, as far as is known */
    bool lost;                 /* the controller's host, and perhaps the store with it */
    int passed;                /* a signal that is to be passed on; 0: none */
    int code;
};

/* ---- the end ---- */

static void leave_if_done(struct join *j)
{
    if (!j->ending || ft_join_host_busy(j->host) || (j->leads && !j->led))
        return;
    ft_leading_close(&j->lead);
    ft_children_kill(j->rdzv);
    if (j->left) {
        event_base_loopbreak(j->base);
    } else if (j->closing && !j->over) {
        ft_rdzv_close(j->rdzv, j->job_code);
    } else if (!j->leaving) {
        j->leaving = true;
        ft_rdzv_leave(j->rdzv);
        ft_timer_set(j->end, j->lost ? LOST_MS : j->r->settings.lease_ms + CLOSE_MS);
    }
}

/* What the first one says stands. */
static void end(struct join *j, int code)
{
    if (j->ending)
        return;
    j->ending = true;
    j->code = code;
    if (!j->goes)
        ft_leading_close(&j->lead); /* it has not begun, and does not any more */
    ft_timer_set(j->hurry, 2 * j->o->grace_ms + KILL_MS);
    leave_if_done(j);
}

/* The store does not answer, or agents do not end. */
static void on_hurry(evutil_socket_t fd, short what, void *arg)
{
    struct join *j = arg;

    (void)fd;
    (void)what;
    ft_join_host_kill(j->host);
    j->over = j->lost = true;
    leave_if_done(j);
    ft_timer_set(j->end, LOST_MS);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct join *j = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(j->base);
}

/* ---- leading ---- */

/* By the job's secret: whoever knows that of another round, or of another leader, knows nothing. */
static void derive(const struct join *j, uint64_t term, unsigned char secret[FT_JOB_SECRET_BYTES])
{
    char what[FT_RDZV_JOB + 80], hex[FT_SEAL_HEX];

    snprintf(what, sizeof what, "job/%s/%llu/%llu", j->r->settings.job, (unsigned long long)j->version, (unsigned long long)term);
    ft_rdzv_derive(j->rdzv, what, hex);
    for (size_t i = 0; i < FT_JOB_SECRET_BYTES; i++)
        sscanf(hex + 2 * i, "%2hhx", &secret[i]);
    explicit_bzero(hex, sizeof hex);
}

static void lead(struct join *j)
{
    struct ft_lead order = {.come_ms = 2 * j->r->settings.lease_ms, .towards = ft_leading_towards(&j->r->settings), .tell = -1};
    struct ft_error e;

    j->followed = j->term;
    j->leads = true;
    derive(j, j->term, order.secret);
    ft_say_detail(&j->say, "--rdzv: this host leads job %s, of %u host%s", j->r->settings.job, j->list->n, ft_plural(j->list->n));
    if (ft_leading_order(&j->lead, &order, j->list, &e) < 0) {
        ft_say(&j->say, "%s", e.text);
        j->leads = false;
        end(j, FT_CODE_JOB);
    }
    explicit_bzero(&order, sizeof order);
}

/* To the process that was started first, or if that one is gone, to the one that runs the job. */
static bool pass_on(const struct join *j, int signal)
{
    pid_t to = j->lead.pid ? j->lead.pid : j->runs;

    return to > 0 && sigqueue(to, signal, (union sigval){.sival_int = 0}) == 0;
}

static void close_with(struct join *j, int code)
{
    j->closing |= !j->ending;
    j->job_code = code;
}

/* The controller is two processes (job/twin.h), of which either may be killed: it is over when both are gone. */
static void led(struct join *j)
{
    event_del(j->told);
    if (!j->leads)
        return;
    j->led = true;
    if (j->led_code < 0)
        ft_say(&j->say, "both processes of ftrun that ran the job are gone; the job is over");
    else
        close_with(j, j->led_code);
    end(j, j->led_code < 0 ? FT_CODE_JOB : j->led_code);
    leave_if_done(j);
}

/* A line of the controller here (lead.h). */
static void take_line(struct join *j, const char *line)
{
    if (!strncmp(line, FT_LEAD_AT, strlen(FT_LEAD_AT)))
        ft_rdzv_publish(j->rdzv, line + strlen(FT_LEAD_AT));
    else if (!strncmp(line, FT_LEAD_RUNS, strlen(FT_LEAD_RUNS)))
        j->runs = atoi(line + strlen(FT_LEAD_RUNS));
    else if (!strncmp(line, FT_LEAD_OVER, strlen(FT_LEAD_OVER)) && j->led_code < 0)
        j->led_code = atoi(line + strlen(FT_LEAD_OVER));
}

static void on_told(evutil_socket_t fd, short what, void *arg)
{
    struct join *j = arg;
    ssize_t n = read(fd, j->line + j->nline, sizeof j->line - 1 - j->nline);
    char *newline;

    (void)what;
    if (n <= 0) {
        led(j);
        return;
    }
    j->nline += (size_t)n;
    j->line[j->nline] = 0;
    while ((newline = strchr(j->line, '\n'))) {
        *newline = 0;
        take_line(j, j->line);
        j->nline -= (size_t)(newline + 1 - j->line);
        memmove(j->line, newline + 1, j->nline + 1);
    }
}

static void lost_job(struct join *j, const char *leader)
{
    char who[FT_RDZV_NAME + 20] = "the leader's ftrun";

    if (leader)
        snprintf(who, sizeof who, "the ftrun on %s", leader);
    ft_say(&j->say, "--rdzv: %s, which runs job %s, cannot be reached any more; what runs here is ended%s", who, j->r->settings.job,
           j->o->ckpt_dir && j->o->resume ? ". If that host is lost, the job started anew goes on from --ckpt-dir"
                                          : ". With --ckpt-dir DIR --resume=auto a job could go on from its last checkpoint");
    j->lost = true;
    end(j, ft_kubernetes_is_here() ? CODE_AGAIN : FT_CODE_JOB);
}

/* Whoever runs a controller, or follows one, or is the one that would, knows it by its term. */
static void look(struct join *j)
{
    unsigned char secret[FT_JOB_SECRET_BYTES];
    struct ft_error e;

    if (!j->list || j->ending || j->leads)
        return;
    if (j->where_term > j->followed) {
        j->followed = j->where_term;
        derive(j, j->where_term, secret);
        if (ft_join_host_follow(j->host, j->where, secret, &e) < 0) {
            ft_say(&j->say, "%s", e.text);
            end(j, FT_CODE_JOB);
        }
        explicit_bzero(secret, sizeof secret);
    } else if (j->term && !j->followed && j->began) {
        lead(j);
    } else if (j->term && !j->followed) {
        ft_rdzv_renew(j->rdzv); /* all of those who have begun are gone, and the job with them */
    }
}

/* ---- what the rendezvous says ---- */

static void keep(struct join *j, struct ft_rdzv_list *list, int64_t place)
{
    if (list)
        ft_rdzv_list_keep(list);
    ft_rdzv_list_drop(j->list);
    j->list = list;
    j->place = place;
}

/* What runs here is of a round that is over. */
static void end_round(struct join *j, const char *why)
{
    j->where_term = 0;
    ft_join_host_leave(j->host);
    if (!j->leads || j->led || j->ending)
        return;
    ft_say(&j->say, "--rdzv: %s; what runs here is ended", why);
    pass_on(j, SIGTERM);
    end(j, FT_CODE_JOB);
}

static void on_joined(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    struct join *j = arg;

    if (j->list && j->version != state->version)
        end_round(j, "the store had lost its memory, and this job has been running on other hosts");
    keep(j, list, place);
    j->version = state->version;
    j->followed = 0;
    j->waited = false;
    j->began = place >= 0;
    ft_say_detail(&j->say, place < 0 ? "--rdzv: job %s has begun with %u host%s; this one is a spare" : "--rdzv: job %s has %u host%s",
                  j->r->settings.job, list->n, ft_plural(list->n));
    look(j);
}

static void on_changed(void *arg, const struct ft_rdzv_state *state, struct ft_rdzv_list *list, int64_t place)
{
    struct join *j = arg;
    bool lost = j->place >= 0 && place < 0;

    keep(j, list, place);
    if (!lost || j->leads || j->ending)
        return;
    ft_say_notice(&j->say, "--rdzv: this host was taken for lost, and its place is another's; it is a spare now");
    ft_join_host_leave(j->host);
    j->version = state->version;
    j->followed = 0;
    look(j);
}

static void on_voided(void *arg, const struct ft_rdzv_state *state)
{
    struct join *j = arg;

    (void)state;
    keep(j, NULL, -1);
    end_round(j, "all hosts of this job were taken for lost, and others begin it anew");
}

static void on_led(void *arg, uint64_t term)
{
    struct join *j = arg;

    j->term = term;
    look(j);
}

static void on_controller(void *arg, uint64_t term, const char *address)
{
    struct join *j = arg;

    if (!j->leads) {
        snprintf(j->where, sizeof j->where, "%s", address);
        j->where_term = term;
        look(j);
    } else if (term == j->followed && !j->goes) {
        j->goes = true;
        ft_leading_go(&j->lead);
    } else if (term != j->followed && !j->goes) {
        ft_say(&j->say, "--rdzv: another host runs job %s by now; this one was too slow to lead it", j->r->settings.job);
        end(j, FT_CODE_JOB);
    }
}

/* The hosts that come now are the job's own, which were lost and return: a pod of a job that has succeeded is not to fail. Long after that
   somebody means another job, for which it would be wrong to say that all is well. */
static void end_closed(struct join *j)
{
    struct timespec wall;
    uint64_t now_ms;

    clock_gettime(CLOCK_REALTIME, &wall);
    now_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    if (now_ms > j->closed.ended + j->r->settings.timeout_ms) {
        ft_say(&j->say, "--rdzv: job %s is over (closed); another one needs a name of its own", j->r->settings.job);
        end(j, FT_CODE_JOB);
    } else {
        ft_say(&j->say, "--rdzv: job %s is over: it has ended with exit code %u, and so does this ftrun; another job needs a name of its own",
               j->r->settings.job, j->closed.code);
        end(j, (int)j->closed.code);
    }
}

static void on_closed(void *arg, const struct ft_rdzv_state *state)
{
    struct join *j = arg;

    j->over = true;
    j->closed = *state;
    if (j->ending)
        leave_if_done(j);
    else if (!j->leads && !ft_join_host_follows(j->host))
        end_closed(j);
}

static void on_failed(void *arg, const char *line)
{
    struct join *j = arg;

    ft_say(&j->say, "%s", line);
    j->over = true;
    if (!j->leads && !ft_join_host_follows(j->host))
        end(j, FT_CODE_JOB);
}

static void on_left(void *arg)
{
    struct join *j = arg;

    j->left = true;
    leave_if_done(j);
}

/* ---- what the controller elsewhere says ---- */

static void on_over(void *arg, int code)
{
    struct join *j = arg;

    j->closing = true; /* the leader may be killed before it does */
    j->job_code = code;
    end(j, code);
    ft_timer_set(j->hurry, CLOSE_MS);
}

/* Never reached, by who has come after all others were gone: the controller is, too, and the job begins anew. Others wait for that, once. */
static void on_lost(void *arg, const char *leader)
{
    struct join *j = arg;

    if (j->closed.phase == FT_RDZV_CLOSED && !j->ending) {
        j->lost = true;
        end_closed(j);
        return;
    }
    if (leader || j->waited || j->ending) {
        lost_job(j, leader);
        return;
    }
    j->waited = true;
    if (j->term)
        ft_rdzv_renew(j->rdzv);
    j->followed = 0;
    look(j); /* if nothing comes of that it is lost once more, and for good */
}

/* ---- signals ---- */

static void on_pass(evutil_socket_t fd, short what, void *arg)
{
    struct join *j = arg;

    (void)fd;
    (void)what;
    if (j->led)
        return;
    if (pass_on(j, j->passed))
        j->passed = 0;
    else
        ft_timer_set(j->pass, PASS_MS); /* the other one has not taken over yet */
}

static void stop(struct join *j, int signal)
{
    if (j->ending) {
        ft_join_host_kill(j->host);
        ft_timer_set(j->end, 0);
        return;
    }
    if (ft_join_host_busy(j->host) && ft_join_host_say_leave(j->host))
        ft_say_notice(&j->say, "told to stop by signal %d (SIG%s); this host leaves job %s", signal, sigabbrev_np(signal),
                      j->r->settings.job);
    else
        ft_join_host_leave(j->host);
    end(j, 128 + signal);
}

static void take_signal(struct join *j, int signal, bool by_terminal)
{
    if (j->goes && !j->led) {
        if (by_terminal)
            return; /* the controller has had it, too */
        j->passed = signal;
        ft_timer_set(j->pass, PASS_MS);
    } else if (ft_signals_end(signal)) {
        stop(j, signal);
    }
}

static void reaped(struct join *j, pid_t pid, int status)
{
    ft_rdzv_reaped(j->rdzv, pid);
    if (pid == j->lead.pid)
        j->lead.pid = 0;
    ft_join_host_reaped(j->host, pid, status);
}

static void reap(struct join *j)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        reaped(j, pid, status);
    leave_if_done(j);
}

static void on_signals(evutil_socket_t fd, short what, void *arg)
{
    struct join *j = arg;
    bool by_terminal;
    int signal;

    (void)fd;
    (void)what;
    while ((signal = ft_signals_next_from(&j->signals, &by_terminal)))
        if (signal == SIGCHLD)
            reap(j);
        else
            take_signal(j, signal, by_terminal);
}

/* ---- from the beginning to the end ---- */

static int make_events(struct join *j, struct ft_error *e)
{
    j->base = event_base_new();
    if (!j->base)
        return ft_err_set(e, FT_ESYS, "cannot set up the event loop: %s", strerror(errno));
    j->signalled = event_new(j->base, j->signals.fd, EV_READ | EV_PERSIST, on_signals, j);
    j->told = event_new(j->base, j->lead.told, EV_READ | EV_PERSIST, on_told, j);
    j->pass = evtimer_new(j->base, on_pass, j);
    j->end = evtimer_new(j->base, on_end, j);
    j->hurry = evtimer_new(j->base, on_hurry, j);
    if (!j->signalled || !j->told || !j->pass || !j->end || !j->hurry || event_add(j->signalled, NULL) < 0 || event_add(j->told, NULL) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return 0;
}

static int open_all(struct join *j, struct ft_error *e)
{
    struct ft_join_host_config host = {.base = j->base, .signals = &j->signals, .say = &j->say, .name = j->r->name, .slots = j->r->slots,
                                       .lease_ms = j->o->lease_ms, .over = on_over, .lost = on_lost, .arg = j};
    struct ft_rdzv_config config = {.base = j->base, .settings = &j->r->settings, .secret_file = j->r->secret_file,
                                    .password = *j->r->password ? j->r->password : NULL, .name = j->r->name, .address = j->r->name,
                                    .slots = j->r->slots, .follows = j->o->join, .say = &j->say,
                                    .calls = {on_joined, on_changed, on_voided, on_led, on_controller, on_closed, on_failed, on_left, j}};
    int err = ft_join_host_new(&j->host, &host, e);

    return err < 0 ? err : ft_rdzv_open(&j->rdzv, &config, e);
}

static int begin(struct join *j, struct ft_error *e)
{
    int err;

    if ((err = ft_needs_check(e)) < 0)
        return err;
    signal(SIGTSTP, SIG_IGN); /* who stands still is lost to the others */
    if ((err = ft_leading_fork(&j->lead, j->o, e)) < 0)
        return err;
    if (ft_signals_take(&j->signals) < 0)
        return ft_err_set(e, FT_ESYS, "cannot take signals: %s", strerror(errno));
    if (ft_reap_adopt() < 0)
        return ft_err_set(e, FT_ESYS, "cannot become the parent of the job: %s", strerror(errno));
    if ((err = make_events(j, e)) < 0)
        return err;
    return open_all(j, e);
}

static void release(struct join *j)
{
    ft_leading_close(&j->lead);
    ft_rdzv_free(j->rdzv);
    ft_join_host_free(j->host);
    ft_rdzv_list_drop(j->list);
    ft_timer_free(j->signalled);
    ft_timer_free(j->told);
    ft_timer_free(j->pass);
    ft_timer_free(j->end);
    ft_timer_free(j->hurry);
    if (j->base)
        event_base_free(j->base);
}

int ft_join_run(struct ft_options *o)
{
    struct join j = {.o = o, .r = o->rendezvous, .place = -1, .led_code = -1, .lead = {.order = -1, .told = -1},
                     .say = {.quiet = o->quiet, .verbose = o->verbose, .timestamp = o->timestamp_output}};
    struct ft_error e;
    int err = begin(&j, &e);

    if (err < 0) {
        ft_say(&j.say, "%s", e.text);
        j.code = err == FT_EINVAL ? FT_CODE_USAGE : FT_CODE_JOB;
    } else {
        event_base_dispatch(j.base);
    }
    release(&j);
    ft_children_kill(NULL);
    return j.code;
}
