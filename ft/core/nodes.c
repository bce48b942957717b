/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/nodes_op.h"

enum {
    PAST_CACHE = 4 << 20,     /* as in standard.c */
    CHAIN_BYTES = 256 << 10,  /* what is larger goes along the chain: a link's bandwidth counts, not the number of hops */
    MOST_DEPTH = FT_NODES_RING / 4
};
#define LINGER_NS 1000000000ull

static uint64_t unit_of(const struct ft_nodes_op *op, uint64_t i) { return op->c->s->first + i; }

static bool reduces(const struct ft_sig *sig)
{
    return sig->call != FT_CALL_BCAST && sig->call != FT_CALL_ALLGATHER && sig->call != FT_CALL_ALLGATHERV;
}

/* ---- the plan: of the signature and job constants that all nodes have alike (RULE 8) ---- */

bool ft_nodes_gathers(const struct ft_nodes *n, const struct ft_coll *c, const struct ft_sig *sig)
{
    return sig->elem > n->s->params->segment || (c->op->reduction == FT_USER && !n->straight);
}

static void plan(struct ft_nodes_op *op)
{
    struct ft_coll *c = op->c;
    const struct ft_params *p = c->s->params;
    const struct ft_sig *sig = &c->s->sig;

    c->plan.way = FT_WAY_NODES;
    c->plan.gathered = reduces(sig) && c->bytes && c->op && ft_nodes_gathers(op->n, c, sig);
    op->kind = sig->call == FT_CALL_BCAST ? FT_UNIT_BCAST : ft_coll_gathers(c) ? FT_UNIT_GATHER : FT_UNIT_REDUCE;
    c->plan.segment = p->segment;
    if (op->kind == FT_UNIT_REDUCE)
        c->plan.segment = p->segment / c->elem * c->elem;
    if (op->kind == FT_UNIT_GATHER)
        c->plan.segment = ft_max(FT_LINE, ft_align(p->segment / c->s->size, FT_LINE));
    c->plan.units = ft_max(1, ft_div_up(c->bytes, c->plan.segment));
    op->small = op->kind == FT_UNIT_REDUCE && c->bytes <= p->short_max;
    op->past_cache = c->bytes >= PAST_CACHE;
}

static enum ft_tree tree_of(const struct ft_coll *c)
{
    uint64_t bytes = ft_coll_gathers(c) ? c->s->size * c->bytes : c->bytes;

    return bytes > CHAIN_BYTES ? FT_TREE_CHAIN : FT_TREE_BALANCED;
}

/* ---- places in records ---- */

uint64_t ft_nodes_slices_at(const struct ft_nodes_op *op, uint64_t i, uint32_t k)
{
    const struct ft_coll *c = op->c;
    const struct ft_nodes *n = op->n;
    uint64_t at = 0;

    if (!c->counts)
        return n->first[k] * ft_plan_slice(c->bytes, c->plan.segment, i);
    for (uint32_t place = 0; place < n->first[k]; place++)
        at += ft_plan_slice(ft_coll_part(c, n->rank_at[place]), c->plan.segment, i);
    return at;
}

static uint64_t next_place(const struct ft_nodes_op *op, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(op->c, i);
    return ft_log_place(&op->c->s->log, before, *result);
}

uint64_t ft_nodes_at(struct ft_nodes_op *op, uint64_t i)
{
    while (op->placed <= i) {
        uint64_t result, position = next_place(op, op->placed, op->placed_end, &result);

        op->at[op->placed++ % FT_NODES_RING] = position;
        op->placed_end = position + ft_record_bytes(result);
    }
    FT_INVARIANT(i >= op->base && i + FT_NODES_RING >= op->placed, "a unit in flight is within the window");
    return op->at[i % FT_NODES_RING];
}

bool ft_nodes_hot(struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_stream *s = op->n->s;

    return u >= s->first + op->base && u - s->first + FT_NODES_RING >= op->placed &&
           ft_nodes_at(op, u - s->first) >= ft_peek(&s->counters[0].done_at);
}

