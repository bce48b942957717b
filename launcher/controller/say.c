/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/say.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/timer.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/peers.h"
#include "launcher/options/map.h"

enum { TABLE_KB_S = 100000 /* so fast tables are said, to all together */ };

bool ft_controller_node_is_done(const struct ft_wire_state *s)
{
    return s->through && (s->phase == FT_NODE_DONE || s->phase == FT_NODE_RUNNING);
}

struct ft_wire_bytes ft_controller_table(const struct ft_controller *c)
{
    struct ft_wire_table table = {.nnodes = c->map->nnodes, .nodes = calloc(c->map->nnodes, sizeof *table.nodes)};
    struct ft_wire_bytes bytes = {0};

    for (uint32_t i = 0; table.nodes && i < table.nnodes; i++) {
        const struct ft_wire_hello *hello = ft_peers_hello(c->peers, i);
        struct ft_wire_node *n = &table.nodes[i];

        n->up = hello && ft_nodes_is_up(c->policy, i);
        n->incarnation = ft_nodes_incarnation(c->policy, i);
        n->done = c->nodes[i].said_state && ft_controller_node_is_done(&c->nodes[i].state);
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
    struct ft_wire_bytes bytes = ft_controller_table(c);
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

void ft_controller_say_signals(struct ft_controller *c, uint32_t node)
{
    struct ft_controller_node *n = &c->nodes[node];

    if (!n->said_state)
        return;
    if (n->signals + FT_CONTROLLER_SIGNALS < c->kept->nsent)
        n->signals = c->kept->nsent - FT_CONTROLLER_SIGNALS;
    while (n->signals < c->kept->nsent) {
        n->signals++;
        ft_peers_send(c->peers, node, ft_wire_put_signal(n->signals, c->kept->sent[n->signals % FT_CONTROLLER_SIGNALS]));
    }
}

void ft_controller_signal_ranks(struct ft_controller *c, int signal)
{
    struct ft_controller_kept *k = c->kept;

    k->sent[(k->nsent + 1) % FT_CONTROLLER_SIGNALS] = signal;
    k->nsent++;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_controller_say_signals(c, i);
}

int ft_controller_say_open(struct ft_controller *c)
{
    c->table = evtimer_new(c->base, on_table, c);
    return c->table ? 0 : -1;
}

void ft_controller_say_close(struct ft_controller *c)
{
    ft_timer_free(c->table);
}
