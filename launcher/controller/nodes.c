/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/nodes.h"

#include <event2/event.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/address.h"
#include "launcher/base/timer.h"
#include "launcher/controller/act.h"
#include "launcher/controller/ask.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/peers.h"
#include "launcher/controller/report.h"
#include "launcher/controller/stdio.h"
#include "launcher/net/auth.h"
#include "launcher/options/map.h"
#include "launcher/start/remote.h"
#include "launcher/stdio/merge.h"
#include "launcher/stdio/relay.h"

enum { TABLE_KB_S = 100000 /* so fast tables are said, to all together */ };

/* ---- what they are told ---- */

/* Its representative has left for good: no links come from there. */
static bool is_done(const struct ft_wire_state *s)
{
    return s->phase == FT_NODE_DONE || (s->phase == FT_NODE_RUNNING && s->nranks && s->ranks[0].state == FT_NODE_RANK_DOWN);
}

static struct ft_wire_bytes table_of(const struct ft_controller *c)
{
    struct ft_wire_table table = {.nnodes = c->map->nnodes, .nodes = calloc(c->map->nnodes, sizeof *table.nodes)};
    struct ft_wire_bytes bytes = {0};

    for (uint32_t i = 0; table.nodes && i < table.nnodes; i++) {
        const struct ft_wire_hello *hello = ft_peers_hello(c->peers, i);
        struct ft_wire_node *n = &table.nodes[i];

        n->up = hello && ft_nodes_is_up(c->policy, i);
        n->incarnation = ft_nodes_incarnation(c->policy, i);
        n->done = c->nodes[i].said_state && is_done(&c->nodes[i].state);
        snprintf(n->host, sizeof n->host, "%s", c->map->hosts.list[ft_nodes_host(c->policy, i)].name);
        if (!n->up)
            continue;
        n->naddresses = hello->naddresses;
        memcpy(n->addresses, hello->addresses, sizeof n->addresses);
        n->port = hello->port;
    }
    if (table.nodes)
        bytes = ft_wire_put_table(&table);
    free(table.nodes);
    return bytes;
}

/* While all nodes come, each with a table of all to all, they would keep us and the network from everything else: the next one has to wait
   until this one should be through. */
static void say_table(struct ft_controller *c)
{
    struct ft_wire_bytes bytes = table_of(c);
    uint64_t all = (uint64_t)bytes.len * c->map->nnodes;

    ft_peers_send_all(c->peers, bytes);
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        c->nodes[i].told_table = true;
    c->table_ns = ft_timer_boot_ns() + all * 1000 / TABLE_KB_S * 1000;
}

static void on_table(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    say_table(arg);
}

void ft_controller_say_table(struct ft_controller *c)
{
    uint64_t now = ft_timer_boot_ns();

    if (event_pending(c->table, EV_TIMEOUT, NULL))
        return;
    if (now < c->table_ns)
        ft_timer_set(c->table, (c->table_ns - now) / 1000000 + 1);
    else
        say_table(c);
}

void ft_controller_say_job(struct ft_controller *c, enum ft_job_phase phase, int code)
{
    bool ends = phase == FT_JOB_FINISH || (phase == FT_JOB_END && ft_nodes_is_ending(c->policy));

    c->job = (struct ft_wire_job){.phase = phase, .code = code};
    c->job.stay = ends && ft_controller_durable_stays(c);
    ft_peers_send_all(c->peers, ft_wire_put_job(&c->job));
}

/* Those that it has not had. */
static void send_signals(struct ft_controller *c, uint32_t node)
{
    struct ft_controller_node *n = &c->nodes[node];

    if (!n->said_state)
        return;
    while (n->signals < c->nsent) {
        n->signals++;
        ft_peers_send(c->peers, node, ft_wire_put_signal(n->signals, c->sent[n->signals - 1]));
    }
}

void ft_controller_signal_ranks(struct ft_controller *c, int signal)
{
    int *list = realloc(c->sent, (c->nsent + 1) * sizeof *list);

    if (!list)
        return;
    c->sent = list;
    c->sent[c->nsent++] = signal;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        send_signals(c, i);
}

/* ---- what they say ---- */

static int take_state(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_controller_node *n = &c->nodes[node];
    struct ft_wire_state state;
    uint64_t restarts = 0;
    bool first = !n->said_state, was_done = n->said_state && is_done(&n->state);

    if (ft_wire_get_state(f, &state, e) < 0)
        return FT_EDAMAGED;
    ft_wire_state_free(&n->state);
    n->state = state;
    n->said_state = true;
    ft_controller_report_state(c->report, node, &state);
    if (first)
        n->signals = ft_max(state.signals, n->before);
    send_signals(c, node);
    if (c->relay && node == c->reader) {
        if (first)
            ft_relay_from(c->relay, state.input);
        ft_relay_had(c->relay, state.input);
    }
    for (uint32_t r = 0; r < state.nranks; r++)
        restarts += state.ranks[r].restarts;
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_STATE, .node = node, .phase = state.phase, .code = state.code,
                                                  .whole = state.whole, .committed = state.committed, .restarts = restarts});
    if (is_done(&n->state) != was_done)
        ft_controller_say_table(c);
    ft_controller_durable_state(c, node);
    return 0;
}

