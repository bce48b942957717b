/* SPDX-License-Identifier: BSD-3-Clause */
/* Redundant: an allreduce of two ranks, each of which adds all of it.

   When: two ranks, from what is too big for the short way up to 4 MiB (not with --allreduce
   halved).
   How: each contributes its whole segment, and folds both to where it receives the result, of
   which it logs its chunk from there. So each has the result as soon as it has the other one's
   contribution, and nothing is read in the log but by successors. Of what a dead incarnation has
   contributed its successor takes that, from its slot, as the other one does: they would not
   have the same if it took what it would contribute itself (RULE 29).
   Cost for each rank, B bytes: B copied in, 2B read and 1.5B written; the two cross once, where
   chunks cross twice, one after the other. */
#include "ft/base/copy.h"
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

/* What goes past the cache is not fetched for it. */
static void keep(struct ft_units *x, uint64_t position, uint64_t result)
{
    uint64_t from, to;

    if (x->c->plan.units > 1 || ft_coll_logs_past(x->c))
        return;
    ft_units_chunk(x, result, &from, &to);
    ft_units_prefetch(x, position, result, from, to - from);
}

static void take_over(struct ft_units *x) { x->c->in_slot = x->in + 1; }

/* Of a result that is known (bootstrap_key.c) only what goes into the log, and nobody says what
   operator it is of. */
static void produce(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *payload = ft_log_write(&c->s->log, position, result) + ft_record_offset(result), *to = ft_units_result(x, x->made);
    uint64_t from, end;

    ft_units_chunk(x, result, &from, &end);
    ft_point_bulk(payload + from, end - from);
    if (c->known) {
        ft_view_pack(&c->recv, ft_units_at(x, x->made) + from, end - from, payload + from);
    } else {
        ft_coll_fold_chunk(c, x->made, 0, to, from, NULL, NULL);
        x->unordered |= ft_coll_fold_logged(c, x->made, from, to + from, payload + from, end - from);
        ft_coll_fold_chunk(c, x->made, end, to + end, result - end, NULL, NULL);
    }
    if (ft_coll_leads(c))
        ft_units_head(x, position, result);
}

static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    return x->out < x->fresh ? ft_units_read(x, position, result, 0, result, e) : 0;
}

static const struct ft_steps steps = {
    .contribute = ft_units_contribute, .keep = keep, .take_over = take_over, .produce = produce,
    .after = FT_AFTER_ITSELF, .consume = consume};

static int start(struct ft_coll *c, struct ft_error *e) { return ft_units_start(c, &steps, FT_FROM_ALL, e); }

const struct ft_algorithm ft_redundant = {ft_units_slots, start, ft_units_step, NULL};
