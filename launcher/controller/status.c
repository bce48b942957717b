/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/status.h"

#include <time.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/control/names.h"
#include "launcher/control/server.h"
#include "launcher/options/map.h"
#include "launcher/wire/wire.h"

json_t *ft_controller_info(const struct ft_controller_view *v)
{
    const struct ft_options *o = v->options;

    return json_pack("{ss ss? si si so ss ss si sf sf so}", "job", o->job_id, "name", o->job_name, "pid", (int)v->launcher, "agent_pid", (int)getpid(),
                     "standby_pid", v->standby ? json_integer(v->standby) : json_null(), "host", ft_say_host(), "version", PACKAGE_VERSION, "ranks", (int)o->nranks, "wall_seconds", v->seconds,
                     "began_at", (double)time(NULL) - v->seconds, "command", ft_control_command(o));
}

static const char *host_of(const struct ft_controller_view *v, uint32_t node)
{
    return v->options->map->hosts.list[ft_nodes_host(v->policy, node)].name;
}

static json_t *one_node(const struct ft_controller_view *v, uint32_t node)
{
    static const char *const phases[FT_NODE_PHASES] = {"starting", "running", "done", "ended", "stranded", "left"};
    const struct ft_wire_state *s = v->state(v->arg, node);
    const struct ft_map *map = v->options->map;
    bool up = ft_nodes_is_up(v->policy, node);
    json_t *memory = up ? json_object_get(v->calls(v->arg, map->rank_at[map->first[node]]), "memory") : NULL;
    json_t *o;

    o = json_pack("{si ss ss si sI sb}", "node", (int)node, "host", host_of(v, node), "state",
                  up ? phases[s->phase] : ft_nodes_is_expected(v->policy, node) ? "starting" : "away", "incarnation",
                  (int)ft_nodes_incarnation(v->policy, node), "units", (json_int_t)s->committed, "whole_log", (int)(up && s->whole));
    if (memory)
        json_object_set(o, "memory", memory);
    ft_names_fill(o, FT_NAMED_NODE);
    return o;
}

static json_t *one_rank(const struct ft_controller_view *v, uint32_t node, uint32_t local)
{
    const struct ft_map *map = v->options->map;
    const struct ft_wire_state *s = v->state(v->arg, node);
    bool known = ft_nodes_is_up(v->policy, node) && local < s->nranks;
    uint32_t number = map->rank_at[map->first[node] + local];
    const json_t *calls = known ? v->calls(v->arg, number) : NULL;
    json_t *o;
    struct ft_wire_rank rank = known ? s->ranks[local] : (struct ft_wire_rank){.state = FT_NODE_RANK_STARTING};

    o = json_pack("{si ss ss si so si si}", "rank", (int)number, "state", ft_phase_text(rank.state), "host", host_of(v, node), "node", (int)node, "pid",
                  rank.pid ? json_integer(rank.pid) : json_null(), "incarnation", (int)rank.incarnation, "restarts", (int)rank.restarts);
    if (json_is_string(json_object_get(calls, "state")))
        json_object_set(o, "state", json_object_get(calls, "state"));
    if (calls)
        json_object_update_missing(o, (json_t *)calls);
    json_object_del(o, "memory"); /* that is the node's */
    return o;
}

json_t *ft_controller_status(const struct ft_controller_view *v, json_t *report)
{
    const struct ft_map *map = v->options->map;
    json_t *info = ft_controller_info(v), *nodes = json_array(), *ranks = json_array();

    for (uint32_t node = 0; node < map->nnodes; node++) {
        json_array_append_new(nodes, one_node(v, node));
        for (uint32_t local = 0; local < map->first[node + 1] - map->first[node]; local++)
            json_array_append_new(ranks, one_rank(v, node, local));
    }
    json_object_set_new(info, "per_node", nodes);
    return ft_names_status(report, info, ranks);
}
