/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "ft/core/algorithm.h"
#include "ft/core/progress.h"

enum {
    MOST_DEPTH = FT_NODES_RING / 4,
    HOP_UNITS = 4  /* units for each hop of the chain: while one is on it, others are on the others */
};

static bool reduces(const struct ft_sig *sig)
{
    return sig->call != FT_CALL_BCAST && sig->call != FT_CALL_ALLGATHER && sig->call != FT_CALL_ALLGATHERV;
}

/* ---- the plan: of the signature and job constants that all nodes have alike (RULE 8) ---- */

bool ft_nodes_gathers(const struct ft_nodes *n, const struct ft_coll *c, const struct ft_sig *sig)
{
    return sig->elem > n->s->params->segment || (c->op->reduction == FT_USER && !n->straight);
}

/* Each turn of a unit at a link costs the same, whatever its size; so one is as large as can be that leaves all hops enough of them. What several
   ranks of a node make together is to stay in their processor's cache. */
static uint64_t reduction_segment(const struct ft_params *p, uint64_t bytes)
{
    uint64_t segment = p->slot_bytes, units = HOP_UNITS * ft_tree_height(FT_TREE_CHAIN, p->nnodes);

    if (p->world > p->nnodes)
        return p->segment;
    while (segment / 2 >= p->segment && bytes < segment * units)
        segment /= 2;
    return segment;
}

/* Of halves: no more units than are needed, but an even number, and as large as each other. */
static uint64_t halves_segment(uint64_t segment, uint64_t bytes, uint32_t elem)
{
    uint64_t units = ft_align(ft_div_up(bytes, segment), 2);

    return ft_min(segment, ft_div_up(ft_align(ft_div_up(bytes, units), FT_LINE), elem) * elem);
}

static void plan(struct ft_nodes_op *op)
{
    struct ft_coll *c = op->c;
    const struct ft_params *p = c->s->params;
    const struct ft_sig *sig = &c->s->sig;

    c->plan.gathered = reduces(sig) && c->bytes && c->op && ft_nodes_gathers(op->n, c, sig);
    op->kind = sig->call == FT_CALL_BCAST ? FT_UNIT_BCAST : ft_coll_gathers(c) ? FT_UNIT_GATHER : FT_UNIT_REDUCE;
    c->plan.segment = p->segment;
    if (op->kind == FT_UNIT_REDUCE) {
        c->plan.segment = reduction_segment(p, c->bytes) / c->elem * c->elem;
        op->halves = p->nnodes > 1 && c->bytes > c->plan.segment;
        if (op->halves)
            c->plan.segment = halves_segment(c->plan.segment, c->bytes, c->elem);
    }
    if (op->kind == FT_UNIT_GATHER)
        c->plan.segment = ft_max(FT_LINE, ft_align(p->segment / c->s->size, FT_LINE));
    c->plan.units = ft_max(1, ft_div_up(c->bytes, c->plan.segment));
    c->plan.turns = ft_plan_turns(p, c->plan.segment);
    op->small = op->kind == FT_UNIT_REDUCE && c->bytes <= p->short_max;
    op->past_cache = ft_coll_total(c) >= p->past_cache;
}

static bool is_root(const struct ft_nodes_op *op) { return op->kind == FT_UNIT_BCAST && ft_coll_leads(op->c); }

/* ---- the others ---- */

/* As much as can be done: as a step. */
static int advance_other(struct ft_nodes_op *op, struct ft_await *a, struct ft_error *e)
{
    while (!ft_nodes_over(op)) {
        int moved = ft_nodes_local_steps(op, e);

        if (moved < 0)
            return moved;
        if (moved == 0 && ft_nodes_awaits(op, a))
            return 0;
    }
    return 1;
}

static void skip_idle_steps(struct ft_nodes_op *op)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t result;

    if (op->kind != FT_UNIT_REDUCE)
        op->in = c->plan.units;
    op->takes = ft_coll_receives(c) || c->root < 0;
    if (!op->takes)
        op->out = c->plan.units;
    if (op->kind != FT_UNIT_BCAST || is_root(op))
        return;
    while (op->made < c->plan.units) {
        op->made_at = ft_nodes_place(op, op->made, op->made_at, &result) + ft_record_bytes(result);
        op->made++;
    }
    if (s->rank != 0)
        ft_stream_done(s, ft_nodes_unit(op, op->made), op->made_at);
}

/* A result that nobody here consumes is not looked at by consume(): a replay checks its first record. */
static int check_replayed(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_stream *s = op->c->s;
    uint64_t result, position = ft_nodes_place(op, 0, s->end, &result);
    int err;

    if (!ft_stream_replays(s, s->first) || (s->rank != 0 && ft_look(&ft_stream_counters(s, 0)->done) <= s->first))
        return 0;
    err = ft_stream_check_record(s, position, s->first, e);
    op->checked = !err;
    return err;
}

