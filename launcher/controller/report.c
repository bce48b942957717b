/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/report.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/shared.h"
#include "launcher/job/job.h"
#include "launcher/options/map.h"
#include "launcher/report/report.h"
#include "launcher/report/summary.h"
#include "launcher/report/svg.h"
#include "launcher/report/wire.h"

struct sums {
    uint64_t logged, released, spilled, peak_log, peak_memory;
};

/* What the present incarnation of a node has said. */
struct life {
    uint32_t host;
    bool heard_of;              /* skew is known */
    int64_t skew_ns;            /* from its clock to ours, and the way here is too much in it */
    uint64_t dead_ns;           /* its ranks have been since then, as far as the timeline knows; 0: they are not */
    struct sums sums;
    uint64_t last;              /* of its restarts, in struct origin's terms */
};

/* Where a restart comes from: which one of its node's life it is, and the one of that life that was entered before it (its place plus 1; 0: none). */
struct origin {
    uint64_t index, before;
};

struct node {
    uint64_t heard_ns;          /* anything at all, last */
    uint64_t lost_ns;           /* last; 0: never */
    struct sums before;         /* of earlier incarnations */
    struct life life;
};

struct rank {
    bool started;               /* in this life, and that is entered */
    struct ft_restart *waits;   /* for its start; NULL: it was never lost */
    struct ft_rank_total before; /* its snapshots in earlier lives */
};

struct ft_controller_report {
    const struct ft_map *map;
    size_t bytes;               /* of all this */
    struct ft_report report;
    struct ft_report shown;     /* of now: sums, and restarts in order */
    struct ft_restart *sorted;
    struct ft_report_hosts hosts;
    struct origin *origins;     /* by restart */
    struct node *nodes;
    struct rank *ranks;         /* by rank of the job */
    struct undo {
        _Atomic uint32_t open;  /* something is being entered for `n` nodes; what was there before: */
        uint32_t first, n;
        uint64_t nrestarts, nlosses;
        struct node *nodes;
        struct rank *ranks;
        struct ft_rank_total *totals;
    } undo;
};

enum { LOSSES_MAX = 1 << 16 };

static uint32_t ranks_of(const struct ft_controller_report *c, uint32_t node)
{
    return c->map->first[node + 1] - c->map->first[node];
}

static uint32_t rank_at(const struct ft_controller_report *c, uint32_t node, uint32_t local)
{
    return c->map->rank_at[c->map->first[node] + local];
}

/* ---- entries ---- */

/* The process may be killed before the entry is whole. */
static void begin_entry(struct ft_controller_report *c, uint32_t first, uint32_t n)
{
    struct undo *u = &c->undo;

    for (uint32_t node = first; node < first + n; node++) {
        u->nodes[node] = c->nodes[node];
        for (uint32_t i = 0; i < ranks_of(c, node); i++) {
            uint32_t rank = rank_at(c, node, i);

            u->ranks[rank] = c->ranks[rank];
            u->totals[rank] = c->report.ranks[rank];
        }
    }
    u->first = first;
    u->n = n;
    u->nrestarts = c->report.nrestarts;
    u->nlosses = c->hosts.nlosses;
    atomic_store(&u->open, 1);
}

static void end_entry(struct ft_controller_report *c) { atomic_store(&c->undo.open, 0); }

void ft_controller_report_recover(struct ft_controller_report *c)
{
    const struct undo *u = &c->undo;

    c->sorted = NULL; /* that was the predecessor's */
    if (!atomic_load(&u->open))
        return;
    for (uint32_t node = u->first; node < u->first + u->n; node++) {
        c->nodes[node] = u->nodes[node];
        for (uint32_t i = 0; i < ranks_of(c, node); i++) {
            uint32_t rank = rank_at(c, node, i);

            c->ranks[rank] = u->ranks[rank];
            c->report.ranks[rank] = u->totals[rank];
        }
    }
    c->report.nrestarts = u->nrestarts;
    c->hosts.nlosses = u->nlosses;
    end_entry(c);
}

/* ---- clocks ---- */

static void set_clock(struct life *life, uint64_t its_ns)
{
    int64_t skew = (int64_t)ft_clock_ns() - (int64_t)its_ns;

    if (!life->heard_of || skew < life->skew_ns)
        life->skew_ns = skew;
    life->heard_of = true;
}

/* Within the job's time, whatever the node says; 0 stays 0: it never was. */
static uint64_t ours(const struct ft_controller_report *c, const struct life *life, uint64_t its_ns)
{
    int64_t at;

    if (!its_ns || __builtin_add_overflow((int64_t)its_ns, life->skew_ns, &at))
        return 0;
    return at > (int64_t)c->report.begin_ns ? ft_min((uint64_t)at, ft_clock_ns()) : c->report.begin_ns + 1;
}

