/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/act.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/controller/ask.h"
#include "launcher/controller/comers.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/files.h"
#include "launcher/controller/peers.h"
#include "launcher/controller/report.h"
#include "launcher/controller/say.h"
#include "launcher/controller/start.h"
#include "launcher/controller/tell.h"
#include "launcher/options/map.h"
#include "launcher/start/remote.h"
#include "launcher/stdio/relay.h"
#include "launcher/stdio/sink.h"

enum { LEAVE_MS = 5000 /* for starters of nodes that have left */ };

static size_t kept_bytes(const struct ft_map *map)
{
    return sizeof(struct ft_controller_kept) + map->nnodes * (sizeof(struct ft_controller_kept_node) + sizeof(pid_t)) +
           map->world * sizeof(uint32_t);
}

/* A node that has left ends by itself, and what started it does likewise. */
static void drop_node(struct ft_controller *c, uint32_t node)
{
    if (c->nodes[node].state.phase != FT_NODE_LEFT)
        ft_remote_end(c->remote, node);
    ft_peers_drop(c->peers, node);
    c->nodes[node].said_state = false;
    ft_controller_durable_gone(c);
    ft_controller_ask_gone(c, node);
    if (c->relay && node == c->reader)
        ft_relay_stop(c->relay);
}

static bool is_written(const struct ft_controller *c)
{
    return !ft_sink_pending(c->sinks[0]) && !ft_sink_pending(c->sinks[1]) && ft_files_written(c->files) == ft_files_given(c->files);
}

void ft_controller_leave(struct ft_controller *c)
{
    if (c->finished && is_written(c) && !ft_remote_busy(c->remote) && !ft_comers_busy(c->comers) && !ft_controller_durable_busy(c)) {
        c->over = true;
        event_base_loopbreak(c->base);
    }
}

static void finish(struct ft_controller *c, int code)
{
    c->code = code;
    c->finished = true;
    ft_comers_over(c->comers, code);
    ft_timer_set(c->due, LEAVE_MS);
    ft_controller_leave(c);
}

/* What is told of hosts that are lost is entered into the report, too. */
static void note_loss(const struct ft_controller *c, const struct ft_nodes_effect *fx)
{
    bool replaced = fx->reason == FT_NT_LOST || fx->reason == FT_NT_RENEW;

    if (replaced || fx->reason == FT_NT_GIVEN_UP || fx->reason == FT_NT_NO_RESTARTS || fx->reason == FT_NT_CONNECTED ||
        fx->reason == FT_NT_LOST_TOO)
        ft_controller_report_lost(c->report, fx->node, replaced ? (int64_t)fx->to : -1, fx->reason == FT_NT_RENEW,
                                  fx->reason != FT_NT_RENEW || fx->number != 2 /* it is stranded */);
}

static void do_effect(struct ft_controller *c, const struct ft_nodes_effect *fx)
{
    struct ft_wire_job end = {.phase = FT_JOB_END, .code = FT_CODE_JOB};
    struct ft_telling t = {.options = c->o, .why = c->nodes[fx->node].why};

    switch (fx->kind) {
    case FT_ND_START:
        ft_controller_start_node(c, fx);
        break;
    case FT_ND_DROP:
        drop_node(c, fx->node);
        break;
    case FT_ND_JOB:
        ft_controller_say_job(c, fx->phase, fx->code);
        break;
    case FT_ND_END_ONE:
        ft_peers_send(c->peers, fx->node, ft_wire_put_job(&end));
        break;
    case FT_ND_TABLE:
        ft_controller_say_table(c);
        break;
    case FT_ND_RENEW:
        break; /* positions in the output stay: what is printed again is known */
    case FT_ND_TELL:
        note_loss(c, fx);
        ft_controller_tell(&c->say, &t, fx);
        break;
    case FT_ND_FINISH:
        finish(c, fx->code);
        break;
    }
}

static void do_effects(struct ft_controller *c, struct ft_nodes_effects effects)
{
    uint64_t due, now = ft_timer_boot_ns() / 1000000;

    for (uint32_t i = 0; i < effects.n; i++) {
        do_effect(c, &effects.e[i]);
        ft_nodes_settle(c->policy);
    }
    due = ft_nodes_due(c->policy);
    if (!c->finished && due != UINT64_MAX)
        ft_timer_set(c->due, due > now ? due - now : 1);
}

