/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/units.h"

#include "ft/base/copy.h"
#include "ft/core/progress.h"

enum { PREFETCH = 8192 };  /* larger ones are streams, which the hardware sees coming */

static uint64_t place(const struct ft_units *x, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(x->c, i);
    return ft_log_place(&x->c->s->log, before, *result);
}

/* ---- what keeps this rank from a step: true, and for whom it has to wait ---- */

static bool awaits(struct ft_await *a, enum ft_await_kind kind, int64_t rank, bool all, uint64_t unit)
{
    *a = (struct ft_await){ .kind = kind, .rank = (uint32_t)rank, .all = all, .unit = unit };
    return rank >= 0;
}

/* Until the slot of unit u - depth, and whoever reads there, is through. */
static bool awaits_window(struct ft_stream *s, uint64_t u, struct ft_await *a)
{
    uint64_t depth = s->params->slot_depth;

    return u >= depth && awaits(a, FT_AWAIT_DONE, ft_stream_behind(s, u - depth), true, u - depth);
}

/* Until the contributions that unit u is made from are there. */
static bool awaits_contributions(struct ft_units *x, uint64_t u, struct ft_await *a)
{
    struct ft_stream *s = x->c->s;

    if (x->from == FT_FROM_ALL)
        return awaits(a, FT_AWAIT_CONTRIBUTED, ft_stream_lacking(s, u), true, u);
    return awaits(a, FT_AWAIT_CONTRIBUTED, ft_look(&ft_stream_counters(s, x->from)->contributed) > u ? -1 : x->from, false, u);
}

/* Until there is memory for the record of unit i. */
static bool awaits_memory(struct ft_units *x, uint64_t i, uint64_t before, struct ft_await *a)
{
    uint64_t result, position = place(x, i, before, &result);

    return ft_stream_lacks_memory(x->c->s, position, result, a);
}

static bool contribution_awaits(struct ft_units *x, struct ft_await *a)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_units_unit(x, x->in);

    if (ft_peek(&ft_stream_counters(s, s->rank)->contributed) > u)
        return false;
    return (x->steps->adds && awaits_contributions(x, u, a)) || awaits_window(s, u, a) ||
           (x->steps->logs && awaits_memory(x, x->in, x->in_at, a));
}

static bool production_awaits(struct ft_units *x, struct ft_await *a)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_units_unit(x, x->made);

    if (ft_peek(&ft_stream_counters(s, s->rank)->done) > u)
        return false;
    return (x->from == FT_FROM_NOBODY ? awaits_window(s, u, a) : awaits_contributions(x, u, a)) ||
           (x->steps->produce && !x->steps->logs && awaits_memory(x, x->made, x->made_at, a));
}

static bool consumption_awaits(struct ft_units *x, struct ft_await *a)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_units_unit(x, x->out);

    if (x->steps->after == FT_AFTER_ALL || ft_stream_replays(s, u))
        return awaits(a, FT_AWAIT_DONE, ft_stream_behind(s, u), true, u);
    if (x->steps->after == FT_AFTER_ROOT)
        return awaits(a, FT_AWAIT_DONE, ft_look(&ft_stream_counters(s, x->c->root)->done) > u ? -1 : x->c->root, false, u);
    return false;
}

/* Whether there is a unit for it. */
static bool may_produce(const struct ft_units *x)
{
    return x->made < x->in && (x->out == x->c->plan.units || x->made - x->out < x->c->s->params->slot_depth);
}

/* For whom to wait when nothing could be done. False: something can be done now, since others
   have moved on meanwhile. Never for this rank: waiting for the last contribution once more, and
   then for `done` of the first who has not done what we have not done either, had all ranks
   asleep for ever (explore finds it by the point here). */
static bool blocked(struct ft_units *x, struct ft_await *a)
{
    bool is;

    ft_point_look();
    if (may_produce(x))
        is = production_awaits(x, a);
    else if (x->out < x->made)
        is = consumption_awaits(x, a);
    else
        is = contribution_awaits(x, a);
    FT_INVARIANT(!is || a->kind == FT_AWAIT_MEMORY || a->rank != x->c->s->rank, "a rank does not wait for itself");
    return is;
}

/* ---- the steps ---- */

/* Are those whose contributions this rank works with in the same operation? A root that gives to
   all asks nobody, but says which one it is in. */