/* ---- restarts, ranks, sums ---- */

static struct ft_restart *add_restart(struct ft_controller_report *c, uint32_t rank)
{
    c->report.ranks[rank].restarts++;
    return ft_report_restart(&c->report);
}

/* That of this number, if it was entered before. */
static struct ft_restart *find_restart(const struct ft_controller_report *c, const struct life *life, uint64_t index)
{
    uint64_t at = life->last;

    while (at && c->origins[at - 1].index != index)
        at = c->origins[at - 1].before;
    return at ? &c->report.restarts[at - 1] : NULL;
}

static struct ft_restart *enter_restart(struct ft_controller_report *c, struct life *life, uint32_t rank, uint64_t index)
{
    struct ft_restart *to = add_restart(c, rank);

    if (!to)
        return NULL;
    c->origins[c->report.nrestarts - 1] = (struct origin){index, life->last};
    life->last = c->report.nrestarts;
    return to;
}

static void take_restart(struct ft_controller_report *c, uint32_t node, const struct ft_wire_restart *m)
{
    struct life *life = &c->nodes[node].life;
    const struct ft_restart *from = &m->restart;
    struct ft_restart *to;
    uint32_t rank;

    if (from->rank >= ranks_of(c, node))
        return;
    rank = rank_at(c, node, from->rank);
    to = find_restart(c, life, m->index);
    if (!to && !(to = enter_restart(c, life, rank, m->index)))
        return;
    *to = *from;
    to->rank = rank;
    to->host = life->host;
    to->seen_ns = ours(c, life, from->seen_ns);
    to->died_ns = ours(c, life, from->died_ns);
    to->started_ns = ours(c, life, from->started_ns);
    to->live_ns = ours(c, life, from->live_ns);
    to->from_ns = ours(c, life, from->from_ns);
}

/* A node starts each of its ranks once from the beginning. Who does it in the place of a lost one is where that had been when the log is used up. */
static void take_start(struct rank *rank, uint64_t origin_ns, uint64_t live_ns, const struct ft_wire_life *m)
{
    struct ft_restart *restart = rank->waits;

    if (!rank->started && origin_ns && (!restart || origin_ns >= restart->died_ns)) {
        rank->started = true;
        if (restart)
            restart->started_ns = origin_ns;
    }
    if (!rank->started || !restart || m->total.restarts)
        return;
    restart->live_ns = live_ns;
    restart->replayed = m->replayed;
}

static void take_life(struct ft_controller_report *c, uint32_t node, uint32_t local, const struct ft_wire_life *m)
{
    const struct life *life = &c->nodes[node].life;
    uint32_t number = rank_at(c, node, local);
    struct rank *rank = &c->ranks[number];
    struct ft_rank_total *to = &c->report.ranks[number];
    const struct ft_rank_total *from = &m->total;
    uint64_t origin_ns = ours(c, life, from->origin_ns);

    take_start(rank, origin_ns, ours(c, life, m->live_ns), m);
    to->pid = from->pid;
    to->signal = from->signal;
    to->code = from->code;
    to->ended_ns = ours(c, life, from->ended_ns);
    to->units = ft_max(to->units, from->units);
    to->origin_ns = origin_ns;
    to->cut_unit = from->cut_unit;
    to->cuts = rank->before.cuts + from->cuts;
    to->cuts_cost_ns = rank->before.cuts_cost_ns + from->cuts_cost_ns;
    to->cuts_most_ns = ft_max(rank->before.cuts_most_ns, from->cuts_most_ns);
    to->still_ns = rank->before.still_ns + from->still_ns;
    to->still_most_ns = ft_max(rank->before.still_most_ns, from->still_most_ns);
    to->threads = from->threads;
    to->refused = rank->before.refused + from->refused;
    to->checks.from_snapshot = rank->before.checks.from_snapshot + from->checks.from_snapshot;
    to->checks.from_start = rank->before.checks.from_start + from->checks.from_start;
    to->checks.differed = rank->before.checks.differed + from->checks.differed;
    to->checks.unable = from->checks.unable;
    to->checks.records = rank->before.checks.records + from->checks.records;
}

static void take_sums(struct sums *to, const struct ft_wire_report *m)
{
    *to = (struct sums){.logged = m->log_bytes, .released = m->released_bytes, .spilled = m->spilled_bytes,
                        .peak_log = m->peak_log_bytes, .peak_memory = m->peak_memory_bytes};
}

