/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/node.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/agent/sweep.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/net/auth.h"
#include "launcher/node/callers.h"
#include "launcher/node/doubts.h"
#include "launcher/node/durable.h"
#include "launcher/node/fetch.h"
#include "launcher/node/hear.h"
#include "launcher/node/input.h"
#include "launcher/node/job.h"
#include "launcher/node/kept.h"
#include "launcher/node/lease.h"
#include "launcher/node/links.h"
#include "launcher/node/partner.h"
#include "launcher/node/report.h"
#include "launcher/node/say.h"
#include "launcher/node/store.h"
#include "launcher/node/uplink.h"
#include "launcher/node/whereabouts.h"
#include "launcher/stdio/memory.h"

enum {
    STATE_PULSES = 12,          /* the state is said so often whether it has changed or not */
    BYE_MS = 1000,              /* for the controller to hear the last word */
    NICE = -10
};

/* ---- what is said from time to time ---- */

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    if (n->dirty) {
        ft_node_say_state(n);
        ft_node_report_changed(n->report, n->uplink);
    }
}

static void on_pulse(evutil_socket_t fd, short what, void *arg)
{
    struct ft_node *n = arg;

    (void)fd;
    (void)what;
    ft_node_lease_check(n);
    n->pulses++;
    if (n->pulses % STATE_PULSES == 0)
        ft_node_say_state(n);
    ft_node_say_connected(n);
    ft_node_store_look(n); /* a rank may be killed before it rings */
    ft_node_report_say(n->report, n->uplink, n->pulses % STATE_PULSES == 0);
    if (n->pulses % 2 == 0)
        ft_node_lease_beat(n);
}

/* ---- the end ---- */

static void let_go(struct ft_node *n)
{
    n->let_go = true;
    ft_sweep_step(n->agent);
}

static void on_bye(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    let_go(arg);
}

static void say_bye(struct ft_node *n)
{
    ft_node_report_say(n->report, n->uplink, true);
    n->shared->left = true;
    ft_node_say_state(n);
    if (ft_uplink_is_up(n->uplink))
        ft_timer_set(n->bye, BYE_MS);
}

static bool may_leave(struct ft_node *n, bool waiting)
{
    if (n->shared->fenced || n->let_go)
        return true;
    ft_node_durable_look(n);
    if (n->shared->stay)
        return false;
    if (!waiting && n->shared->phase != FT_JOB_RUN && !n->shared->left)
        say_bye(n);
    return false;
}

static void on_up(void *arg)
{
    struct ft_node *n = arg;

    if (n->shared->fenced)
        return; /* who says nothing is replaced */
    n->sent = n->answered = 0;
    ft_node_input_again(n);
    ft_node_durable_again(n);
    n->hello.pid = (uint32_t)getpid();
    ft_uplink_say(n->uplink, ft_wire_put_hello(&n->hello));
    ft_node_say_state(n);
    ft_node_report_again(n->report);
    ft_node_report_say(n->report, n->uplink, true);
    ft_node_lease_beat(n);
    ft_node_store_again(n);
    if (n->shared->left)
        say_bye(n);
}

static void on_down(void *arg)
{
    struct ft_node *n = arg;

    ft_node_durable_again(n);
    if (n->shared->left)
        let_go(n);
}

/* ---- made and freed ---- */