static int verify(struct ft_units *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    int err = 0;

    if (x->from == FT_FROM_ALL)
        err = ft_stream_verify_entry(s, e);
    else if (x->from >= 0)
        err = ft_stream_verify_entry_of(s, (uint32_t)x->from, e);
    else if (!x->steps->contribute)
        ft_stream_enter(s);
    x->verified = !err;
    return err;
}

static int contribute(struct ft_units *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    struct ft_counters *mine = ft_stream_counters(s, s->rank);
    uint64_t u = ft_units_unit(x, x->in), result, position = place(x, x->in, x->in_at, &result);

    if (ft_peek(&mine->contributed) > u) {
        x->steps->take_over(x);
    } else {
        int err = x->steps->adds && !x->verified ? verify(x, e) : 0;

        if (err)
            return err;
        x->steps->contribute(x, position, result);
        if (x->in == 0)
            ft_stream_enter(s);
        ft_stream_announce(s, FT_AWAIT_CONTRIBUTED, &mine->contributed, u + 1);
        if (x->steps->keep)
            x->steps->keep(x, position, result);
    }
    x->in++;
    x->in_at = position + ft_record_bytes(result);
    return 0;
}

static int produce_one(struct ft_units *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_units_unit(x, x->made), result, position = place(x, x->made, x->made_at, &result);

    if (ft_peek(&ft_stream_counters(s, s->rank)->done) > u) {
        x->fresh = x->made + 1;
    } else {
        int err = x->verified ? 0 : verify(x, e);

        if (err)
            return err;
        if (x->steps->produce)
            x->steps->produce(x, position, result);
        else
            ft_log_pass(&s->log, position);
    }
    x->made_at = position + ft_record_bytes(result);
    x->made++;
    return 0;
}

/* Up to half of the slots, so that whoever fills them has others meanwhile. */
static bool takes_more(struct ft_units *x, uint64_t taken)
{
    struct ft_await a;

    return x->steps->takes_more && x->made < x->c->plan.units && taken < x->c->s->params->slot_depth / 2 &&
           !awaits_contributions(x, ft_units_unit(x, x->made), &a) && !awaits_memory(x, x->made, x->made_at, &a);
}

static int produce(struct ft_units *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t first = x->made;

    do {
        int err = produce_one(x, e);

        if (err)
            return err;
    } while (takes_more(x, x->made - first));
    ft_copy_order(x->unordered);
    x->unordered = false;
    ft_stream_done(s, ft_units_unit(x, x->made), x->made_at);
    if (!ft_coll_receives(x->c))
        ft_stream_leave(s, x->made_at);
    return 0;
}

/* Whether unit `out` is of the operation that this rank is in: in a replay its record says so,
   else other ranks' words. */
static int check_unit(struct ft_units *x, uint64_t position, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_units_unit(x, x->out);
    int err = 0;

    if (ft_stream_replays(s, u)) {
        if (!x->checked)
            err = ft_stream_check_record(s, position, u, e);
        x->checked = !err;
    } else if (!x->verified) {  /* who only receives */
        err = verify(x, e);
    }
    return err;
}

static int consume(struct ft_units *x, struct ft_error *e)
{
    uint64_t result, position = place(x, x->out, x->out_at, &result);
    int err = check_unit(x, position, e);

    if (!err)
        err = x->steps->consume(x, position, result, e);
    x->out_at = position + ft_record_bytes(result);
    x->out++;
    /* One operation may be larger than all memory for the log. */
    ft_stream_leave(x->c->s, x->out_at);
    return err;
}

/* ---- all of them ---- */

/* 1: something was done; 0; an error. */
static int do_steps(struct ft_units *x, struct ft_error *e)
{
    uint64_t units = x->c->plan.units;
    struct ft_await a;
    int err = 0;
    bool moved = false;

    if (x->in < units && !contribution_awaits(x, &a)) {
        err = contribute(x, e);
        moved = true;
    }
    if (!err && may_produce(x) && !production_awaits(x, &a)) {
        err = produce(x, e);
        moved = true;
    }
    if (!err && x->out < x->made && !consumption_awaits(x, &a)) {
        err = consume(x, e);
        moved = true;
    }
    return err ? err : moved;
}