static int take_report(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct life *life = &c->nodes[node].life;
    struct ft_wire_report m;
    int err = ft_wire_get_report(f, &m, e);

    if (err < 0)
        return err;
    if (m.nranks && m.nranks != ranks_of(c, node)) {
        ft_wire_report_free(&m);
        return ft_err_set(e, FT_EDAMAGED, "a REPORT of another node");
    }
    begin_entry(c, node, 1);
    set_clock(life, m.now_ns);
    for (uint32_t i = 0; i < m.nrestarts; i++)
        take_restart(c, node, &m.restarts[i]);
    for (uint32_t i = 0; i < m.nranks; i++)
        take_life(c, node, i, &m.ranks[i]);
    take_sums(&life->sums, &m);
    end_entry(c);
    ft_wire_report_free(&m);
    return 0;
}

/* ---- the timeline ---- */

/* Its ranks have been dead until then. */
static void fill_gap(struct ft_controller_report *c, uint32_t node, uint64_t until_ns)
{
    struct life *life = &c->nodes[node].life;
    struct ft_cell cell = {.seen = {[FT_DEAD] = 1}};

    for (uint32_t i = 0; life->dead_ns && until_ns > life->dead_ns && i < ranks_of(c, node); i++)
        ft_timeline_put(c->report.timeline, rank_at(c, node, i), life->dead_ns, until_ns, &cell);
    life->dead_ns = 0;
}

static int take_cells(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct life *life = &c->nodes[node].life;
    struct ft_wire_cells m;
    int err = ft_wire_get_cells(f, &m, e);

    if (err < 0)
        return err;
    if (!c->report.timeline || m.first + m.nranks > ranks_of(c, node))
        return ft_err_set(e, FT_EDAMAGED, "CELLS of another node");
    set_clock(life, m.now_ns);
    fill_gap(c, node, ours(c, life, m.begin_ns));
    for (uint32_t i = 0; i < m.ncells; i++) {
        uint64_t from_ns = ours(c, life, m.begin_ns + i * m.width_ns), to_ns = ours(c, life, m.begin_ns + (i + 1) * m.width_ns);

        for (uint32_t r = 0; to_ns > from_ns && r < m.nranks; r++) {
            struct ft_cell cell = ft_wire_cell(&m, r, i);

            ft_timeline_put(c->report.timeline, rank_at(c, node, m.first + r), from_ns, to_ns, &cell);
        }
    }
    return 0;
}

/* ---- what becomes of nodes ---- */

int ft_controller_report_take(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    if (!c)
        return ft_err_set(e, FT_EDAMAGED, "a report that was not asked for");
    return f->type == FT_WIRE_REPORT ? take_report(c, node, f, e) : take_cells(c, node, f, e);
}

static void add_sums(struct sums *to, const struct sums *from)
{
    to->logged += from->logged;
    to->released += from->logged; /* all of it is gone */
    to->spilled += from->spilled;
    to->peak_log = ft_max(to->peak_log, from->peak_log);
    to->peak_memory = ft_max(to->peak_memory, from->peak_memory);
}

void ft_controller_report_start(struct ft_controller_report *c, uint32_t node, uint32_t host)
{
    struct node *n = c ? &c->nodes[node] : NULL;

    if (!n)
        return;
    begin_entry(c, node, 1);
    add_sums(&n->before, &n->life.sums);
    n->life = (struct life){.host = host, .dead_ns = n->lost_ns};
    for (uint32_t i = 0; i < ranks_of(c, node); i++) {
        uint32_t rank = rank_at(c, node, i);

        c->ranks[rank].before = c->report.ranks[rank];
        c->ranks[rank].started = false;
        c->report.ranks[rank].pid = 0;
        c->hosts.of_rank[rank] = host;
    }
    end_entry(c);
}

void ft_controller_report_heard(struct ft_controller_report *c, uint32_t node)
{
    if (c)
        c->nodes[node].heard_ns = ft_clock_ns();
}

void ft_controller_report_up(struct ft_controller_report *c, uint32_t node)
{
    struct ft_host_loss *loss;

    ft_controller_report_heard(c, node);
    for (uint64_t i = c ? c->hosts.nlosses : 0; i-- > 0;) {
        loss = &c->hosts.losses[i];
        if (loss->node != node)
            continue;
        if (!loss->up_ns && loss->to >= 0)
            loss->up_ns = ft_clock_ns();
        loss->to = loss->to < 0 ? -1 : (int64_t)c->nodes[node].life.host; /* it may have been tried elsewhere first */
        return;
    }
}

void ft_controller_report_state(struct ft_controller_report *c, uint32_t node, const struct ft_wire_state *state)
{
    for (uint32_t i = 0; c && i < state->nranks && i < ranks_of(c, node); i++)
        if (state->ranks[i].pid)
            c->report.ranks[rank_at(c, node, i)].pid = (pid_t)state->ranks[i].pid;
}