static int on_frame(void *arg, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_controller *c = arg;

    ft_controller_report_heard(c->report, node);
    switch (f->type) {
    case FT_WIRE_STATE:
        return take_state(c, node, f, e);
    case FT_WIRE_OUT:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return ft_controller_take_output(c, node, f, e);
    case FT_WIRE_BEAT:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        ft_peers_send(c->peers, node, ft_wire_put_beat()); /* its lease goes on from when it said this */
        return 0;
    case FT_WIRE_REPORT:
    case FT_WIRE_CELLS:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return ft_controller_report_take(c->report, node, f, e);
    case FT_WIRE_CALLS:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return ft_controller_ask_take(c, node, f, e);
    case FT_WIRE_HELD:
    case FT_WIRE_GIVE:
    case FT_WIRE_MODEL:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return ft_controller_durable_take(c, node, f, e);
    default:
        return ft_err_set(e, FT_EDAMAGED, "a node does not say frames of type %d", (int)f->type);
    }
}

static bool on_welcome(void *arg, const struct ft_wire_hello *hello)
{
    const struct ft_controller *c = arg;

    return !strcmp(hello->version, PACKAGE_VERSION) && ft_nodes_is_expected(c->policy, hello->node) &&
           hello->incarnation == ft_nodes_incarnation(c->policy, hello->node);
}

static void on_hello(void *arg, uint32_t node)
{
    struct ft_controller *c = arg;

    ft_say_detail(&c->say, "node %u on %s is there (pid %u)", node, ft_peers_hello(c->peers, node)->host, ft_peers_hello(c->peers, node)->pid);
    c->nodes[node].said_state = c->nodes[node].told_table = false;
    ft_merge_reconnected(c->merge, node);
    ft_remote_up(c->remote, node);
    ft_controller_report_up(c->report, node);
    ft_controller_durable_hello(c, node);
    ft_peers_send(c->peers, node, ft_wire_put_job(&c->job)); /* first: the step may have something else for this node alone */
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HELLO, .node = node});
    if (!c->nodes[node].told_table)
        ft_peers_send(c->peers, node, table_of(c));
    c->nodes[node].got = 0; /* what was acknowledged may not have come */
    ft_controller_acknowledge(c, node);
}

static void on_closed(void *arg, uint32_t node, const struct ft_error *e)
{
    struct ft_controller *c = arg;

    ft_say_detail(&c->say, "node %u: %s", node, e->text);
    c->nodes[node].said_state = false;
    ft_controller_durable_gone(c);
    ft_controller_ask_gone(c, node);
    if (c->relay && node == c->reader)
        ft_relay_stop(c->relay);
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_CLOSED, .node = node});
}

static void on_connection(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_controller *c = arg;

    (void)kind;
    (void)e;
    ft_peers_add(c->peers, fd);
}

/* ---- where they reach us ---- */

/* Where the other hosts are, if names say so: we listen towards them only. */
static bool look_up(const struct ft_map *map, struct ft_address *towards)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;

    for (size_t h = 0; h < map->hosts.n; h++) {
        if (map->hosts.list[h].here && ft_hosts_elsewhere(&map->hosts))
            continue;
        if (getaddrinfo(map->hosts.list[h].name, NULL, &hints, &found) != 0)
            return false;
        memcpy(&towards->s, found->ai_addr, found->ai_addrlen);
        towards->len = found->ai_addrlen;
        freeaddrinfo(found);
        return true;
    }
    return false;
}

static int listen_for_nodes(struct ft_controller *c, struct ft_error *e)
{
    struct ft_address list[FT_ADDRESSES], towards;
    bool known = !c->o->iface && look_up(c->map, &towards);
    char text[FT_ADDRESS_TEXT];
    size_t n;

    c->listener = ft_address_listen(c->o->iface, known ? &towards : NULL, list, &n, e);
    if (c->listener < 0)
        return c->listener;
    c->d.controllers = calloc(n + 1, sizeof *c->d.controllers);
    for (size_t i = 0; c->d.controllers && i < n; i++)
        if (!(c->d.controllers[i] = strdup(ft_address_ip(&list[i], text))))
            return ft_err_set(e, FT_ENOMEM, "out of memory");
    c->d.port = ft_address_port(&list[0]);
    c->auth = ft_auth_new(c->base, c->d.secret, &c->say);
    if (!c->d.controllers || !c->auth || ft_auth_listen(c->auth, c->listener, 1u << FT_AUTH_CONTROL, on_connection, c) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    ft_auth_expect(c->auth, c->map->nnodes);
    return 0;
}

int ft_controller_nodes_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_peers_config config = {.nnodes = c->map->nnodes, .welcome = on_welcome, .hello = on_hello, .frame = on_frame,
                                     .closed = on_closed, .arg = c};

    c->peers = ft_peers_new(c->base, &config);
    c->table = evtimer_new(c->base, on_table, c);
    if (!c->peers || !c->table)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return listen_for_nodes(c, e);
}

void ft_controller_nodes_close(struct ft_controller *c)
{
    ft_peers_free(c->peers);
    ft_timer_free(c->table);
    ft_auth_free(c->auth);
    if (c->listener >= 0)
        close(c->listener);
    for (char **a = c->d.controllers; a && *a; a++)
        free(*a);
    free(c->d.controllers);
    free(c->sent);
}
