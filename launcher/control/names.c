/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/names.h"

static const char *const of_job[] = {"pid", "agent_pid", "standby_pid", "memory", "per_node", NULL};
static const char *const of_node[] = {"node", "host", "state", "incarnation", "units", "whole_log", "memory", NULL};
static const char *const of_rank[] = {
    "state", "stopped", "incarnation", "seconds", "node", "stream", "unit", "call", "operation", "count", "type", "reduction", "root", "algorithm",
    "site", "waits_for", "waits_for_count", "waits_for_memory", "waits_for_disk", "waits_for_hosts", "waits_for_requests", "queue", "replayed", "to_replay", "ways_back",
    "snapshot", "checkpoint", "checkpoint_seconds", "no_snapshot", "no_start", NULL,
};

void ft_names_fill(json_t *object, enum ft_named what)
{
    static const char *const *const lists[] = {of_job, of_node, of_rank};

    for (const char *const *name = lists[what]; *name; name++)
        if (!json_object_get(object, *name))
            json_object_set_new(object, *name, json_null());
}

json_t *ft_names_status(json_t *report, json_t *info, json_t *ranks)
{
    json_t *list = json_object_get(report, "per_rank"), *rank;
    size_t i;

    json_object_update(report, info);
    json_array_foreach(ranks, i, rank)
        json_object_update(json_array_get(list, (size_t)json_integer_value(json_object_get(rank, "rank"))), rank);
    json_array_foreach(list, i, rank)
        ft_names_fill(rank, FT_NAMED_RANK);
    ft_names_fill(report, FT_NAMED_JOB);
    json_decref(info);
    json_decref(ranks);
    return report;
}