void ft_controller_step(struct ft_controller *c, struct ft_nodes_event ev)
{
    ev.now_ms = ft_timer_boot_ns() / 1000000;
    do_effects(c, ft_nodes_step(c->policy, &ev)); /* no step is within another one: deeds post what comes of them */
}

static void on_posted(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller *c = arg;
    struct ft_nodes_event *events = c->events;
    size_t n = c->nevents;

    (void)fd;
    (void)what;
    c->events = NULL; /* a step may post more: those come next */
    c->nevents = 0;
    for (size_t i = 0; i < n; i++)
        ft_controller_step(c, events[i]);
    free(events);
    ft_controller_leave(c);
}

void ft_controller_recover(struct ft_controller *c)
{
    struct ft_nodes_effects effects = ft_nodes_recover(c->policy, ft_timer_boot_ns() / 1000000);

    ft_controller_start_adopt(c);
    do_effects(c, effects);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller *c = arg;

    (void)fd;
    (void)what;
    if (!c->finished) {
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_TIME});
        return;
    }
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_remote_end(c->remote, i); /* its agent has left, or is lost: this is a ssh that hangs */
    ft_comers_drop(c->comers);
    ft_controller_leave(c);
}

static struct ft_controller_kept *new_kept(const struct ft_map *map)
{
    struct ft_controller_kept *k = ft_shared_new(kept_bytes(map));

    if (!k)
        return NULL;
    k->incarnations = (uint32_t *)&k->nodes[map->nnodes];
    k->starters = (pid_t *)&k->incarnations[map->world];
    return k;
}

static int make_policy(struct ft_controller *c)
{
    const struct ft_map *map = c->map;
    uint32_t *ranks = calloc(map->nnodes, sizeof *ranks), *slots = calloc(map->hosts.n, sizeof *slots);
    struct ft_nodes_config config = {.nnodes = map->nnodes, .ranks = ranks, .host = map->host, .nhosts = (uint32_t)map->hosts.n,
                                     .slots = slots, .nlater = ft_comers_later(c), .oversubscribe = c->o->oversubscribe,
                                     .max_restarts = c->o->max_restarts,
                                     .lease_ms = c->o->lease_ms, .start_ms = c->o->start_ms, .wait_ms = c->o->wait_ms,
                                     .tries = c->o->start_tries, .start_over = c->o->start_over_always};

    if (ranks && slots) {
        for (uint32_t i = 0; i < map->nnodes; i++)
            ranks[i] = map->first[i + 1] - map->first[i];
        for (size_t h = 0; h < map->hosts.n; h++)
            slots[h] = map->hosts.list[h].slots;
        c->decided_bytes = ft_nodes_bytes(&config);
        c->decided = ft_shared_new(c->decided_bytes);
        c->policy = ft_nodes_new(c->decided, &config);
    }
    free(ranks);
    free(slots);
    return c->policy ? 0 : -1;
}

int ft_controller_act_make(struct ft_controller *c, struct ft_error *e)
{
    c->kept = new_kept(c->map);
    return c->kept && make_policy(c) == 0 ? 0 : ft_err_set(e, FT_ENOMEM, "out of memory");
}

int ft_controller_act_open(struct ft_controller *c, struct ft_error *e)
{
    c->nodes = calloc(c->map->nnodes, sizeof *c->nodes);
    c->due = evtimer_new(c->base, on_due, c);
    c->posted = event_new(c->base, -1, 0, on_posted, c);
    if (!c->nodes || !c->due || !c->posted || event_priority_set(c->posted, 0) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return 0;
}

void ft_controller_act_close(struct ft_controller *c)
{
    ft_timer_free(c->due);
    ft_timer_free(c->posted);
    c->posted = NULL;
    free(c->events);
    c->events = NULL;
    c->nevents = 0;
    for (uint32_t i = 0; c->nodes && i < c->map->nnodes; i++)
        ft_wire_state_free(&c->nodes[i].state);
    free(c->nodes);
}

void ft_controller_act_free(struct ft_controller *c)
{
    ft_nodes_free(c->policy);
    ft_shared_free(c->decided, c->decided_bytes);
    ft_shared_free(c->kept, kept_bytes(c->map));
}
