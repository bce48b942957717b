/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunked: a reduction of which each rank adds a chunk of every segment (reduce-scatter, and an
   allgather through the log).

   When: reductions that no other way takes: what is too big for the short way, of more than two
   ranks, or (an allreduce) of 4 MiB and more.
   How: each rank copies its segment, less its own chunk, into its slot; folds its chunk of
   everybody's segments, from the right, into the log; and copies the committed record to where
   it receives it. Two ranks' large results go to where they are received first, and from there,
   past the cache, into the log.
   Cost for each of n ranks, B bytes: B(n-1)/n copied in, B read and B/n written, B copied out,
   through slots and entries that stay in cache. */
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

/* What this rank folds goes to where it receives it, and into the log from there. */
static bool folds_to_result(const struct ft_units *x)
{
    return x->past_cache && x->c->s->n == 2 && ft_coll_receives(x->c) &&
           x->c->op->reduction != FT_USER;
}

/* My own chunk is folded by me alone, straight from my buffer: a successor has it there too. */
static void contribute(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)position;
    (void)result;
    ft_stream_fill_chunks(x->c->s, ft_units_slot(x, x->in), &x->c->send, ft_units_at(x, x->in),
                          ft_units_own_bytes(x, x->in), x->c->elem);
}

/* While others still contribute: what this rank will write of the log. */
static void keep(struct ft_units *x, uint64_t position, uint64_t result)
{
    uint64_t from, to;

    if (x->c->plan.units > 1)
        return;
    ft_units_chunk(x, result, &from, &to);
    ft_units_prefetch(x, position, result, from, to - from);
}

static void take_over(struct ft_units *x) { x->fresh = x->in + 1; }

static void produce(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *payload = ft_log_write(&c->s->log, position, result) + ft_record_offset(result);
    uint64_t from, to;

    ft_units_chunk(x, result, &from, &to);
    if (from < to) {
        ft_point_bulk(payload + from, to - from);
        if (folds_to_result(x))
            x->unordered |= ft_coll_fold_logged(c, x->made, from, ft_units_result(x, x->made) + from, payload + from, to - from);
        else
            ft_coll_fold_chunk(c, x->made, from, payload + from, to - from, c->acc, c->scratch);
    }
    if (ft_coll_leads(c))
        ft_units_head(x, position, result);
}

static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    uint64_t mine = result, end = result;
    int err;

    if (folds_to_result(x) && x->out >= x->fresh)
        ft_units_chunk(x, result, &mine, &end);
    err = ft_units_read(x, position, result, 0, mine, e);
    return err ? err : ft_units_read(x, position, result, end, result, e);
}

static const struct ft_steps steps = {
    .contribute = contribute, .keep = keep, .take_over = take_over, .produce = produce, .after = FT_AFTER_ALL, .consume = consume};

static int start(struct ft_coll *c, struct ft_error *e) { return ft_units_start(c, &steps, FT_FROM_ALL, e); }

const struct ft_algorithm ft_chunked = {ft_units_slots, start, ft_units_step, NULL};
