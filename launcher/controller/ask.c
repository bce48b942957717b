/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/ask.h"

#include <event2/event.h>
#include <stdlib.h>

#include "launcher/base/timer.h"
#include "launcher/control/server.h"
#include "launcher/controller/peers.h"
#include "launcher/options/map.h"
#include "launcher/wire/calls.h"

enum { WAIT_MS = 500 /* who has said nothing by then is told of as far as its STATE goes */ };

struct ft_asking {
    struct event *timer;
    uint32_t waiting;          /* nodes that have not answered */
    bool *waits;               /* by node */
    json_t *ranks[];           /* by rank of the job */
};

static void answered(struct ft_controller *c, uint32_t node)
{
    struct ft_asking *a = c->ask;

    if (!a->waits[node])
        return;
    a->waits[node] = false;
    if (--a->waiting)
        return;
    event_del(a->timer);
    ft_control_answer(c->control);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct ft_controller *c = arg;

    (void)fd;
    (void)what;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        answered(c, i);
}

static void forget(struct ft_controller *c, uint32_t node)
{
    for (uint32_t place = c->map->first[node]; place < c->map->first[node + 1]; place++) {
        json_t **rank = &c->ask->ranks[c->map->rank_at[place]];

        json_decref(*rank);
        *rank = NULL;
    }
}

bool ft_controller_ask(void *arg)
{
    struct ft_controller *c = arg;
    struct ft_asking *a = c->ask;

    if (a->waiting)
        return true; /* somebody else has asked just now */
    for (uint32_t i = 0; i < c->map->nnodes; i++) {
        forget(c, i);
        if (!ft_peers_connected(c->peers, i))
            continue;
        ft_peers_send(c->peers, i, ft_wire_new(FT_WIRE_ASK, 0));
        a->waits[i] = true;
        a->waiting++;
    }
    if (a->waiting)
        ft_timer_set(a->timer, WAIT_MS);
    return a->waiting;
}

int ft_controller_ask_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    const uint32_t *first = &c->map->first[node];
    struct ft_wire_calls m;
    int err = ft_wire_get_calls(f, &m, e);
    size_t n = json_array_size(m.ranks);

    if (err < 0)
        return err;
    if (m.first + n > first[1] - first[0]) {
        json_decref(m.ranks);
        return ft_err_set(e, FT_EDAMAGED, "CALLS of another node");
    }
    for (size_t i = 0; i < n; i++) {
        json_t **rank = &c->ask->ranks[c->map->rank_at[first[0] + m.first + i]];

        json_decref(*rank);
        *rank = json_incref(json_array_get(m.ranks, i));
    }
    json_decref(m.ranks);
    if (!m.more)
        answered(c, node);
    return 0;
}

void ft_controller_ask_gone(struct ft_controller *c, uint32_t node)
{
    forget(c, node);
    answered(c, node);
}

const json_t *ft_controller_ask_rank(const struct ft_controller *c, uint32_t rank)
{
    return c->ask->ranks[rank];
}

int ft_controller_ask_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_asking *a = calloc(1, sizeof *a + c->map->world * sizeof(json_t *));

    c->ask = a;
    if (!a || !(a->waits = calloc(c->map->nnodes, sizeof *a->waits)) || !(a->timer = evtimer_new(c->base, on_time, c)))
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return 0;
}

void ft_controller_ask_close(struct ft_controller *c)
{
    struct ft_asking *a = c->ask;

    if (!a)
        return;
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        forget(c, i);
    ft_timer_free(a->timer);
    free(a->waits);
    free(a);
    c->ask = NULL;
}