char *ft_nodes_payload(struct ft_nodes_op *op, uint64_t u)
{
    struct ft_stream *s = op->n->s;
    uint64_t i = u - s->first;

    return ft_log_write(&s->log, ft_nodes_at(op, i)) + ft_record_offset(ft_coll_result(op->c, i));
}

/* ---- what every rank does ---- */

static bool can_contribute(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = unit_of(op, op->in), depth = s->params->slot_depth;

    return op->in < op->c->plan.units &&
           (u < depth || ft_peek(&s->counters[s->rank].contributed) > u || ft_stream_committed(s, u - depth));
}

/* My own chunk of a large one is folded by me alone, straight from my buffer; of a small one all that the representative has. */
static void fill_slot(const struct ft_nodes_op *op, uint64_t i)
{
    const struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    const char *source = c->send + i * c->plan.segment;
    char *slot = ft_stream_slot(s, s->rank, unit_of(op, i));
    uint64_t n = ft_plan_slice(c->bytes, c->plan.segment, i), from = 0, to = 0;

    if (!n || s->n == 1 || (op->small && s->rank == 0))
        return;
    if (!op->small)
        ft_plan_chunk(n, c->elem, s->n, s->rank, &from, &to);
    if (from > 0)
        ft_fill(slot, source, from);
    if (to < n)
        ft_fill(slot + to, source + to, n - to);
}

static void contribute(struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    struct ft_counters *mine = &s->counters[s->rank];
    uint64_t i = op->in++;

    if (ft_peek(&mine->contributed) > unit_of(op, i))
        return;
    fill_slot(op, i);
    if (i == 0)
        ft_stream_enter(s);
    ft_announce(&mine->contributed, unit_of(op, i) + 1);
    if (s->n > 1)
        ft_wake_sleepers(s->patience, &mine->contributed);
}

/* A local rank that has not contributed to unit u, or NULL. */
static _Atomic uint64_t *lacking(const struct ft_nodes_op *op, uint64_t u)
{
    struct ft_stream *s = op->c->s;
    uint64_t least = UINT64_MAX;

    if (u < s->contributed)
        return NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);
        uint64_t seen = ft_look(&s->counters[r].contributed);

        if (seen <= u)
            return &s->counters[r].contributed;
        least = ft_min(least, seen);
    }
    s->contributed = ft_max(s->contributed, least);
    return NULL;
}

/* Of an operation without slots: a local rank that has not shown its call, or NULL. Two that both believe they are the root cannot tear a
   record (RULE 9). */
static _Atomic uint64_t *absent(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;

    for (uint32_t i = 0; i < s->n; i++) {
        _Atomic uint64_t *word = &ft_stream_trail(s, ft_stream_before(s, i), s->first)->unit;

        if (ft_look(word) <= s->first)
            return word;
    }
    return NULL;
}

static bool is_root(const struct ft_nodes_op *op) { return op->kind == FT_UNIT_BCAST && ft_coll_leads(op->c); }

/* What keeps this rank from making its part of unit `made`, or NULL. A successor makes nothing that it has made before. */
static _Atomic uint64_t *obstacle(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = unit_of(op, op->made);

    if (ft_peek(&s->counters[s->rank].done) > u || op->small)
        return NULL;
    if (op->kind == FT_UNIT_REDUCE)
        return s->n > 1 ? lacking(op, u) : NULL;
    return op->verified ? NULL : absent(op);
}

/* acc = x op (what has been pushed before), from the right. The first is not copied if it need not be. */
struct fold {
    const struct ft_nodes_op *op;
    const char *first;
    char *acc;
    bool begun;
    uint64_t n;
};

