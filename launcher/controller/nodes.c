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
#include "launcher/control/server.h"
#include "launcher/controller/act.h"
#include "launcher/controller/ask.h"
#include "launcher/controller/comers.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/lead.h"
#include "launcher/controller/peers.h"
#include "launcher/controller/report.h"
#include "launcher/controller/say.h"
#include "launcher/controller/stdio.h"
#include "launcher/controller/store.h"
#include "launcher/net/auth.h"
#include "launcher/options/hosts.h"
#include "launcher/options/map.h"
#include "launcher/policy/rank_policy.h"
#include "launcher/start/remote.h"
#include "launcher/stdio/merge.h"
#include "launcher/stdio/relay.h"

/* One rank has left with 0 and without MPI_Init, in which another one waits for it: one node cannot know both. */
static void look_for_absent(struct ft_controller *c)
{
    const struct ft_map *map = c->map;
    uint32_t found = map->nnodes, local;
    bool called = false;

    for (uint32_t i = 0; i < map->nnodes; i++) {
        const struct ft_wire_state *s = &c->nodes[i].state;

        called |= c->nodes[i].said_state && s->called;
        if (c->nodes[i].said_state && s->absent < ft_min(s->nranks, map->first[i + 1] - map->first[i]))
            found = i;
    }
    if (!called || found == map->nnodes || ft_nodes_is_ending(c->policy))
        return;
    local = c->nodes[found].state.absent;
    ft_say(&c->say, "rank %u (pid %u, host %s) " FT_PHASE_NO_INIT, map->rank_at[map->first[found] + local], c->nodes[found].state.ranks[local].pid,
           map->hosts.list[ft_nodes_host(c->policy, found)].name);
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
}

static int take_state(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_controller_node *n = &c->nodes[node];
    struct ft_wire_state state;
    uint64_t restarts = 0;
    bool first = !n->said_state, ending = ft_nodes_is_ending(c->policy), was_done = n->said_state && ft_controller_node_is_done(&n->state);

    if (ft_wire_get_state(f, &state, e) < 0)
        return FT_EDAMAGED;
    ft_wire_state_free(&n->state);
    n->state = state;
    n->said_state = true;
    ft_controller_report_state(c->report, node, &state);
    for (uint32_t r = 0; r < state.nranks && r < c->map->first[node + 1] - c->map->first[node]; r++)
        c->kept->incarnations[c->map->first[node] + r] = state.ranks[r].incarnation + 1;
    if (first)
        n->signals = ft_max(state.signals, c->kept->nodes[node].before);
    ft_controller_say_signals(c, node);
    if (c->relay && node == c->reader) {
        if (first)
            ft_relay_from(c->relay, state.input);
        ft_relay_had(c->relay, state.input);
    }
    for (uint32_t r = 0; r < state.nranks; r++)
        restarts += state.ranks[r].restarts;
    ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_STATE, .node = node, .phase = state.phase, .code = state.code,
                                                  .whole = state.whole, .committed = state.committed, .restarts = restarts,
                                                  .connected = state.connected});
    if (state.phase == FT_NODE_ENDED && !ending && ft_nodes_is_ending(c->policy)) {
        c->kept->ender = node + 1;
        ft_controller_tell_reason(c, node);
    }
    if (ft_controller_node_is_done(&n->state) != was_done)
        ft_controller_say_table(c);
    ft_controller_durable_state(c, node);
    look_for_absent(c);
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
    case FT_WIRE_STORE_ASK:
        ft_controller_step(c, (struct ft_nodes_event){.kind = FT_NV_HEARD, .node = node});
        return ft_controller_store_take(c, node, f, e);
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
    if (!c->nodes[node].told_table) { /* it is up already, to a successor of the controller's process; those that came before it are to know */
        ft_peers_send(c->peers, node, ft_controller_table(c));
        ft_controller_say_table(c);
    }
    c->nodes[node].got = 0; /* what was acknowledged may not have come */
    ft_controller_acknowledge(c, node);
}

static void on_closed(void *arg, uint32_t node, const struct ft_error *e)
{
    struct ft_controller *c = arg;

    ft_say_step(&c->say, "node %u: %s", node, e->text);
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

    (void)e;
    if (kind == FT_AUTH_ASK) {
        ft_address_tune(fd);
        ft_control_take(c->control, fd);
    } else if (kind == FT_AUTH_COME) {
        ft_comers_add(c->comers, fd);
    } else {
        ft_peers_add(c->peers, fd);
    }
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
        const char *name = map->hosts.list[h].name, *user = strchr(name, '@');

        if (getaddrinfo(user ? user + 1 : name, NULL, &hints, &found) != 0)
            return false;
        memcpy(&towards->s, found->ai_addr, found->ai_addrlen);
        towards->len = found->ai_addrlen;
        freeaddrinfo(found);
        return true;
    }
    return false;
}

static bool find_others(const struct ft_controller *c, struct ft_address *towards)
{
    if (!c->lead)
        return look_up(c->map, towards);
    *towards = c->lead->towards;
    return towards->len;
}

/* Those who come by themselves are told by others. */
static int tell_where(const struct ft_controller *c, const struct ft_address *list, size_t n, struct ft_error *e)
{
    char line[sizeof FT_LEAD_AT + FT_ADDRESSES * (FT_ADDRESS_TEXT + 1) + 1] = FT_LEAD_AT, text[FT_ADDRESS_TEXT];

    for (size_t i = 0; i < n; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", ft_address_print(&list[i], text), i + 1 < n ? "," : "\n");
    if (write(c->lead->tell, line, strlen(line)) == (ssize_t)strlen(line))
        return 0;
    return ft_err_set(e, FT_ESYS, "cannot say where the other hosts reach this one");
}

int ft_controller_nodes_make(struct ft_controller *c, struct ft_error *e)
{
    struct ft_address list[FT_ADDRESSES], towards;
    bool known = !c->o->iface && find_others(c, &towards);
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
    if (!c->d.controllers)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return c->lead ? tell_where(c, list, n, e) : 0;
}

int ft_controller_nodes_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_peers_config config = {.nnodes = c->map->nnodes, .welcome = on_welcome, .hello = on_hello, .frame = on_frame,
                                     .closed = on_closed, .arg = c};
    unsigned kinds = 1u << FT_AUTH_CONTROL | 1u << FT_AUTH_ASK | (c->comers ? 1u << FT_AUTH_COME : 0);

    c->peers = ft_peers_new(c->base, &config);
    c->auth = ft_auth_new(c->base, c->d.secret, &c->say);
    if (!c->peers || ft_controller_say_open(c) < 0 || !c->auth ||
        ft_auth_listen(c->auth, c->listener, kinds, on_connection, c) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    ft_auth_expect(c->auth, c->map->nnodes + (c->comers ? (uint32_t)c->map->hosts.n : 0));
    return 0;
}

void ft_controller_nodes_close(struct ft_controller *c)
{
    ft_peers_free(c->peers);
    ft_auth_free(c->auth);
    ft_controller_say_close(c);
}

void ft_controller_nodes_free(struct ft_controller *c)
{
    if (c->listener >= 0)
        close(c->listener);
    for (char **a = c->d.controllers; a && *a; a++)
        free(*a);
    free(c->d.controllers);
}
