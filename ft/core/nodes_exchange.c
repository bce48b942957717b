/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations between nodes: what the representative does, for its node. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/nodes_op.h"

enum {
    FOLD_BLOCK = 16 << 10,      /* what is still in the nearest cache when it is copied to the log */
    LOG_PAST_CACHE = 4 << 10,   /* the log of a segment of so much is not worth room in the cache */
    CHAIN_BYTES = 256 << 10     /* what is larger goes along the chain: a link's bandwidth counts, not the number of hops */
};
#define LINGER_NS 1000000000ull

static enum ft_tree tree_of(const struct ft_coll *c)
{
    uint64_t bytes = ft_coll_gathers(c) ? c->s->size * c->bytes : c->bytes;

    return bytes > CHAIN_BYTES ? FT_TREE_CHAIN : FT_TREE_BALANCED;
}

/* The first unit of this operation that a peer is given, or will be, from where its record is; or the commit count. A peer that is further behind
   is given what is in the log. */
static uint64_t lowest_given(struct ft_nodes_op *op)
{
    const struct ft_exchange *x = &op->n->x;
    uint64_t low = x->mine;

    for (uint32_t p = 0; p < x->n; p++) {
        uint64_t u = ft_exchange_giving(x, p);

        if (u < low && ft_nodes_hot(op, u))
            low = u;
    }
    return low;
}

bool ft_nodes_lags(struct ft_nodes_op *op)
{
    return op->n->x.mine - lowest_given(op) >= op->n->s->params->slot_depth;
}

void ft_nodes_release(struct ft_nodes_op *op, uint64_t position)
{
    _Atomic uint64_t *done_at = &ft_stream_counters(op->n->s, 0)->done_at;

    if (ft_peek(done_at) < position)
        ft_publish(done_at, position);
}

void ft_nodes_commit(struct ft_nodes_op *op, uint64_t u)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    uint64_t i = u - s->first, position = ft_nodes_at(op, i), result = ft_coll_result(op->c, i);

    ft_stream_write_head(s, u, op->committed_end, position, result);
    op->committed_end = position + ft_record_bytes(result);
    ft_stream_announce(s, FT_AWAIT_DONE, &ft_stream_counters(s, 0)->done, u + 1);
    ft_exchange_commit(&n->x, u, ft_record_bytes(result));
    u = lowest_given(op);
    ft_nodes_release(op, u == n->x.mine ? position + ft_record_bytes(result) : ft_nodes_at(op, u - s->first));
}

static const struct ft_neighbour *child(const struct ft_exchange *x, bool right)
{
    const struct ft_shape *shape = &x->shape[x->tree];

    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->of[i].role == FT_ROLE_DOWN && (shape->of[i].from > x->me) == right)
            return &shape->of[i];
    return NULL;
}

static bool folds(const struct ft_nodes_op *op)
{
    return (op->small && op->n->s->n > 1) || child(&op->n->x, false) || child(&op->n->x, true);
}

const char *ft_nodes_partial(struct ft_nodes_op *op, uint64_t u)
{
    if (folds(op))
        return op->n->folds + ft_nodes_slot(op->n, u);
    if (op->n->s->n > 1)
        return ft_nodes_local_partial(op, u);
    return ft_nodes_own(op, u - op->n->s->first);
}

static const char *come_from(const struct ft_nodes *n, const struct ft_neighbour *from, uint64_t u)
{
    return ft_nodes_inbox(n, (uint32_t)ft_exchange_peer(&n->x, from->node), u);
}

/* The node's subtree: right child, own ranks, left child. In private memory: a successor does it again from what it is given again. */
static int fold(struct ft_nodes_op *op, uint64_t u, struct ft_error *e)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    const struct ft_neighbour *right = child(&n->x, true), *left = child(&n->x, false);
    uint64_t i = u - s->first;
    struct ft_nodes_fold f = { .op = op, .n = ft_coll_result(op->c, i) };

    if (op->kind != FT_UNIT_REDUCE || !f.n || !folds(op))
        return 0;
    if (!n->folds && !(n->folds = malloc((size_t)s->params->slot_depth * s->params->slot_bytes)))
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory to reduce", s->me);
    f.acc = n->folds + ft_nodes_slot(n, u);
    if (right)
        ft_nodes_push(&f, come_from(n, right, u));
    if (s->n == 1)
        ft_nodes_push(&f, ft_nodes_own(op, i));
    else if (op->small)
        ft_nodes_push_slots(&f, i, 0);
    else
        ft_nodes_push(&f, ft_nodes_local_partial(op, u));
    if (left)
        ft_nodes_push(&f, come_from(n, left, u));
    return 0;
}