static int start(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct ft_nodes_op *op = &c->progress->nodes;

    *op = (struct ft_nodes_op){ .c = c, .n = s->nodes, .made_at = s->end, .out_at = s->end };
    plan(op);
    return c->op && c->op->reduction == FT_USER ? ft_coll_make_room(c, c->plan.segment, e) : 0;
}

static int advance(struct ft_nodes_op *op, struct ft_await *a, struct ft_error *e)
{
    if (!op->begun) {
        int err = check_replayed(op, e);

        if (err)
            return err;
        skip_idle_steps(op);
        if (op->n->represents)
            ft_nodes_begin(op);
        op->begun = true;
    }
    return op->n->represents ? ft_nodes_represent(op, a, e) : advance_other(op, a, e);
}

static int step(struct ft_coll *c, struct ft_await *a, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct ft_nodes_op *op = &c->progress->nodes;
    int over = advance(op, a, e);

    if (over != 1)
        return over;
    if (s->rank == 0)
        ft_nodes_release(op, op->made_at);
    ft_stream_end(s, c->plan.units, op->made_at);
    return 1;
}

static int await(struct ft_coll *c, const struct ft_await *a, struct ft_error *e)
{
    struct ft_nodes_op *op = &c->progress->nodes;

    return op->n->represents ? ft_nodes_await(op, a, e) : ft_stream_await(c->s, a, e);
}

const struct ft_algorithm ft_between_nodes = {NULL, start, step, await};

/* ---- joining and leaving ---- */

/* A representative that has no links yet, or no more. */
static void begin(struct ft_nodes *n)
{
    n->op = NULL;
    n->lingers = true;
    ft_exchange_init(&n->x, n->x.peer, n->n, n->node, (uint32_t)ft_min(n->region->header->params.slot_depth, MOST_DEPTH),
                     ft_peek(&ft_region_stream(n->region, n->number).counters[0].done));
}

static int make_peers(struct ft_nodes *n, struct ft_error *e)
{
    uint32_t peers = ft_tree_peers(n->n, n->node);

    n->x.peer = calloc(peers, sizeof *n->x.peer);
    n->inbox = calloc(peers, sizeof *n->inbox);
    n->reader = calloc(peers, sizeof *n->reader);
    if (n->x.peer && n->inbox && n->reader)
        return 0;
    return ft_err_set(e, FT_ENOMEM, "node %u has no memory for %u link%s to other hosts", n->node, peers, ft_plural(peers));
}

int ft_nodes_open(struct ft_nodes *n, const struct ft_region *region, uint32_t number, const struct ft_wire *wire, struct ft_error *e)
{
    const struct ft_params *p = &region->header->params;
    int err;

    FT_INVARIANT(number < FT_FRAME_STREAMS, "a frame can say its stream");
    *n = (struct ft_nodes){ .number = number, .region = region, .n = p->nnodes, .node = p->node, .first = ft_region_first(region),
                            .rank_at = ft_region_rank_at(region), .straight = true, .represents = wire != NULL };
    for (uint32_t i = 0; i < p->world; i++)
        n->straight = n->straight && n->rank_at[i] == i;
    if (!wire)
        return 0;
    n->wire = *wire;
    err = make_peers(n, e);
    if (!err)
        begin(n);
    return err;
}

void ft_nodes_join(struct ft_nodes *n, struct ft_stream *s)
{
    n->s = s;
    s->nodes = n;
    if (n->represents)
        n->wire.start(n->wire.net, n->number);
}

void ft_nodes_close(struct ft_nodes *n)
{
    for (uint32_t p = 0; p < n->x.n; p++) {
        free(n->inbox[p].bytes);
        free(n->reader[p].bytes);
    }
    free(n->x.peer);
    free(n->inbox);
    free(n->reader);
    free(n->folds);
}

void ft_nodes_resume(struct ft_nodes *n)
{
    if (n->represents)
        begin(n);
}

int ft_nodes_leave(struct ft_nodes *n, struct ft_error *e)
{
    struct ft_wait w = { 0 };
    int moved;

    if (!n->represents)
        return 0;
    ft_exchange_leave(&n->x);
    for (;;) {
        moved = n->wire.turn(n->wire.net, e);
        if (moved < 0)
            return moved;
        ft_nodes_look_for_gone(n);
        if (ft_exchange_settled(&n->x))
            return 0;
        if (moved)
            ft_wait_over(&w, n->s->patience);
        else
            n->wire.pause(n->wire.net, &w, false);
    }
}

int ft_nodes_idle(struct ft_nodes *n, struct ft_wait *w, struct ft_error *e)
{
    int moved;

    if (!n->represents) {
        ft_wait_turn(w, n->s->patience);
        return 0;
    }
    moved = n->wire.turn(n->wire.net, e);
    if (moved == 0)
        n->wire.pause(n->wire.net, w, true);
    return moved < 0 ? moved : 0;
}

void ft_nodes_ring(const struct ft_nodes *n)
{
    if (n->represents)
        n->wire.ring(n->wire.net);
}
