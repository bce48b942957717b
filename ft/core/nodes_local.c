/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations between nodes: what every rank does, with the others of its node (ft/core/nodes.h: contribute, make, consume). */
#include <string.h>

#include "ft/core/nodes_op.h"

/* ---- places in records ---- */

uint64_t ft_nodes_slices_at(const struct ft_nodes_op *op, uint64_t i, uint32_t k)
{
    const struct ft_coll *c = op->c;
    const struct ft_nodes *n = op->n;
    uint64_t at = 0;

    if (!ft_view_is_uneven(&c->recv))
        return n->first[k] * ft_plan_slice(c->bytes, c->plan.segment, i);
    for (uint32_t place = 0; place < n->first[k]; place++)
        at += ft_coll_slice(c, n->rank_at[place], i);
    return at;
}

uint64_t ft_nodes_place(const struct ft_nodes_op *op, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(op->c, i);
    return ft_log_place(&op->c->s->log, before, *result);
}

uint64_t ft_nodes_at(struct ft_nodes_op *op, uint64_t i)
{
    while (op->placed <= i) {
        uint64_t result, position = ft_nodes_place(op, op->placed, op->placed_end, &result);

        op->at[op->placed++ % FT_NODES_RING] = position;
        op->placed_end = position + ft_record_bytes(result);
    }
    FT_INVARIANT(i >= op->base && i + FT_NODES_RING >= op->placed, "a unit in flight is within the window");
    return op->at[i % FT_NODES_RING];
}

bool ft_nodes_lacks_memory(struct ft_nodes_op *op, uint64_t u)
{
    uint64_t i = u - op->n->s->first;

    return ft_stream_lacks_memory(op->n->s, ft_nodes_at(op, i), ft_coll_result(op->c, i), &op->memory);
}

bool ft_nodes_hot(struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_stream *s = op->n->s;

    return u >= s->first + op->base && u - s->first + FT_NODES_RING >= op->placed &&
           ft_nodes_at(op, u - s->first) >= ft_peek(&ft_stream_counters(s, 0)->done_at);
}

char *ft_nodes_payload(struct ft_nodes_op *op, uint64_t u)
{
    struct ft_stream *s = op->n->s;
    uint64_t i = u - s->first;

    return ft_log_write(&s->log, ft_nodes_at(op, i), ft_coll_result(op->c, i)) + ft_record_offset(ft_coll_result(op->c, i));
}

/* ---- what every rank does ---- */

static bool can_contribute(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = ft_nodes_unit(op, op->in), depth = s->params->slot_depth;

    return op->in < op->c->plan.units &&
           (u < depth || ft_peek(&ft_stream_counters(s, s->rank)->contributed) > u || ft_stream_committed(s, u - depth));
}

/* My own chunk of a large one is folded by me alone, straight from my buffer; of a small one all that the representative has. */
static void fill_slot(const struct ft_nodes_op *op, uint64_t i)
{
    const struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    char *slot = ft_stream_slot(s, s->rank, ft_nodes_unit(op, i), &op->c->plan);
    uint64_t n = ft_plan_slice(c->bytes, c->plan.segment, i);

    if (!n || s->n == 1 || (op->small && s->rank == 0))
        return;
    if (op->small)
        ft_stream_fill(s, slot, &c->send, ft_nodes_from(op, i), n);
    else
        ft_stream_fill_chunks(s, slot, &c->send, ft_nodes_from(op, i), n, c->elem);
}

static void contribute(struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    struct ft_counters *mine = ft_stream_counters(s, s->rank);
    uint64_t i = op->in++;

    if (ft_peek(&mine->contributed) > ft_nodes_unit(op, i))
        return;
    fill_slot(op, i);
    if (i == 0)
        ft_stream_enter(s);
    ft_stream_announce(s, FT_AWAIT_CONTRIBUTED, &mine->contributed, ft_nodes_unit(op, i) + 1);
}

/* Of an operation without slots: a local rank that has not shown its call, or -1. Two that both believe they are the root cannot tear a
   record (RULE 9). */
static int64_t absent(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;

    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&ft_stream_trail(s, r, s->first)->unit) <= s->first)
            return r;
    }
    return -1;
}