/* Where the only rank of its node has the result of unit i as it makes it, or NULL: in its buffer, where the result will be used, and the record is
   a copy of that, past the cache. A buffer that is both input and output is contributed up to there (RULE 10), and a contribution is not asked
   for any more once its unit is committed, which follows at once, or is made (HALVES). */
static char *made_into(const struct ft_nodes_op *op, uint64_t i)
{
    const struct ft_coll *c = op->c;
    bool reduces = op->kind == FT_UNIT_REDUCE && c->op && c->op->reduction != FT_USER;

    return reduces && c->s->n == 1 && (op->halves || op->out == i)
               ? ft_view_direct(&c->recv, ft_nodes_from(op, i))
               : NULL;
}

const char *ft_nodes_result(struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_coll *c = op->c;
    uint64_t i = u - c->s->first;

    if (u >= op->n->x.mine && made_into(op, i))
        return made_into(op, i);
    if (i < op->out && op->kind == FT_UNIT_REDUCE && c->s->n == 1 && ft_coll_receives(c))
        return ft_view_direct(&c->recv, ft_nodes_from(op, i));
    return ft_nodes_payload(op, u);
}

/* to = x op y, and the same to the log, past the cache, a block at a time. */
static void fold_logged(const struct ft_coll *c, const char *y, const char *x, char *to, char *log, uint64_t n)
{
    uint64_t block = ft_max(c->elem, FOLD_BLOCK / c->elem * c->elem);

    for (uint64_t at = 0, k; at < n; at += k) {
        k = ft_min(n - at, block);
        c->op->fold(x + at, y + at, to + at, k / c->elem);
        ft_copy_past_cache_unordered(log + at, to + at, k);
    }
    ft_copy_order(true);
}

/* Both halves are there: left op right. recv: where the result is to be, too, or NULL. */
static void write_result(struct ft_nodes_op *op, uint64_t u, char *recv)
{
    struct ft_nodes *n = op->n;
    const struct ft_coll *c = op->c;
    const struct ft_shape *shape = &n->x.shape[n->x.tree];
    uint64_t bytes = ft_coll_result(c, u - n->s->first);
    bool user = c->op && c->op->reduction == FT_USER;
    const char *mine, *theirs = NULL;
    char *to = ft_nodes_payload(op, u);
    struct ft_nodes_fold f = { .op = op, .acc = user ? op->c->acc : recv ? recv : to, .n = bytes };

    if (op->kind != FT_UNIT_REDUCE || !bytes)
        return;
    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->of[i].role == FT_ROLE_EDGE)
            theirs = come_from(n, &shape->of[i], u);
    FT_INVARIANT(theirs, "who combines has both halves");
    mine = ft_nodes_partial(op, u);
    ft_point_bulk(to, bytes);
    if (f.acc == recv && bytes >= LOG_PAST_CACHE) {
        fold_logged(c, shape->from == 0 ? theirs : mine, shape->from == 0 ? mine : theirs, recv, to, bytes);
        return;
    }
    ft_nodes_push(&f, shape->from == 0 ? theirs : mine);
    ft_nodes_push(&f, shape->from == 0 ? mine : theirs);
    if (f.acc != to)
        ft_fill(to, f.acc, bytes);
}

static void publish_result(struct ft_nodes_op *op, uint64_t u, bool taken)
{
    const struct ft_coll *c = op->c;
    uint64_t i = u - c->s->first;

    ft_nodes_commit(op, u);
    if (!taken || op->out != i)
        return;
    op->out_at = ft_nodes_at(op, i) + ft_record_bytes(ft_coll_result(c, i));
    op->out++;
    op->checked = true;
    ft_stream_leave(c->s, op->out_at);
}