static void push(struct fold *f, const char *x)
{
    const struct ft_coll *c = f->op->c;

    if (!f->first) {
        f->first = x;
        return;
    }
    if (c->op->reduction == FT_USER) {
        if (!f->begun)
            memcpy(f->acc, f->first, f->n);
        memcpy(f->op->scratch, x, f->n);
        c->op->user(c->op->ctx, f->op->scratch, f->acc, f->n / c->elem);
    } else {
        c->op->fold(x, f->begun ? f->acc : f->first, f->acc, f->n / c->elem);
    }
    f->begun = true;
}

static void push_slots(struct fold *f, uint64_t i, uint64_t from)
{
    const struct ft_coll *c = f->op->c;

    for (uint32_t r = c->s->n; r-- > 0;)
        push(f, (r == c->s->rank ? c->send + i * c->plan.segment : ft_stream_slot(c->s, r, unit_of(f->op, i))) + from);
}

static char *local_partial(const struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_stream *s = op->n->s;

    return s->slots + (s->region->stream.partials_at - s->region->stream.slots_at) +
           (u & (s->params->slot_depth - 1)) * s->params->slot_bytes;
}

/* My chunk of the partial. User functions do not see memory that others read. */
static void make_chunk(const struct ft_nodes_op *op, uint64_t i)
{
    const struct ft_coll *c = op->c;
    uint64_t result = ft_coll_result(c, i), from, to;
    char *chunk = local_partial(op, unit_of(op, i));
    bool user = c->op && c->op->reduction == FT_USER;
    struct fold f = { .op = op };

    ft_plan_chunk(result, c->elem, c->s->n, c->s->rank, &from, &to);
    if (from == to)
        return;
    f.n = to - from;
    f.acc = user ? op->acc : chunk + from;
    ft_point_bulk(chunk + from, f.n);
    push_slots(&f, i, from);
    if (user)
        ft_fill(chunk + from, f.acc, f.n);
}

static int verify(struct ft_nodes_op *op, struct ft_error *e)
{
    int err = op->kind == FT_UNIT_REDUCE ? ft_stream_verify_entry(op->c->s, e) : ft_stream_verify(op->c->s, e);

    op->verified = !err;
    return err;
}

static int make(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t i = op->made, u = unit_of(op, i), result, position = next_place(op, i, op->made_at, &result), n;
    int err = 0;

    if (ft_peek(&s->counters[s->rank].done) <= u && !op->small) {
        if (!op->verified && s->n > 1)
            err = verify(op, e);
        if (err)
            return err;
        if (op->kind == FT_UNIT_REDUCE) {
            if (s->n > 1)
                make_chunk(op, i);
        } else if (op->kind == FT_UNIT_GATHER) {
            n = ft_plan_slice(ft_coll_part(c, s->me), c->plan.segment, i);
            if (n) {
                uint64_t at = ft_nodes_slices_at(op, i, op->n->node);

                for (uint32_t r = 0; r < s->rank; r++)
                    at += ft_plan_slice(ft_coll_part(c, op->n->rank_at[op->n->first[op->n->node] + r]), c->plan.segment, i);
                ft_fill(ft_log_write(&s->log, position) + ft_record_offset(result) + at, c->send + i * c->plan.segment, n);
            }
        } else if (result) {
            ft_fill(ft_log_write(&s->log, position) + ft_record_offset(result), c->send + i * c->plan.segment, result);
        }
    }
    op->made_at = position + ft_record_bytes(result);
    op->made++;
    if (s->rank != 0) {
        ft_stream_done(s, u + 1, op->made_at);
        if (!c->recv)
            ft_stream_leave(s, op->made_at);
    }
    return 0;
}

static bool can_make(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = unit_of(op, op->made), depth = s->params->slot_depth;

    if (op->made >= op->c->plan.units || op->made >= op->in || obstacle(op))
        return false;
    return op->c->recv ? op->made - op->out < depth : u < depth || ft_stream_committed(s, u - depth);
}