/* Who keeps this rank from making its part of unit `made`, or -1. A successor makes nothing that it has made before. */
static int64_t obstacle(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = ft_nodes_unit(op, op->made);

    if (ft_peek(&ft_stream_counters(s, s->rank)->done) > u || op->small)
        return -1;
    if (op->kind == FT_UNIT_REDUCE)
        return s->n > 1 ? ft_stream_lacking(s, u) : -1;
    return op->verified ? -1 : absent(op);
}

/* It writes what is to be made into the record, for which there is no memory. */
static bool lacks_memory(const struct ft_nodes_op *op, struct ft_await *a)
{
    struct ft_stream *s = op->c->s;
    uint64_t result, position;

    if (op->kind == FT_UNIT_REDUCE || ft_peek(&ft_stream_counters(s, s->rank)->done) > ft_nodes_unit(op, op->made))
        return false;
    position = ft_nodes_place(op, op->made, op->made_at, &result);
    return ft_stream_lacks_memory(s, position, result, a);
}

void ft_nodes_push(struct ft_nodes_fold *f, const char *x)
{
    const struct ft_coll *c = f->op->c;

    if (!f->first) {
        f->first = x;
        return;
    }
    if (c->op->reduction == FT_USER) {
        if (!f->begun)
            memcpy(f->acc, f->first, f->n);
        memcpy(c->scratch, x, f->n);
        c->op->user(c->op->ctx, c->scratch, f->acc, f->n / c->elem);
    } else {
        c->op->fold(x, f->begun ? f->acc : f->first, f->acc, f->n / c->elem);
    }
    f->begun = true;
}

void ft_nodes_push_slots(struct ft_nodes_fold *f, uint64_t i, uint64_t from)
{
    const struct ft_coll *c = f->op->c;

    for (uint32_t r = c->s->n; r-- > 0;) {
        const char *slot = ft_stream_slot(c->s, r, ft_nodes_unit(f->op, i), &c->plan);

        ft_nodes_push(f, (r == c->s->rank ? ft_nodes_own(f->op, i) : slot) + from);
    }
}

char *ft_nodes_local_partial(const struct ft_nodes_op *op, uint64_t u)
{
    const struct ft_stream *s = op->n->s;

    return s->partials + (u & (s->params->slot_depth - 1)) * s->params->slot_bytes;
}

/* My chunk of the partial. User functions do not see memory that others read. */
static void make_chunk(const struct ft_nodes_op *op, uint64_t i)
{
    const struct ft_coll *c = op->c;
    uint64_t result = ft_coll_result(c, i), from, to;
    char *chunk = ft_nodes_local_partial(op, ft_nodes_unit(op, i));
    bool user = c->op && c->op->reduction == FT_USER;
    struct ft_nodes_fold f = { .op = op };

    ft_plan_chunk(result, c->elem, c->s->n, c->s->rank, &from, &to);
    if (from == to)
        return;
    f.n = to - from;
    f.acc = user ? op->c->acc : chunk + from;
    ft_point_bulk(chunk + from, f.n);
    ft_nodes_push_slots(&f, i, from);
    if (user)
        ft_fill(chunk + from, f.acc, f.n);
}

int ft_nodes_verify(struct ft_nodes_op *op, struct ft_error *e)
{
    int err = op->kind == FT_UNIT_REDUCE ? ft_stream_verify_entry(op->c->s, e) : ft_stream_verify(op->c->s, e);

    op->verified = !err;
    return err;
}

static int make(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t i = op->made, u = ft_nodes_unit(op, i), result, position = ft_nodes_place(op, i, op->made_at, &result), n;
    int err = 0;

    if (ft_peek(&ft_stream_counters(s, s->rank)->done) <= u && !op->small) {
        if (!op->verified && s->n > 1)
            err = ft_nodes_verify(op, e);
        if (err)
            return err;
        if (op->kind == FT_UNIT_REDUCE) {
            if (s->n > 1)
                make_chunk(op, i);
        } else if (op->kind == FT_UNIT_GATHER) {
            n = ft_coll_slice(c, s->me, i);
            if (n) {
                uint64_t at = ft_nodes_slices_at(op, i, op->n->node);

                for (uint32_t r = 0; r < s->rank; r++)
                    at += ft_coll_slice(c, op->n->rank_at[op->n->first[op->n->node] + r], i);
                ft_view_fill(&c->send, ft_nodes_from(op, i), n,
                             ft_log_write(&s->log, position, result) + ft_record_offset(result) + at);
            }
        } else if (result) {
            ft_view_fill(&c->send, ft_nodes_from(op, i), result,
                         ft_log_write(&s->log, position, result) + ft_record_offset(result));
        }
    }
    op->made_at = position + ft_record_bytes(result);
    op->made++;
    if (s->rank != 0) {
        ft_stream_done(s, u + 1, op->made_at);
        if (!op->takes)
            ft_stream_leave(s, op->made_at);
    }
    return 0;
}