static void add_loss(struct ft_controller_report *c, uint32_t node, int64_t to, bool all)
{
    const struct node *n = &c->nodes[node];

    if (c->hosts.nlosses == LOSSES_MAX)
        return;
    c->hosts.losses[c->hosts.nlosses++] = (struct ft_host_loss){.node = node, .host = n->life.host, .to = to, .all = all,
                                                     .heard_ns = n->heard_ns, .lost_ns = n->lost_ns};
}

/* Those that ran. */
static void lose_ranks(struct ft_controller_report *c, uint32_t node, enum ft_way_back way, bool host_lost)
{
    const struct node *n = &c->nodes[node];

    for (uint32_t i = 0; i < ranks_of(c, node); i++) {
        uint32_t rank = rank_at(c, node, i);
        struct ft_restart *restart = c->report.ranks[rank].pid ? add_restart(c, rank) : NULL;

        if (!restart)
            continue;
        *restart = (struct ft_restart){.rank = rank, .pid = c->report.ranks[rank].pid, .lost = true, .host = n->life.host, .way = way,
                                       .host_lost = host_lost, .seen_ns = host_lost ? n->heard_ns : n->lost_ns, .died_ns = n->lost_ns,
                                       .from_ns = c->report.ranks[rank].origin_ns};
        c->ranks[rank].waits = restart;
    }
}

void ft_controller_report_lost(struct ft_controller_report *c, uint32_t node, int64_t to, bool all, bool lost)
{
    if (!c)
        return;
    begin_entry(c, all ? 0 : node, all ? c->map->nnodes : 1);
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        if (all || i == node)
            c->nodes[i].lost_ns = ft_clock_ns();
    if (lost)
        add_loss(c, node, to, all);
    for (uint32_t i = 0; to >= 0 && i < c->map->nnodes; i++)
        if (all || i == node)
            lose_ranks(c, i, all ? FT_BACK_ALL : FT_BACK_START, lost && i == node);
    end_entry(c);
}

/* ---- made, written, freed ---- */

/* A successor sees it at the same place. What is of the map's sizes lies behind the struct. */
static struct ft_controller_report *new(const struct ft_map *map)
{
    size_t bytes = sizeof(struct ft_controller_report) + 2 * (map->nnodes * sizeof(struct node) + map->world * sizeof(struct rank)) +
                   map->world * (sizeof(struct ft_rank_total) + sizeof(uint32_t));
    struct ft_controller_report *c = ft_shared_new(bytes);

    if (!c)
        return NULL;
    c->bytes = bytes;
    c->map = map;
    c->report.file.fd = -1;
    c->nodes = (struct node *)(c + 1);
    c->undo.nodes = c->nodes + map->nnodes;
    c->ranks = (struct rank *)(c->undo.nodes + map->nnodes);
    c->undo.ranks = c->ranks + map->world;
    c->undo.totals = (struct ft_rank_total *)(c->undo.ranks + map->world);
    c->hosts.of_rank = (uint32_t *)(c->undo.totals + map->world);
    c->hosts.n = (uint32_t)map->hosts.n;
    c->hosts.names = calloc(map->hosts.n, sizeof *c->hosts.names);
    c->hosts.losses = ft_shared_new(LOSSES_MAX * sizeof *c->hosts.losses);
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
static int compare(const void *a, const void *b)
{
    const struct ft_restart *x = a, *y = b;

    if (x->died_ns != y->died_ns)
        return x->died_ns < y->died_ns ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_up(const struct ft_controller_report *c, struct ft_report *r)
{
    for (uint32_t i = 0; i < c->map->nnodes; i++) {
        const struct sums *before = &c->nodes[i].before, *now = &c->nodes[i].life.sums;

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
    qsort(c->sorted, n, sizeof *c->sorted, compare);
    c->shown.restarts = c->sorted;
}

const struct ft_report *ft_controller_report_now(struct ft_controller_report *c, const struct ft_durable_totals *durable, uint64_t now_ns)
{
    for (uint32_t i = 0; c->report.timeline && i < c->map->nnodes; i++) {
        struct life *life = &c->nodes[i].life;
        bool dead = life->dead_ns;

        fill_gap(c, i, now_ns);
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
    ft_shared_free(c->hosts.losses, LOSSES_MAX * sizeof *c->hosts.losses);
    ft_shared_free(c->origins, FT_RESTARTS_MAX * sizeof *c->origins);
    free(c->hosts.names);
    ft_shared_free(c, c->bytes);
}