/* Who contributes nothing or receives nothing has nothing to do in those steps. */
static void skip_idle_steps(struct ft_units *x)
{
    uint64_t units = x->c->plan.units, result;

    if (!x->steps->contribute)
        x->in = units;
    if (!ft_coll_receives(x->c))
        x->out = units;
    if (x->steps->contribute || x->steps->produce)
        return;
    while (x->made < units) {
        x->made_at = place(x, x->made, x->made_at, &result);
        x->made_at += ft_record_bytes(result);
        x->made++;
    }
    ft_stream_done(x->c->s, ft_units_unit(x, units), x->made_at);
}

/* A result that nobody here consumes is not looked at by consume(): a replay checks its first
   record. 1; 0: before *a it cannot; an error. */
static int check_replayed(struct ft_units *x, struct ft_await *a, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t result, position = place(x, 0, s->end, &result);
    int err;

    if (!ft_stream_replays(s, s->first))
        return 1;
    if (awaits(a, FT_AWAIT_DONE, ft_stream_behind(s, s->first), true, s->first))
        return 0;
    err = ft_stream_check_record(s, position, s->first, e);
    x->checked = !err;
    return err ? err : 1;
}

int ft_units_start(struct ft_coll *c, const struct ft_steps *steps, int64_t from, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct ft_units *x = &c->progress->units;

    *x = (struct ft_units){ .c = c, .steps = steps, .from = from, .in_at = s->end, .made_at = s->end, .out_at = s->end,
                            .past_cache = ft_coll_total(c) >= s->params->past_cache };
    return c->op && c->op->reduction == FT_USER && !c->plan.gathered ? ft_coll_make_room(c, s->params->slot_bytes, e) : 0;
}

/* Who else had written there had said what it calls before that: the fence keeps the copies
   before this look. With two ranks there is nobody else. Also in a replay: as long as not
   all have met since, the trail has it. */
static int verify_all(struct ft_units *x, struct ft_error *e)
{
    if (x->steps->after != FT_AFTER_ROOT || x->c->s->n <= 2)
        return 0;
    atomic_thread_fence(memory_order_acquire);
    return ft_stream_verify(x->c->s, e);
}

/* As much as can be done. 1: all of it; 0: no more before *a; an error. */
static int advance(struct ft_units *x, struct ft_await *a, struct ft_error *e)
{
    uint64_t units = x->c->plan.units;
    int err;

    if (!x->begun) {
        int checked = check_replayed(x, a, e);

        if (checked <= 0)
            return checked;
        skip_idle_steps(x);
        x->begun = true;
    }
    while (x->made < units || x->out < units) {
        int moved = do_steps(x, e);

        if (moved < 0)
            return moved;
        if (moved == 0 && blocked(x, a))
            return 0;
    }
    err = verify_all(x, e);
    return err ? err : 1;
}

int ft_units_step(struct ft_coll *c, struct ft_await *a, struct ft_error *e)
{
    struct ft_units *x = &c->progress->units;
    int over = advance(x, a, e);

    if (over != 1)
        return over;
    ft_stream_end(c->s, c->plan.units, x->made_at);
    if (x->steps->prepare && c->plan.units == 1)
        x->steps->prepare(x);
    return 1;
}

/* ---- for algorithms ---- */

void ft_units_contribute(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)position;
    (void)result;
    ft_stream_fill(x->c->s, ft_units_slot(x, x->in), &x->c->send, ft_units_at(x, x->in),
                   ft_units_own_bytes(x, x->in));
}

uint64_t ft_units_slots(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    (void)bytes;
    return p->slot_bytes / sig->elem * sig->elem;
}

int ft_units_read(struct ft_units *x, uint64_t position, uint64_t result, uint64_t from, uint64_t to, struct ft_error *e)
{
    if (from == to)
        return 0;
    return ft_coll_read(x->c, position, ft_record_offset(result) + from, &x->c->recv,
                        ft_units_at(x, x->out) + from, to - from, x->past_cache, e);
}

void ft_units_prefetch(const struct ft_units *x, uint64_t position, uint64_t result, uint64_t from, uint64_t n)
{
    const char *record = n ? ft_log_at_hand(&x->c->s->log, position) : NULL;

    if (record)
        ft_prefetch_write(record + ft_record_offset(result) + from, ft_min(n, PREFETCH));
}
