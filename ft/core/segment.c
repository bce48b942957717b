/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/segment.h"

#include <string.h>

#include "ft/base/copy.h"

enum { PREFETCH = 8192 };

static bool is_swapped(const struct ft_run *x) { return x->c->plan.swapped; }

/* What this rank folds of a result of n bytes, and does not contribute. */
static void my_chunk(const struct ft_run *x, uint64_t n, uint64_t *from, uint64_t *to)
{
    *from = 0;
    *to = ft_run_sends(x) ? 0 : n;
    if (!x->relayed)
        ft_plan_chunk(n, x->c->elem, x->c->s->n, x->c->s->rank, from, to);
}

static char *slot_of(const struct ft_coll *c, uint64_t i) { return ft_stream_slot(c->s, c->s->rank, c->s->first + i, &c->plan); }

/* ---- contribute ---- */

/* Of a result that is contributions side by side: this rank's n bytes of unit i to where they are received, if they are not there. */
static void keep_slice(const struct ft_run *x, uint64_t i, const char *from, uint64_t n)
{
    const struct ft_coll *c = x->c;
    char *to = c->recv ? c->recv + ft_coll_displ(c, c->s->rank) + i * c->plan.segment : NULL;

    if (n && to && to != from)
        ft_copy(to, from, n, x->past_cache);
}

/* Into the entry and, while it is at hand, to where it is to be received. */
static void write_slice(const struct ft_run *x, uint64_t i, uint64_t position, uint64_t result)
{
    const struct ft_coll *c = x->c;
    char *record = ft_log_write(&c->s->log, position);
    uint32_t me = c->s->rank;
    uint64_t n = ft_coll_slice(c, me, i);
    const char *from = c->send + i * c->plan.segment;

    if (n)
        ft_fill_past(record + ft_record_offset(result) + ft_coll_slice_at(c, i, me), from, n, n >= c->s->params->gather_past_min);
    keep_slice(x, i, from, n);
    if (ft_coll_leads(c))
        ft_stream_write_head(c->s, ft_run_unit(x, i), x->in_at, position, result);
}

/* My own chunk is folded by me alone, straight from my buffer: a successor has it there too. */
static void fill_slot(const struct ft_run *x, uint64_t i)
{
    const struct ft_coll *c = x->c;
    uint64_t n = ft_coll_slice(c, c->s->rank, i);
    const char *from = c->send + i * c->plan.segment;
    char *slot = slot_of(c, i);

    if (ft_run_adds(x)) {
        ft_point_bulk(slot, n);
        ft_coll_fold_next(c, i, slot, n);
    } else if (x->relayed || is_swapped(x) || c->plan.doubled) {
        ft_stream_fill(c->s, slot, from, n);
    } else {
        ft_stream_fill_chunks(c->s, slot, from, n, c->elem);
    }
}

void ft_run_keep(const struct ft_run *x, uint64_t i)
{
    const struct ft_coll *c = x->c;

    if (is_swapped(x))
        keep_slice(x, i, c->send + i * c->plan.segment, ft_coll_slice(c, c->s->rank, i));
}

void ft_run_contribute(struct ft_run *x, uint64_t i, uint64_t position, uint64_t result)
{
    if (ft_run_gathers(x) && !is_swapped(x))
        write_slice(x, i, position, result);
    else
        fill_slot(x, i);
}

/* What it gave comes out of the log; swapped, that is the other one's to write, so out of the slot as long as the unit is not committed. */
void ft_run_take_over(struct ft_run *x, uint64_t i)
{
    struct ft_coll *c = x->c;

    if (c->plan.doubled) {
        c->in_slot = i + 1;
    } else if (is_swapped(x)) {
        if (ft_peek(&c->s->counters[c->s->rank].done) <= ft_run_unit(x, i))
            keep_slice(x, i, slot_of(c, i), ft_coll_slice(c, c->s->rank, i));
    } else if (!x->relayed) {
        x->fresh = i + 1;
    }
}

/* Larger ones are streams, which the hardware sees coming. */
void ft_run_expect(const struct ft_run *x, uint64_t position, uint64_t result)
{
    uint64_t from, to;
    const char *record;

    if (x->c->plan.units > 1 || ft_run_gathers(x) || (x->c->plan.doubled && ft_coll_logs_past(x->c)))
        return;
    my_chunk(x, result, &from, &to);
    record = from < to ? ft_log_at_hand(&x->c->s->log, position) : NULL;
    if (record)
        ft_prefetch_write(record + ft_record_offset(result) + from, ft_min(to - from, PREFETCH));
}

/* ---- produce ---- */

/* The n bytes that the other one has in its slot, to where they are received and into the log. */
static void receive(const struct ft_run *x, char *to, char *log, uint64_t n)
{
    if (n == 0)
        return;
    ft_point_bulk(log, n);
    ft_coll_receive_logged(x->c, x->made, to + x->made * x->c->plan.segment, log, n);
}

