/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/report.h"

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/controller/report_state.h"
#include "launcher/report/wire.h"

/* ---- clocks ---- */

static void set_clock(struct ft_report_life *life, uint64_t its_ns)
{
    int64_t skew = (int64_t)ft_clock_ns() - (int64_t)its_ns;

    if (!life->heard_of || skew < life->skew_ns)
        life->skew_ns = skew;
    life->heard_of = true;
}

/* Within the job's time, whatever the node says; 0 stays 0: it never was. */
static uint64_t ours(const struct ft_controller_report *c, const struct ft_report_life *life, uint64_t its_ns)
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
static struct ft_restart *find_restart(const struct ft_controller_report *c, const struct ft_report_life *life, uint64_t index)
{
    uint64_t at = life->last;

    while (at && c->origins[at - 1].index != index)
        at = c->origins[at - 1].before;
    return at ? &c->report.restarts[at - 1] : NULL;
}

static struct ft_restart *enter_restart(struct ft_controller_report *c, struct ft_report_life *life, uint32_t rank, uint64_t index)
{
    struct ft_restart *to = add_restart(c, rank);

    if (!to)
        return NULL;
    c->origins[c->report.nrestarts - 1] = (struct ft_report_origin){index, life->last};
    life->last = c->report.nrestarts;
    return to;
}