static int consume(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t i = op->out, result, position = next_place(op, i, op->out_at, &result), at = ft_record_offset(result);
    int err = 0;

    if (!op->verified && !ft_stream_replays(s, unit_of(op, i)))
        err = ft_stream_verify(s, e);  /* everybody here is done, and may have called something else */
    op->verified = true;
    if (!err && !op->checked)
        err = ft_stream_check_record(s, position, unit_of(op, i), e);
    op->checked = !err;
    if (!err && op->kind != FT_UNIT_GATHER) {
        err = result ? ft_log_read(&s->log, position, at, c->recv + i * c->plan.segment, result, op->past_cache) : 0;
    } else {
        for (uint32_t place = 0; place < s->size && !err; place++) {
            uint32_t r = op->n->rank_at[place];
            uint64_t n = ft_plan_slice(ft_coll_part(c, r), c->plan.segment, i);

            if (n)
                err = ft_log_read(&s->log, position, at, c->recv + ft_coll_displ(c, r) + i * c->plan.segment, n, op->past_cache);
            at += n;
        }
    }
    if (err == FT_ESPACE)
        ft_err_set(e, err, "rank %u cannot read the spilled log of %s", s->me, s->name);
    op->out_at = position + ft_record_bytes(result);
    op->out++;
    ft_stream_leave(s, op->out_at);
    return err;
}

/* A local rank that unit u's commit waits for, not counting this one; NULL: none. */
static _Atomic uint64_t *uncommitted(const struct ft_nodes_op *op, uint64_t u)
{
    struct ft_stream *s = op->c->s;

    for (uint32_t i = 1; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&s->counters[r].done) <= u)
            return &s->counters[r].done;
    }
    return NULL;
}

/* The steps that need no other node. 1: something was done; 0; an error. */
static int local_steps(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_stream *s = op->c->s;
    int moved = 0, err;

    if (op->in < op->c->plan.units && can_contribute(op)) {
        contribute(op);
        moved = 1;
    }
    if (can_make(op)) {
        err = make(op, e);
        if (err)
            return err;
        moved = 1;
    }
    if (op->out < op->made && op->c->recv && ft_stream_committed(s, unit_of(op, op->out))) {
        err = consume(op, e);
        if (err)
            return err;
        moved = 1;
    }
    return moved;
}

static bool over(const struct ft_nodes_op *op)
{
    return op->made == op->c->plan.units && op->out == op->c->plan.units;
}

/* The word of another local rank that this one waits for, NULL if there is none. As in standard.c: never one of our own. */
static _Atomic uint64_t *awaited(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u;

    ft_point_look();
    if (op->made < op->in && op->made < op->c->plan.units) {
        _Atomic uint64_t *word = obstacle(op);

        if (word)
            return word;
    }
    if (op->c->recv && op->out < op->made)
        return uncommitted(op, unit_of(op, op->out));
    u = unit_of(op, ft_min(op->made, op->c->plan.units)); /* a full window; in == made: of slots */
    return u >= s->params->slot_depth ? uncommitted(op, u - s->params->slot_depth) : NULL;
}

/* ---- the representative ---- */

/* Frames under way from records of this operation: the first of them, or the commit count. */
static uint64_t lowest_sent(struct ft_nodes_op *op)
{
    const struct ft_exchange *x = &op->n->x;
    uint64_t low = x->mine;

    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].sending == FT_FRAME_RES && ft_nodes_hot(op, x->peer[p].sending_unit))
            low = ft_min(low, x->peer[p].sending_unit);
    return low;
}

bool ft_nodes_lags(struct ft_nodes_op *op)
{
    return op->n->x.mine - lowest_sent(op) >= op->n->s->params->slot_depth;
}

/* The keeper may move what is below. */
static void release(struct ft_nodes_op *op, uint64_t position)
{
    _Atomic uint64_t *done_at = &op->n->s->counters[0].done_at;

    if (ft_peek(done_at) < position)
        ft_publish(done_at, position);
}