static void receive_slice(const struct ft_run *x, char *payload)
{
    const struct ft_coll *c = x->c;
    uint32_t other = 1 - c->s->rank;

    receive(x, c->recv + ft_coll_displ(c, other), payload + ft_coll_slice_at(c, x->made, other), ft_coll_slice(c, other, x->made));
}

/* My chunk of everybody's segments. */
static void fold_chunk(const struct ft_run *x, char *payload, uint64_t result)
{
    struct ft_coll *c = x->c;
    uint64_t from, to;

    my_chunk(x, result, &from, &to);
    if (from == to)
        return;
    ft_point_bulk(payload + from, to - from);
    if (x->direct)
        ft_coll_fold_logged(c, x->made, from, c->recv + x->made * c->plan.segment + from, payload + from, to - from);
    else
        ft_coll_fold_chunk(c, x->made, from, payload + from, to - from, x->acc, x->scratch);
}

/* All of it, and my chunk into the log as well. Of a result that is known (bootstrap_key.c) only the latter, and nobody says what operator it is of. */
static void fold_all(const struct ft_run *x, char *payload, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *to = c->recv + x->made * c->plan.segment;
    uint64_t from, end;

    my_chunk(x, result, &from, &end);
    ft_point_bulk(payload + from, end - from);
    if (c->known) {
        memcpy(payload + from, to + from, end - from);
        return;
    }
    ft_coll_fold_chunk(c, x->made, 0, to, from, NULL, NULL);
    ft_coll_fold_logged(c, x->made, from, to + from, payload + from, end - from);
    ft_coll_fold_chunk(c, x->made, end, to + end, result - end, NULL, NULL);
}

void ft_run_produce(struct ft_run *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *record, *payload;

    if (ft_run_sends(x)) {
        ft_log_pass(&c->s->log, position);
        return;
    }
    if (ft_run_gathers(x) && !is_swapped(x))
        return;
    record = ft_log_write(&c->s->log, position);
    payload = record + ft_record_offset(result);
    if (ft_run_is_bcast(x))
        ft_fill_past(payload, c->send + x->made * c->plan.segment, result, c->bytes >= c->s->params->bcast_past_min);
    else if (is_swapped(x))
        receive_slice(x, payload);
    else if (c->s->sig.call == FT_CALL_BCAST)
        receive(x, c->recv, payload, result);
    else if (c->plan.doubled)
        fold_all(x, payload, result);
    else
        fold_chunk(x, payload, result);
    if (x->relayed || (ft_run_is_bcast(x) ? ft_run_gives(x) : ft_coll_leads(c)))
        ft_stream_write_head(c->s, ft_run_unit(x, x->made), x->made_at, position, result);
}

/* ---- consume ---- */

static int read_slices(struct ft_run *x, uint64_t position, uint64_t at, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->out;
    int err = 0;

    for (uint32_t r = 0; r < s->n && !err; r++) {
        uint64_t n = ft_coll_slice(c, r, i);
        char *to = c->recv + ft_coll_displ(c, r) + i * c->plan.segment;

        if (n && (i < x->fresh || (r != s->rank && !is_swapped(x))))
            err = ft_stream_read(s, position, at, to, n, x->past_cache, e);
        at += n;
    }
    return err;
}

int ft_run_consume(struct ft_run *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    uint64_t at = ft_record_offset(result), mine = result, end = result;  /* my chunk, if it is there */
    char *to = c->recv + x->out * c->plan.segment;
    int err = 0;

    if (ft_run_gathers(x))
        return read_slices(x, position, at, e);
    if (c->plan.doubled && x->out >= x->fresh)
        return 0;
    if (x->direct && x->out >= x->fresh)
        my_chunk(x, result, &mine, &end);
    if (mine > 0)
        err = ft_stream_read(c->s, position, at, to, mine, x->past_cache, e);
    if (!err && end < result)
        err = ft_stream_read(c->s, position, at + end, to + end, result - end, x->past_cache, e);
    return err;
}

/* ---- the next operation ---- */

/* One piece of the log that this rank writes straight away: through the cache. */
static bool writes_alone(const struct ft_run *x)
{
    return ft_run_is_bcast(x) ? ft_coll_leads(x->c) : x->relayed && !ft_run_sends(x) && x->c->bytes < FT_LOGGED_PAST_CACHE;
}

/* It is likely to be like this one, perhaps behind a short one: what this rank will write of a middling entry straight away, which is memory
   nobody has touched for long, is to be in the cache by then. */
void ft_run_prepare(const struct ft_run *x)
{
    const struct ft_coll *c = x->c;
    bool own = ft_run_gathers(x) && !is_swapped(x);
    uint64_t result = ft_coll_result(c, 0), from = 0, n = result;
    const char *next;

    if (c->plan.units > 1 || !(own || writes_alone(x)))
        return;
    if (own) {
        from = ft_coll_slice_at(c, 0, c->s->rank);
        n = ft_coll_part(c, c->s->rank);
    }
    next = ft_log_at_hand(&c->s->log, x->made_at);
    if (next)
        ft_prefetch_write(next + ft_record_offset(result) + from, ft_min(n + FT_LINE, PREFETCH));
}