static void take_restart(struct ft_controller_report *c, uint32_t node, const struct ft_wire_restart *m)
{
    struct ft_report_life *life = &c->nodes[node].life;
    const struct ft_restart *from = &m->restart;
    struct ft_restart *to;
    uint32_t rank;

    if (from->rank >= ft_controller_report_ranks(c, node))
        return;
    rank = ft_controller_report_rank(c, node, from->rank);
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
static void take_start(struct ft_report_of_rank *rank, uint64_t origin_ns, uint64_t live_ns, const struct ft_wire_life *m)
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
    const struct ft_report_life *life = &c->nodes[node].life;
    uint32_t number = ft_controller_report_rank(c, node, local);
    struct ft_report_of_rank *rank = &c->ranks[number];
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

static void take_sums(struct ft_report_sums *to, const struct ft_wire_report *m)
{
    *to = (struct ft_report_sums){.logged = m->log_bytes, .released = m->released_bytes, .spilled = m->spilled_bytes,
                        .peak_log = m->peak_log_bytes, .peak_memory = m->peak_memory_bytes};
}

static int take_report(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_report_life *life = &c->nodes[node].life;
    struct ft_wire_report m;
    int err = ft_wire_get_report(f, &m, e);

    if (err < 0)
        return err;
    if (m.nranks && m.nranks != ft_controller_report_ranks(c, node)) {
        ft_wire_report_free(&m);
        return ft_err_set(e, FT_EDAMAGED, "a REPORT of another node");
    }
    ft_controller_report_begin(c, node, 1);
    set_clock(life, m.now_ns);
    for (uint32_t i = 0; i < m.nrestarts; i++)
        take_restart(c, node, &m.restarts[i]);
    for (uint32_t i = 0; i < m.nranks; i++)
        take_life(c, node, i, &m.ranks[i]);
    take_sums(&life->sums, &m);
    ft_controller_report_end(c);
    ft_wire_report_free(&m);
    return 0;
}

/* ---- the timeline ---- */

void ft_controller_report_gap(struct ft_controller_report *c, uint32_t node, uint64_t until_ns)
{
    struct ft_report_life *life = &c->nodes[node].life;
    struct ft_cell cell = {.seen = {[FT_DEAD] = 1}};

    for (uint32_t i = 0; life->dead_ns && until_ns > life->dead_ns && i < ft_controller_report_ranks(c, node); i++)
        ft_timeline_put(c->report.timeline, ft_controller_report_rank(c, node, i), life->dead_ns, until_ns, &cell);
    life->dead_ns = 0;
}

static int take_cells(struct ft_controller_report *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_report_life *life = &c->nodes[node].life;
    struct ft_wire_cells m;
    int err = ft_wire_get_cells(f, &m, e);

    if (err < 0)
        return err;
    if (!c->report.timeline || m.first + m.nranks > ft_controller_report_ranks(c, node))
        return ft_err_set(e, FT_EDAMAGED, "CELLS of another node");
    set_clock(life, m.now_ns);
    ft_controller_report_gap(c, node, ours(c, life, m.begin_ns));
    for (uint32_t i = 0; i < m.ncells; i++) {
        uint64_t from_ns = ours(c, life, m.begin_ns + i * m.width_ns), to_ns = ours(c, life, m.begin_ns + (i + 1) * m.width_ns);

        for (uint32_t r = 0; to_ns > from_ns && r < m.nranks; r++) {
            struct ft_cell cell = ft_wire_cell(&m, r, i);

            ft_timeline_put(c->report.timeline, ft_controller_report_rank(c, node, m.first + r), from_ns, to_ns, &cell);
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

static void add_sums(struct ft_report_sums *to, const struct ft_report_sums *from)
{
    to->logged += from->logged;
    to->released += from->logged; /* all of it is gone */
    to->spilled += from->spilled;
    to->peak_log = ft_max(to->peak_log, from->peak_log);
    to->peak_memory = ft_max(to->peak_memory, from->peak_memory);
}

void ft_controller_report_start(struct ft_controller_report *c, uint32_t node, uint32_t host)
{
    struct ft_report_node *n = c ? &c->nodes[node] : NULL;

    if (!n)
        return;
    ft_controller_report_begin(c, node, 1);
    add_sums(&n->before, &n->life.sums);
    n->life = (struct ft_report_life){.host = host, .dead_ns = n->lost_ns};
    for (uint32_t i = 0; i < ft_controller_report_ranks(c, node); i++) {
        uint32_t rank = ft_controller_report_rank(c, node, i);

        c->ranks[rank].before = c->report.ranks[rank];
        c->ranks[rank].started = false;
        c->report.ranks[rank].pid = 0;
        c->hosts.of_rank[rank] = host;
    }
    ft_controller_report_end(c);
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
    for (uint32_t i = 0; c && i < state->nranks && i < ft_controller_report_ranks(c, node); i++)
        if (state->ranks[i].pid)
            c->report.ranks[ft_controller_report_rank(c, node, i)].pid = (pid_t)state->ranks[i].pid;
}

static void add_loss(struct ft_controller_report *c, uint32_t node, int64_t to, bool all)
{
    struct ft_report_node *n = &c->nodes[node];

    if (n->life.lost || c->hosts.nlosses == FT_REPORT_LOSSES)
        return;
    n->life.lost = true;
    c->hosts.losses[c->hosts.nlosses++] = (struct ft_host_loss){.node = node, .host = n->life.host, .to = to, .all = all,
                                                     .heard_ns = n->heard_ns, .lost_ns = n->lost_ns};
}

/* Those that ran. */
static void lose_ranks(struct ft_controller_report *c, uint32_t node, enum ft_way_back way, bool host_lost)
{
    struct ft_report_node *n = &c->nodes[node];

    if (n->life.ranks_lost)
        return;
    n->life.ranks_lost = true;
    for (uint32_t i = 0; i < ft_controller_report_ranks(c, node); i++) {
        uint32_t rank = ft_controller_report_rank(c, node, i);
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
    ft_controller_report_begin(c, all ? 0 : node, all ? c->map->nnodes : 1);
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        if (all || i == node)
            c->nodes[i].lost_ns = ft_clock_ns();
    if (lost)
        add_loss(c, node, to, all);
    for (uint32_t i = 0; to >= 0 && i < c->map->nnodes; i++)
        if (all || i == node)
            lose_ranks(c, i, all ? FT_BACK_ALL : FT_BACK_START, lost && i == node);
    ft_controller_report_end(c);
}