void ft_nodes_commit(struct ft_nodes_op *op, uint64_t u)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    uint64_t i = u - s->first, position = ft_nodes_at(op, i), result = ft_coll_result(op->c, i), extent = s->log.extent_bytes;
    struct ft_record head = { .unit = u + 1, .site = s->site, .sig = s->sig };

    head.sig.length = (uint32_t)result;
    ft_fill(ft_log_write(&s->log, position), &head, sizeof head);
    if ((position & (extent - 1)) == 0)
        ft_publish(&n->starts[position / extent & (s->params->ntable - 1)], u + 1);
    ft_announce(&s->counters[0].done, u + 1);
    if (s->n > 1)
        ft_wake_sleepers(s->patience, &s->counters[0].done);
    ft_exchange_commit(&n->x, u, ft_record_bytes(result));
    u = lowest_sent(op);
    release(op, u == n->x.mine ? position + ft_record_bytes(result) : ft_nodes_at(op, u - s->first));
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
        return local_partial(op, u);
    return op->c->send + (u - op->n->s->first) * op->c->plan.segment;
}

static const char *come_from(const struct ft_nodes *n, const struct ft_neighbour *from, uint64_t u)
{
    return n->inbox[ft_exchange_peer(&n->x, from->node)] + ft_nodes_slot(n, u);
}

/* The node's subtree: right child, own ranks, left child. In private memory: a successor does it again from what it is given again. */
static int fold(struct ft_nodes_op *op, uint64_t u, struct ft_error *e)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    const struct ft_neighbour *right = child(&n->x, true), *left = child(&n->x, false);
    uint64_t i = u - s->first;
    struct fold f = { .op = op, .n = ft_coll_result(op->c, i) };

    if (op->kind != FT_UNIT_REDUCE || !f.n || !folds(op))
        return 0;
    if (!n->folds && !(n->folds = malloc((size_t)s->params->slot_depth * s->params->segment)))
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory to reduce", s->me);
    f.acc = n->folds + ft_nodes_slot(n, u);
    if (right)
        push(&f, come_from(n, right, u));
    if (s->n == 1)
        push(&f, op->c->send + i * op->c->plan.segment);
    else if (op->small)
        push_slots(&f, i, 0);
    else
        push(&f, local_partial(op, u));
    if (left)
        push(&f, come_from(n, left, u));
    return 0;
}

/* Both halves are there: left op right. */
static void write_result(struct ft_nodes_op *op, uint64_t u)
{
    struct ft_nodes *n = op->n;
    const struct ft_coll *c = op->c;
    const struct ft_shape *shape = &n->x.shape[n->x.tree];
    uint64_t bytes = ft_coll_result(c, u - n->s->first);
    bool user = c->op && c->op->reduction == FT_USER;
    const char *mine, *theirs = NULL;
    char *to = ft_nodes_payload(op, u);
    struct fold f = { .op = op, .acc = user ? op->acc : to, .n = bytes };

    if (op->kind != FT_UNIT_REDUCE || !bytes)
        return;
    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->of[i].role == FT_ROLE_EDGE)
            theirs = come_from(n, &shape->of[i], u);
    FT_INVARIANT(theirs, "who combines has both halves");
    mine = ft_nodes_partial(op, u);
    ft_point_bulk(to, bytes);
    push(&f, shape->from == 0 ? theirs : mine);
    push(&f, shape->from == 0 ? mine : theirs);
    if (user)
        ft_fill(to, f.acc, bytes);
}

/* How far all local ranks are. */
static void look_at_own(struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t own = op->made;

    if (op->own >= op->c->plan.units)
        return;
    for (uint32_t r = 1; r < s->n; r++) {
        uint64_t done = ft_look(&s->counters[r].done);

        own = ft_min(own, done > s->first ? done - s->first : 0);
    }
    op->own = ft_max(op->own, own);
    ft_exchange_own(&op->n->x, unit_of(op, op->own));
}