static bool can_make(const struct ft_nodes_op *op)
{
    struct ft_stream *s = op->c->s;
    uint64_t u = ft_nodes_unit(op, op->made), depth = s->params->slot_depth;
    struct ft_await a;

    if (op->made >= op->c->plan.units || op->made >= op->in || obstacle(op) >= 0 || lacks_memory(op, &a))
        return false;
    return op->takes ? op->made - op->out < depth : u < depth || ft_stream_committed(s, u - depth);
}

static int consume(struct ft_nodes_op *op, struct ft_error *e)
{
    struct ft_coll *c = op->c;
    struct ft_stream *s = c->s;
    uint64_t i = op->out, result, position = ft_nodes_place(op, i, op->out_at, &result), at = ft_record_offset(result);
    int err = 0;

    if (!op->verified && !ft_stream_replays(s, ft_nodes_unit(op, i)))
        err = ft_stream_verify(s, e);  /* everybody here is done, and may have called something else */
    op->verified = true;
    if (!err && !op->checked)
        err = ft_stream_check_record(s, position, ft_nodes_unit(op, i), e);
    op->checked = !err;
    if (!err && op->kind != FT_UNIT_GATHER) {
        if (result)
            err = ft_coll_read(c, position, at, &c->recv, ft_nodes_from(op, i), result,
                               op->past_cache, e);
    } else {
        for (uint32_t place = 0; place < s->size && !err; place++) {
            uint32_t r = op->n->rank_at[place];
            struct ft_view part = ft_view_part(&c->recv, r);
            uint64_t n = ft_coll_slice(c, r, i);

            if (n)
                err = ft_coll_read(c, position, at, &part, ft_nodes_from(op, i), n, op->past_cache,
                                   e);
            at += n;
        }
    }
    op->out_at = position + ft_record_bytes(result);
    op->out++;
    ft_stream_leave(s, op->out_at);
    return err;
}

/* A local rank that unit u's commit waits for, not counting this one; NULL: none. */
static bool awaits_commit(const struct ft_nodes_op *op, uint64_t u, struct ft_await *a)
{
    struct ft_stream *s = op->c->s;

    for (uint32_t i = 1; i < s->n; i++) {
        *a = (struct ft_await){ .kind = FT_AWAIT_DONE, .rank = ft_stream_before(s, i), .all = true, .unit = u };
        if (ft_look(ft_stream_awaited(s, a)) <= u)
            return true;
    }
    return false;
}

int ft_nodes_local_steps(struct ft_nodes_op *op, struct ft_error *e)
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
    if (op->out < op->made && op->takes && ft_stream_committed(s, ft_nodes_unit(op, op->out))) {
        err = consume(op, e);
        if (err)
            return err;
        moved = 1;
    }
    return moved;
}

bool ft_nodes_over(const struct ft_nodes_op *op)
{
    return op->made == op->c->plan.units && op->out == op->c->plan.units;
}

bool ft_nodes_awaits(const struct ft_nodes_op *op, struct ft_await *a)
{
    struct ft_stream *s = op->c->s;
    uint64_t u;

    ft_point_look();
    if (op->made < op->in && op->made < op->c->plan.units) {
        int64_t rank = obstacle(op);

        *a = (struct ft_await){ .kind = op->kind == FT_UNIT_REDUCE ? FT_AWAIT_CONTRIBUTED : FT_AWAIT_CALLED, .rank = (uint32_t)rank, .all = true,
                                .unit = op->kind == FT_UNIT_REDUCE ? ft_nodes_unit(op, op->made) : s->first };
        if (rank >= 0 || lacks_memory(op, a))
            return true;
    }
    if (op->takes && op->out < op->made)
        return awaits_commit(op, ft_nodes_unit(op, op->out), a);
    u = ft_nodes_unit(op, ft_min(op->made, op->c->plan.units)); /* a full window; in == made: of slots */
    return u >= s->params->slot_depth && awaits_commit(op, u - s->params->slot_depth, a);
}