static void make_result(struct ft_nodes_op *op, uint64_t u)
{
    char *recv = made_into(op, u - op->c->s->first);

    if (!op->halves)
        write_result(op, u, recv);
    publish_result(op, u, recv);
}

/* HALVES: as made_into, of a result that the other end makes. It may come in part, and then another one at the other end may ask for our
   contribution: so not over that. And a successor is given a result before it has contributed again, but consumes nothing before that. */
char *ft_nodes_sink(struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_coll *c = op->c;
    uint64_t i = u - c->s->first;

    op->received =
        op->halves && op->out == i && op->made > i && !ft_view_same(&c->recv, &c->send) ? made_into(op, i) : NULL;
    return op->received ? op->received : ft_nodes_payload(op, u);
}

void ft_nodes_take_result(struct ft_nodes_op *op, uint64_t u)
{
    if (op->received)
        ft_copy_past_cache(ft_nodes_payload(op, u), op->received, ft_coll_result(op->c, u - op->c->s->first));
    publish_result(op, u, op->received);
}

/* How far all local ranks are. */
static void look_at_own(struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t own = op->made;

    if (op->own >= op->c->plan.units)
        return;
    for (uint32_t r = 1; r < s->n; r++) {
        uint64_t done = ft_look(&ft_stream_counters(s, r)->done);

        own = ft_min(own, done > s->first ? done - s->first : 0);
    }
    op->own = ft_max(op->own, own);
    ft_exchange_own(&op->n->x, ft_nodes_unit(op, op->own));
}

static int exchange_steps(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_exchange *x = &op->n->x;
    enum ft_step step;
    int moved = 0, err;
    uint64_t u;

    look_at_own(op);
    if (op->own && !op->verified && op->c->s->n > 1 && op->kind == FT_UNIT_REDUCE && (err = ft_nodes_verify(op, e)) != 0)
        return err;
    while ((step = ft_exchange_step(x, &u)) != FT_STEP_NONE) {
        if (step == FT_STEP_RESULT && ft_nodes_lags(op))
            return moved;  /* a peer is to take something first: that is waited for */
        if (step != FT_STEP_FOLD && ft_nodes_lacks_memory(op, u))
            return moved;
        moved = 1;
        if (step == FT_STEP_MAKE) {
            write_result(op, u, made_into(op, u - op->c->s->first));
            ft_exchange_made(x, u);
        } else if (step == FT_STEP_FOLD) {
            err = fold(op, u, e);
            if (err)
                return err;
            ft_exchange_folded(x, u);
        } else {
            make_result(op, u);
            return moved;  /* others may want to know */
        }
    }
    return moved;
}

/* A link that is not there: to a peer that may lack what this call has come to. The program may compute for long after it; so the
   representative waits a moment, in which a process can be started again. */
static bool awaits_peer(struct ft_nodes *n)
{
    bool awaits = false;

    for (uint32_t p = 0; p < n->x.n; p++) {
        const struct ft_peer *peer = &n->x.peer[p];

        awaits = awaits || (!peer->gone && !peer->heard && peer->count < n->x.mine);
    }
    return awaits;
}

static bool lingers(struct ft_nodes *n, uint64_t *since_ns)
{
    if (!n->lingers)
        return false;
    if (!awaits_peer(n)) {
        n->lingers = false;
        return false;
    }
    if (!*since_ns)
        *since_ns = ft_clock_ns();
    if (ft_clock_ns() - *since_ns < LINGER_NS)
        return true;
    n->lingers = false;
    return false;
}

void ft_nodes_look_for_gone(struct ft_nodes *n)
{
    for (uint32_t p = 0; p < n->x.n; p++)
        if (ft_look(&ft_region_link(n->region, 0, n->x.peer[p].node)->gone))
            ft_exchange_gone(&n->x, p);
}

