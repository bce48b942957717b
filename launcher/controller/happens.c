/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/happens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/signals.h"
#include "launcher/controller/durable.h"
#include "launcher/controller/report.h"
#include "launcher/events/events.h"
#include "launcher/options/map.h"
#include "launcher/report/report.h"

struct ft_happens {
    struct ft_events *events;
    struct ft_report report; /* as it was at the last look */
    struct place {
        uint32_t node, local;
    } of[];                  /* by rank of the job */
};

/* It is known to have ended when its node says so; and of its end, when that has come with a report. */
static void rank_of(const void *arg, uint32_t rank, struct ft_events_rank *is)
{
    const struct ft_controller *c = arg;
    const struct place *at = &c->happens->of[rank];
    const struct ft_controller_node *n = &c->nodes[at->node];
    bool down = n->said_state && at->local < n->state.nranks && n->state.ranks[at->local].state == FT_NODE_RANK_DOWN;

    *is = (struct ft_events_rank){.pid = c->happens->report.ranks[rank].pid, .ended = down || c->finished};
}

static void node_of(const void *arg, uint32_t node, struct ft_events_node *is)
{
    const struct ft_controller *c = arg;

    *is = (struct ft_events_node){.host = c->map->hosts.list[ft_nodes_host(c->policy, node)].name,
                                  .incarnation = ft_nodes_incarnation(c->policy, node), .started = true,
                                  .up = ft_nodes_is_up(c->policy, node)};
}

/* The one that the job ends by. */
static int stopped_by(const struct ft_controller *c)
{
    uint64_t first = c->kept->nsent - ft_min(c->kept->nsent, FT_CONTROLLER_SIGNALS) + 1;

    for (uint64_t n = first; n <= c->kept->nsent && ft_nodes_is_ending(c->policy); n++) {
        int signal = c->kept->sent[n % FT_CONTROLLER_SIGNALS];

        if (ft_signals_end(signal) && c->job.code == 128 + signal)
            return signal;
    }
    return 0;
}

static struct ft_events_view view_of(struct ft_controller *c)
{
    c->happens->report = *ft_controller_report_of(c->report);
    c->happens->report.durable = ft_controller_durable_totals(c);
    return (struct ft_events_view){.report = &c->happens->report, .rank = rank_of, .nnodes = c->map->nnodes, .node = node_of, .arg = c,
                                   .all = ft_nodes_epoch(c->policy), .signal = stopped_by(c)};
}

static void look(void *arg)
{
    struct ft_controller *c = arg;
    struct ft_events_view v = view_of(c);

    ft_events_look(c->happens->events, &v);
}

int ft_controller_happens_make(struct ft_controller *c, struct ft_error *e)
{
    const struct ft_map *map = c->map;
    struct ft_happens *h = c->happens = calloc(1, sizeof *h + map->world * sizeof h->of[0]);

    if (!h)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t node = 0; node < map->nnodes; node++)
        for (uint32_t place = map->first[node]; place < map->first[node + 1]; place++)
            h->of[map->rank_at[place]] = (struct place){node, place - map->first[node]};
    return ft_events_new(&h->events, c->o, &c->say, map->world, map->nnodes, e);
}

void ft_controller_happens_serve(struct ft_controller *c)
{
    if (ft_events_run(c->happens->events, c->base, look, c) < 0)
        ft_say(&c->say, "--events: cannot start a thread that writes them: %s", strerror(errno));
}

void ft_controller_happens_forget(struct ft_controller *c)
{
    ft_events_forget(c->happens->events);
}

void ft_controller_happens_end(struct ft_controller *c)
{
    struct ft_events_view v = view_of(c);

    ft_events_end(c->happens->events, &v, c->code);
}

void ft_controller_happens_free(struct ft_controller *c)
{
    if (c->happens)
        ft_events_free(c->happens->events);
    free(c->happens);
}
