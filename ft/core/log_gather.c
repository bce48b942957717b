/* SPDX-License-Identifier: BSD-3-Clause */
/* An allgather through the log: each rank writes its slice into the record, and reads the
   others' there. Also a reduction whose elements are too big for slots: each rank gathers all
   contributions and folds them itself (ft/collective.c).

   When: an allgather that is not short.
   How: the writing is the contribution, so when everybody has contributed the record is
   complete: it is consumed then, by who is alive, and `done` is for replays.
   Cost for each of n ranks, B bytes of each: B written into memory that no cache has, (n-1)B
   read there, B copied to where it receives its own. */
#include "ft/base/copy.h"
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

static uint64_t segment(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    (void)sig;
    (void)bytes;
    return ft_max(FT_LINE, ft_align(p->gather_bytes / p->nranks, FT_LINE));
}

static void keep_own(const struct ft_units *x)
{
    struct ft_view to = ft_view_part(&x->c->recv, x->c->s->rank);

    if (ft_coll_receives(x->c))
        ft_view_move(&to, &x->c->send, ft_units_at(x, x->in), ft_units_own_bytes(x, x->in),
                     x->past_cache);
}

/* Into the record and, while it is at hand, to where it is received. */
static void contribute(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    char *payload = ft_log_write(&s->log, position, result) + ft_record_offset(result);
    uint64_t n = ft_units_own_bytes(x, x->in);

    if (n)
        ft_view_fill_past(&c->send, ft_units_at(x, x->in), n,
                          payload + ft_coll_slice_at(c, x->in, s->rank),
                          n >= s->params->gather_past_min);
    keep_own(x);
    if (ft_coll_leads(c))
        ft_stream_write_head(s, ft_units_unit(x, x->in), x->in_at, position, result);
}

static void take_over(struct ft_units *x) { x->fresh = x->in + 1; }

/* The record is complete. */
static void produce(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)x;
    (void)position;
    (void)result;
}

static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    uint64_t at = ft_record_offset(result);
    int err = 0;

    for (uint32_t r = 0; r < c->s->n && !err; r++) {
        struct ft_view part = ft_view_part(&c->recv, r);
        uint64_t n = ft_coll_slice(c, r, x->out);

        if (n && (r != c->s->rank || x->out < x->fresh))
            err = ft_coll_read(c, position, at, &part, ft_units_at(x, x->out), n, x->past_cache, e);
        at += n;
    }
    return err;
}

static void prepare(const struct ft_units *x)
{
    const struct ft_coll *c = x->c;

    ft_units_prefetch(x, x->made_at, ft_coll_result(c, 0), ft_coll_slice_at(c, 0, c->s->rank), ft_coll_part(c, c->s->rank) + FT_LINE);
}

static const struct ft_steps steps = {
    .logs = true, .contribute = contribute, .take_over = take_over, .produce = produce, .after = FT_AFTER_ITSELF, .consume = consume, .prepare = prepare};

static int start(struct ft_coll *c, struct ft_error *e) { return ft_units_start(c, &steps, FT_FROM_ALL, e); }

const struct ft_algorithm ft_log_gather = {segment, start, ft_units_step, NULL};
