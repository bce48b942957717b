/* SPDX-License-Identifier: BSD-3-Clause */
/* The report, as it is made, written and freed. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/shared.h"
#include "launcher/controller/report.h"
#include "launcher/controller/report_state.h"
#include "launcher/report/summary.h"
#include "launcher/report/svg.h"

/* A successor sees it at the same place. What is of the map's sizes lies behind the struct. */
static struct ft_controller_report *new(const struct ft_map *map)
{
    size_t bytes = sizeof(struct ft_controller_report) + 2 * (map->nnodes * sizeof(struct ft_report_node) + map->world * sizeof(struct ft_report_of_rank)) +
                   map->world * (sizeof(struct ft_rank_total) + sizeof(uint32_t));
    struct ft_controller_report *c = ft_shared_new(bytes);

    if (!c)
        return NULL;
    c->bytes = bytes;
    c->map = map;
    c->report.file.fd = -1;
    c->nodes = (struct ft_report_node *)(c + 1);
    c->undo.nodes = c->nodes + map->nnodes;
    c->ranks = (struct ft_report_of_rank *)(c->undo.nodes + map->nnodes);
    c->undo.ranks = c->ranks + map->world;
    c->undo.totals = (struct ft_rank_total *)(c->undo.ranks + map->world);
    c->hosts.of_rank = (uint32_t *)(c->undo.totals + map->world);
    c->hosts.n = (uint32_t)map->hosts.n;
    c->hosts.names = calloc(map->hosts.n, sizeof *c->hosts.names);
    c->hosts.losses = ft_shared_new(FT_REPORT_LOSSES * sizeof *c->hosts.losses);
    c->origins = ft_shared_new(FT_RESTARTS_MAX * sizeof *c->origins);
    return c;
}

int ft_controller_report_new(struct ft_controller_report **out, const struct ft_options *o, struct ft_error *e)
{
    const struct ft_map *map = o->map;
    struct ft_controller_report *c;
    int err;

    *out = NULL;
    c = new(map);
    if (!c)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (!c->hosts.names || !c->hosts.losses || !c->origins)
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    else if ((err = ft_report_open(&c->report, o->report, o->contexts->argv, map->world, ft_clock_ns(), e)) == 0)
        err = ft_timeline_open(&c->report.timeline, o->timeline, map->world, c->report.begin_ns, e);
    if (err < 0) {
        ft_controller_report_free(c);
        return err;
    }
    c->report.checks = o->check_seed;
    for (uint32_t i = 0; i < c->hosts.n; i++)
        c->hosts.names[i] = map->hosts.list[i].name;
    c->report.hosts = &c->hosts;
    c->report.job = o->job_id;
    c->report.name = o->job_name;
    *out = c;
    return 0;
}

/* What nodes have said lately comes after what is known to be older. */
static int by_time(const void *a, const void *b)
{
    const struct ft_restart *x = a, *y = b;

    if (x->died_ns != y->died_ns)
        return x->died_ns < y->died_ns ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_up(const struct ft_controller_report *c, struct ft_report *r)
{
    for (uint32_t i = 0; i < c->map->nnodes; i++) {
        const struct ft_report_sums *before = &c->nodes[i].before, *now = &c->nodes[i].life.sums;

        r->log_bytes += before->logged + now->logged;
        r->released_bytes += before->released + now->released;
        r->spilled_bytes += before->spilled + now->spilled;
        r->peak_log_bytes += ft_max(before->peak_log, now->peak_log);
        r->peak_memory_bytes += ft_max(before->peak_memory, now->peak_memory);
    }
}

/* A copy, as others point at the restarts where they are. Without memory for that they are as they came. */
static void sort_restarts(struct ft_controller_report *c)
{
    size_t n = c->report.nrestarts;

    free(c->sorted);
    c->sorted = n ? malloc(n * sizeof *c->sorted) : NULL;
    if (!c->sorted)
        return;
    memcpy(c->sorted, c->report.restarts, n * sizeof *c->sorted);
    qsort(c->sorted, n, sizeof *c->sorted, by_time);
    c->shown.restarts = c->sorted;
}

const struct ft_report *ft_controller_report_now(struct ft_controller_report *c, const struct ft_durable_totals *durable, uint64_t now_ns)
{
    for (uint32_t i = 0; c->report.timeline && i < c->map->nnodes; i++) {
        struct ft_report_life *life = &c->nodes[i].life;
        bool dead = life->dead_ns;

        ft_controller_report_gap(c, i, now_ns);
        life->dead_ns = dead ? now_ns : 0;
    }
    c->shown = c->report;
    c->shown.durable = durable;
    sort_restarts(c);
    add_up(c, &c->shown);
    return &c->shown;
}

const struct ft_report *ft_controller_report_of(const struct ft_controller_report *c)
{
    return &c->report;
}

int ft_controller_report_write(struct ft_controller_report *c, const struct ft_durable_totals *durable, int exit_code, struct ft_error *e)
{
    uint64_t now = ft_clock_ns();
    int err;

    ft_controller_report_now(c, durable, now);
    err = ft_report_write(&c->shown, exit_code, now, e);
    return err < 0 ? err : ft_svg_write(c->shown.timeline, &c->shown, exit_code, now, e);
}

bool ft_controller_report_summary(const struct ft_controller_report *c, char *line, size_t size)
{
    return ft_report_summary(&c->shown, line, size);
}

void ft_controller_report_close(struct ft_controller_report *c)
{
    free(c->sorted);
    c->sorted = NULL;
}

void ft_controller_report_free(struct ft_controller_report *c)
{
    if (!c)
        return;
    ft_timeline_close(c->report.timeline);
    if (c->report.ranks)
        ft_report_close(&c->report);
    ft_shared_free(c->hosts.losses, FT_REPORT_LOSSES * sizeof *c->hosts.losses);
    ft_shared_free(c->origins, FT_RESTARTS_MAX * sizeof *c->origins);
    free(c->hosts.names);
    ft_shared_free(c, c->bytes);
}