static int make(struct ft_node **out, struct ft_agent *agent, struct ft_error *e)
{
    struct ft_node *n = calloc(1, sizeof *n);

    if (!n || !(n->shared = ft_shared_new(sizeof *n->shared))) {
        free(n);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    n->agent = agent;
    n->job = &agent->job;
    n->d = n->job->options->node;
    *out = n;
    return ft_node_input_open(n, e);
}

static int find_controllers(struct ft_node *n, struct ft_error *e)
{
    for (char **c = n->d->controllers; *c && n->ncontrollers < FT_NODE_CONTROLLERS; c++)
        if (!ft_address_parse(&n->controllers[n->ncontrollers++], *c, n->d->port))
            return ft_err_set(e, FT_EINVAL, "\"%s\" is not the address of an ftrun", *c);
    return n->ncontrollers ? 0 : ft_err_set(e, FT_EINVAL, "no address of the ftrun that started it was given");
}

static void introduce(struct ft_node *n, const struct ft_address *list, size_t count)
{
    struct ft_wire_hello *h = &n->hello;

    *h = (struct ft_wire_hello){.node = n->d->node, .incarnation = n->d->incarnation, .version = PACKAGE_VERSION, .pid = (uint32_t)getpid()};
    strncpy(h->host, ft_say_host(), sizeof h->host - 1);
    for (size_t i = 0; i < count && i < FT_WIRE_ADDRESSES; i++)
        ft_address_ip(&list[i], h->addresses[h->naddresses++].text);
    h->port = count ? ft_address_port(&list[0]) : 0;
}

/* Our representative needs no links any more, and never will. */
static bool has_left(void *arg)
{
    return ft_node_is_through(arg);
}

static int open_links(struct ft_node *n, int listener, struct ft_error *e)
{
    struct ft_links_config config = {.secret = n->d->secret, .node = n->d->node, .nnodes = n->d->nnodes, .incarnation = n->d->incarnation,
                                     .listener = listener, .region = &n->job->region, .spill_fd = ft_keeper_spill_fd(n->job->keeper),
                                     .kept = n->kept, .look_up = ft_whereabouts_of, .left = has_left, .arg = n};

    return ft_links_new(&n->links, &config, e);
}

static int open_node(struct ft_node *n, struct ft_error *e)
{
    struct ft_address list[FT_ADDRESSES];
    int listener, err;
    size_t count = 0;

    if ((err = find_controllers(n, e)) < 0)
        return err;
    if (n->d->nnodes > 1) {
        listener = ft_address_listen(n->job->options->iface, &n->controllers[0], list, &count, e);
        if (listener < 0)
            return listener;
        if (n->job->options->survive_host && ((err = ft_partner_new(&n->partner, n, e)) < 0 || (err = ft_kept_new(&n->kept, n, e)) < 0))
            return err;
        if ((err = open_links(n, listener, e)) < 0)
            return err;
        if (n->job->options->bootstrap_cache && !(n->doubts = ft_doubts_new(n)))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    if (!(n->callers = ft_callers_new(n, e)))
        ft_say_notice(&n->job->say, "%s; ftrun list, status, stop, wait and attach do not find this job", e->text);
    introduce(n, list, count);
    ft_node_lease_heard(n, ft_timer_boot_ns()); /* from now on: memory may have taken its time (--log-prepare) */
    return 0;
}

static void forget(struct ft_node *n)
{
    if (n->shared->stage != FT_STAGE_READY)
        n->shared->stage = FT_STAGE_TABLE;
    ft_links_forget(n->links);
    ft_partner_forget(n->partner);
    ft_kept_forget(n->kept);
    ft_doubts_forget(n->doubts);
    ft_callers_forget(n->callers);
    n->auth = NULL;
    n->fetch = NULL;
    n->fetched = 0;
    n->uplink = NULL;
    n->report = NULL;
    n->durable = NULL;
    n->boxes = NULL;
    n->table = (struct ft_wire_table){0};
    n->pulse = n->soon = n->room = n->bye = NULL;
    n->waiting = NULL;
    n->dirty = n->let_go = n->connected = false;
}

static int make_events(struct ft_node *n)
{
    uint64_t pulse_us = ft_max(ft_node_lease_ns(n) / FT_NODE_PULSES / 1000, 1000);
    struct timeval pulse = {.tv_sec = (time_t)(pulse_us / 1000000), .tv_usec = (suseconds_t)(pulse_us % 1000000)};

    n->pulse = event_new(n->job->base, -1, EV_PERSIST, on_pulse, n);
    n->soon = evtimer_new(n->job->base, on_soon, n);
    n->bye = evtimer_new(n->job->base, on_bye, n);
    if (!n->pulse || !n->soon || !n->bye || ft_node_input_serve(n) < 0)
        return -1;
    event_priority_set(n->pulse, 0); /* one that wakes up late looks at its lease first */
    return event_add(n->pulse, &pulse);
}

static int serve(struct ft_node *n)
{
    struct ft_job *job = n->job;
    struct ft_uplink_config config;

    if (make_events(n) < 0 || ft_node_durable_serve(n) < 0 || ft_node_store_serve(n) < 0 || !(n->auth = ft_auth_new(job->base, n->d->secret, &job->say)))
        return -1;
    config = (struct ft_uplink_config){.base = job->base, .auth = n->auth, .controllers = n->controllers, .ncontrollers = n->ncontrollers,
                                       .spool = &job->stdio->spools[0], .up = on_up, .down = on_down, .take = ft_node_hear, .arg = n};
    n->report = ft_node_report_new(job);
    n->uplink = ft_uplink_new(&config);
    setpriority(PRIO_PROCESS, 0, NICE); /* where that is allowed: its beats come between ranks that have all processors (spawn.c) */
    if (!n->uplink || ft_links_serve(n->links, job->base, &job->say) < 0 || ft_partner_serve(n->partner) < 0 || ft_kept_serve(n->kept) < 0 ||
        ft_doubts_serve(n->doubts) < 0 || ft_callers_serve(n->callers) < 0)
        return -1;
    ft_node_lease_resume(n);
    return 0;
}

static bool is_ready(const struct ft_node *n)
{
    return n->shared->stage == FT_STAGE_READY;
}

static bool is_fenced(void *arg)
{
    const struct ft_node *n = arg;

    return n->shared->fenced;
}

static int socket_of(const struct ft_node *n)
{
    return n->links ? ft_links_socket(n->links) : -1;
}

/* A node that was replaced lacks what our log has no more, or we lack what nobody gives us: the representative has found out. */
static bool is_lacked(const struct ft_node *n)
{
    const struct ft_region *r = &n->job->region;

    for (uint32_t s = 0; s <= r->header->params.spread; s++)
        for (uint32_t k = 0; k < n->d->nnodes; k++)
            if (k != n->d->node && ft_look(&ft_region_link(r, s, k)->lacks))
                return true;
    return false;
}

static void strand(struct ft_node *n)
{
    n->shared->stranded = true;
    ft_node_changed(n);
}

static void rung(struct ft_node *n)
{
    if (n->d->nnodes > 1 && !n->shared->stranded && is_lacked(n))
        strand(n);
    ft_links_look(n->links);
    ft_partner_look(n->partner);
    ft_doubts_look(n->doubts);
    ft_node_durable_look(n);
    ft_node_store_look(n);
    ft_node_say_connected(n);
}

static void flush(void *arg)
{
    struct ft_node *n = arg;

    if (n->uplink)
        ft_uplink_flush(n->uplink);
}

static void leave(struct ft_node *n)
{
    if (n->fetch)
        ft_fetch_stop(n->fetch);
    ft_links_leave(n->links);
    ft_partner_leave(n->partner);
    ft_kept_leave(n->kept);
    ft_doubts_leave(n->doubts);
    ft_callers_leave(n->callers);
    ft_uplink_free(n->uplink);
    ft_node_durable_leave(n);
    ft_node_store_leave(n);
    ft_node_report_free(n->report);
    ft_auth_free(n->auth);
    ft_wire_table_free(&n->table);
    ft_timer_free(n->pulse);
    ft_timer_free(n->soon);
    ft_timer_free(n->bye);
    ft_node_input_leave(n);
    forget(n);
}

static void free_node(struct ft_node *n)
{
    ft_links_free(n->links);
    ft_partner_free(n->partner);
    ft_kept_free(n->kept);
    ft_doubts_free(n->doubts);
    ft_callers_free(n->callers);
    ft_node_input_close(n);
    ft_shared_free(n->shared, sizeof *n->shared);
    free(n);
}

const struct ft_above ft_node_above = {
    .make = make, .open = open_node, .forget = forget, .serve = serve, .leave = leave, .free = free_node,
    .is_ready = is_ready, .is_fenced = is_fenced, .is_late = ft_node_lease_is_late, .may_leave = may_leave, .socket = socket_of,
    .changed = ft_node_changed, .rung = rung, .strand = strand, .flush = flush,
};