/* Whom of this node it waits for, if it is not for other nodes: NOBODY. */
static void find_awaited(struct ft_nodes_op *op, struct ft_await *a)
{
    struct ft_nodes *n = op->n;
    bool local = ft_nodes_awaits(op, a), given = op->kind == FT_UNIT_BCAST && n->x.root != n->node;

    if (op->memory.kind != FT_AWAIT_NOBODY) {
        *a = op->memory;
        return;
    }
    /* What local ranks have made is with other nodes, or it is these that make it. */
    if (!local || (!ft_exchange_over(&n->x) && (given || n->x.own > n->x.mine)))
        *a = (struct ft_await){ .kind = FT_AWAIT_NOBODY };
}

int ft_nodes_await(struct ft_nodes_op *op, const struct ft_await *a, struct ft_error *e)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    bool local = a->kind != FT_AWAIT_NOBODY;

    if (local) {
        struct ft_await said = ft_stream_await_of(s, *a);

        ft_wait_goes_on(&op->wait, s->patience, &said);
    }
    if (n->x.leaving)
        ft_nodes_look_for_gone(n);
    if (n->wire.pause(n->wire.net, &op->wait, local))
        return ft_stream_verify(s, e);
    return 0;
}

/* The tree's part begins where the node's commit count is, which an earlier incarnation may have brought into this operation. */
static void open_exchange(struct ft_nodes_op *op)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = op->c->s;
    uint32_t root = op->kind == FT_UNIT_BCAST ? ft_region_node_of(s->region, (uint32_t)op->c->root) : 0;
    uint64_t end = s->end, i;

    for (i = 0; ft_nodes_unit(op, i) < n->x.mine; i++) {
        uint64_t result, position = ft_nodes_place(op, i, end, &result);

        end = position + ft_record_bytes(result);
    }
    op->base = op->placed = i;
    op->placed_end = op->committed_end = end;
    if (s->sig.call == FT_CALL_FINALIZE)
        ft_exchange_leave(&n->x);  /* a peer that is gone had committed it, so everybody has contributed */
    ft_exchange_begin(&n->x, tree_of(op->c), op->halves ? FT_UNIT_HALVES : op->kind, root, s->first, ft_nodes_unit(op, op->c->plan.units), s->first);
    n->op = op;
}

static bool has_ended(struct ft_nodes_op *op)
{
    struct ft_exchange *x = &op->n->x;

    if (!ft_nodes_over(op) || (op->live && !ft_exchange_over(x)))
        return false;
    return !(op->live || op->last) || !(ft_exchange_owes(x) || lingers(op->n, &op->since_ns));
}

void ft_nodes_begin(struct ft_nodes_op *op)
{
    uint64_t end = ft_nodes_unit(op, op->c->plan.units);

    op->live = op->n->x.mine < end;
    op->last = end >= op->c->s->mine;
    if (op->live)
        open_exchange(op);
}

/* 1: something was done; 0; an error. */
static int do_steps(struct ft_nodes_op *op, struct ft_error *e)
{
    int moved = ft_nodes_local_steps(op, e), more;

    if (moved < 0 || !op->live)
        return moved;
    more = exchange_steps(op, e);
    return more < 0 ? more : moved | more;
}

/* What it has for other nodes, and they for it. */
static int turn(struct ft_nodes_op *op, struct ft_error *e)
{
    return op->live || op->last ? op->n->wire.turn(op->n->wire.net, e) : 0;
}

static int advance(struct ft_nodes_op *op, struct ft_await *a, struct ft_error *e)
{
    for (;;) {
        int moved, sent;

        op->memory.kind = FT_AWAIT_NOBODY;
        moved = do_steps(op, e);
        if (moved < 0)
            return moved;
        /* A short one is done before sockets are asked again: these calls are what it costs. */
        if (moved && op->c->plan.units == 1 && !ft_exchange_owes(&op->n->x))
            continue;
        if (!moved && has_ended(op))
            return 1;
        sent = turn(op, e);
        if (sent < 0)
            return sent;
        if (!moved && !sent) {
            find_awaited(op, a);
            return 0;
        }
        ft_wait_over(&op->wait, op->c->s->patience);
    }
}

int ft_nodes_represent(struct ft_nodes_op *op, struct ft_await *a, struct ft_error *e)
{
    int over = advance(op, a, e);

    if (over) {
        ft_wait_over(&op->wait, op->c->s->patience);
        op->n->op = NULL;
    }
    return over;
}