static int exchange_steps(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_exchange *x = &op->n->x;
    enum ft_step step;
    int moved = 0, err;
    uint64_t u;

    look_at_own(op);
    if (op->own && !op->verified && op->c->s->n > 1 && op->kind == FT_UNIT_REDUCE && (err = verify(op, e)) != 0)
        return err;
    while ((step = ft_exchange_step(x, &u)) != FT_STEP_NONE) {
        moved = 1;
        if (step == FT_STEP_FOLD) {
            err = fold(op, u, e);
            if (err)
                return err;
            ft_exchange_folded(x, u);
        } else {
            if (ft_nodes_lags(op))
                return moved;
            write_result(op, u);
            ft_nodes_commit(op, u);
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

/* Peers that have finished with everything, as agents know. */
static void look_for_gone(struct ft_nodes *n)
{
    for (uint32_t p = 0; p < n->x.n; p++)
        if (ft_look(&ft_region_link(n->s->region, n->x.peer[p].node)->gone))
            ft_exchange_gone(&n->x, p);
}

static int await_more(struct ft_nodes_op *op, struct ft_wait *w, struct ft_error *e)
{
    struct ft_nodes *n = op->n;
    struct ft_stream *s = n->s;
    _Atomic uint64_t *word = s->n > 1 ? awaited(op) : NULL;
    bool given = op->kind == FT_UNIT_BCAST && n->x.root != n->node;

    /* What local ranks have made is with other nodes, or it is these that make it. */
    if (!ft_exchange_over(&n->x) && (given || n->x.own > n->x.mine))
        word = NULL;
    if (n->x.leaving)
        look_for_gone(n);
    if (n->wire.pause(n->wire.net, w, word, word ? ft_look(word) : 0))
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

    for (i = 0; unit_of(op, i) < n->x.mine; i++) {
        uint64_t result, position = next_place(op, i, end, &result);

        end = position + ft_record_bytes(result);
    }
    op->base = op->placed = i;
    op->placed_end = end;
    if (s->sig.call == FT_CALL_FINALIZE)
        ft_exchange_leave(&n->x);  /* a peer that is gone had committed it, so everybody has contributed */
    ft_exchange_begin(&n->x, tree_of(op->c), op->kind, root, s->first, unit_of(op, op->c->plan.units), s->first);
    n->op = op;
}

static int run_representative(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_nodes *n = op->n;
    struct ft_wait w = { 0 };
    uint64_t since_ns = 0;
    bool live = n->x.mine < unit_of(op, op->c->plan.units), last = unit_of(op, op->c->plan.units) >= op->c->s->mine;
    int err = 0, moved;

    if (live)
        open_exchange(op);
    while (!err) {
        moved = local_steps(op, e);
        if (moved >= 0 && live) {
            err = exchange_steps(op, e);
            moved = err < 0 ? err : moved | err;
        }
        if (moved >= 0 && (live || last)) {
            err = n->wire.turn(n->wire.net, e);
            moved = err < 0 ? err : moved | err;
        }
        err = moved < 0 ? moved : 0;
        if (err || moved) {
            w.turns = 0;
            w.since_ns = 0;
            continue;
        }
        if (over(op) && (!live || ft_exchange_over(&n->x)) &&
            !((live || last) && (ft_exchange_owes(&n->x) || lingers(n, &since_ns))))
            break;
        err = await_more(op, &w, e);
    }
    n->op = NULL;
    return err;
}

/* ---- the others ---- */

static int run_other(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_stream *s = op->c->s;
    int err = 0, moved;

    while (!err && !over(op)) {
        moved = local_steps(op, e);
        if (moved == 0) {
            _Atomic uint64_t *word = awaited(op);
            uint64_t seen = word ? ft_look(word) : 0;
            struct ft_wait w = { 0 };

            /* It may be far enough already: then the steps see it. */
            while (word && word == awaited(op) && ft_look(word) == seen && !err)
                if (ft_wait_turn(&w, s->patience, word, seen))
                    err = ft_stream_verify(s, e);
        }
        if (moved < 0)
            err = moved;
    }
    return err;
}

static void skip_idle_steps(struct ft_nodes_op *op)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t result;

    if (op->kind != FT_UNIT_REDUCE)
        op->in = c->plan.units;
    if (!c->recv)
        op->out = c->plan.units;
    if (op->kind != FT_UNIT_BCAST || is_root(op))
        return;
    while (op->made < c->plan.units) {
        op->made_at = next_place(op, op->made, op->made_at, &result) + ft_record_bytes(result);
        op->made++;
    }
    if (s->rank != 0)
        ft_stream_done(s, unit_of(op, op->made), op->made_at);
}

/* A result that nobody here consumes is not looked at by consume(): a replay checks its first record. */
static int check_replayed(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_stream *s = op->c->s;
    uint64_t result, position = next_place(op, 0, s->end, &result);
    int err;

    if (!ft_stream_replays(s, s->first) || (s->rank != 0 && ft_look(&s->counters[0].done) <= s->first))
        return 0;
    err = ft_stream_check_record(s, position, s->first, e);
    op->checked = !err;
    return err;
}

int ft_nodes_run(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct ft_nodes_op op = { .c = c, .n = s->nodes, .made_at = s->end, .out_at = s->end };
    bool user = c->op && c->op->reduction == FT_USER;
    int err;

    plan(&op);
    if (user && (!(op.scratch = malloc(s->params->segment)) || !(op.acc = malloc(s->params->segment)))) {
        free(op.scratch);
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a reduction by a user function", s->me);
    }
    err = check_replayed(&op, e);
    if (!err) {
        skip_idle_steps(&op);
        err = s->nodes->represents ? run_representative(&op, e) : run_other(&op, e);
    }
    free(op.acc);
    free(op.scratch);
    if (err)
        return err;
    if (s->rank == 0)
        release(&op, op.made_at);
    ft_stream_end(s, c->plan.units, op.made_at);
    return 0;
}

/* ---- joining and leaving ---- */

void ft_nodes_open(struct ft_nodes *n, struct ft_stream *s, const struct ft_wire *wire)
{
    const struct ft_params *p = s->params;

    *n = (struct ft_nodes){ .s = s, .n = p->nnodes, .node = p->node, .first = ft_region_first(s->region),
                            .rank_at = ft_region_rank_at(s->region), .straight = true, .represents = wire != NULL };
    for (uint32_t i = 0; i < p->world; i++)
        n->straight = n->straight && n->rank_at[i] == i;
    s->nodes = n;
    if (!wire)
        return;
    n->wire = *wire;
    n->starts = (_Atomic uint64_t *)(void *)(s->slots + (s->region->stream.starts_at - s->region->stream.slots_at));
    n->lingers = true;
    ft_exchange_init(&n->x, n->n, n->node, ft_min(p->slot_depth, MOST_DEPTH), ft_peek(&s->counters[0].done));
}

void ft_nodes_close(struct ft_nodes *n)
{
    for (uint32_t p = 0; p < FT_PEERS; p++) {
        free(n->inbox[p]);
        free(n->reader[p].bytes);
    }
    free(n->folds);
}

void ft_nodes_resume(struct ft_nodes *n)
{
    if (!n->represents)
        return;
    n->op = NULL;
    n->lingers = true;
    ft_exchange_init(&n->x, n->n, n->node, ft_min(n->s->params->slot_depth, MOST_DEPTH), ft_peek(&n->s->counters[0].done));
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
        look_for_gone(n);
        if (ft_exchange_settled(&n->x))
            return 0;
        if (moved)
            w = (struct ft_wait){ 0 };
        else
            n->wire.pause(n->wire.net, &w, NULL, 0);
    }
}
