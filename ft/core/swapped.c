/* SPDX-License-Identifier: BSD-3-Clause */
/* Swapped: an allgather of two ranks through slots.

   When: two ranks, contributions of 8 KiB to 4 MiB.
   How: each contributes its slice of a unit into its slot, and has it where it receives it; the other one copies it from there to where it receives it and into the log. So the log has
   each part from the rank that does not give it.
   Cost for each rank, B bytes of each: B copied in and B copied out twice, past the cache; both at the same time. Through the log (log_gather.c) the other one reads what has just been
   written to memory that no cache has. */
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

static uint64_t segment(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    (void)sig;
    (void)bytes;
    return ft_min(ft_max(FT_LINE, ft_align(p->gather_bytes / p->nranks, FT_LINE)), p->slot_room);
}

static void contribute(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)position;
    (void)result;
    ft_stream_fill(x->c->s, ft_units_slot(x, x->in), ft_units_own(x, x->in), ft_units_own_bytes(x, x->in));
}

static void keep(struct ft_units *x, uint64_t position, uint64_t result)
{
    (void)position;
    (void)result;
    ft_units_keep_own(x, x->in, ft_units_own(x, x->in));
}

/* What it gave is the other one's to log: so it comes out of the slot, as long as the unit is not committed. */
static void take_over(struct ft_units *x)
{
    if (ft_peek(&x->c->s->counters[x->c->s->rank].done) <= ft_units_unit(x, x->in))
        ft_units_keep_own(x, x->in, ft_units_slot(x, x->in));
}

static void produce(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    uint32_t other = 1 - c->s->rank;
    uint64_t n = ft_coll_slice(c, other, x->made);
    char *payload = ft_log_write(&c->s->log, position) + ft_record_offset(result) + ft_coll_slice_at(c, x->made, other);

    if (n) {
        ft_point_bulk(payload, n);
        x->unordered |= ft_coll_receive_logged(c, x->made, ft_units_part(x, other, x->made), payload, n);
    }
    if (ft_coll_leads(c))
        ft_units_head(x, position, result);
}

static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    uint64_t at = ft_record_offset(result);
    int err = 0;

    for (uint32_t r = 0; r < 2 && x->out < x->fresh && !err; r++) {
        uint64_t n = ft_coll_slice(c, r, x->out);

        if (n)
            err = ft_stream_read(c->s, position, at, ft_units_part(x, r, x->out), n, x->past_cache, e);
        at += n;
    }
    return err;
}

static const struct ft_steps steps = {
    .contribute = contribute, .keep = keep, .take_over = take_over, .produce = produce, .after = FT_AFTER_ITSELF, .consume = consume};

static int run(struct ft_coll *c, struct ft_error *e) { return ft_units_run(c, &steps, FT_FROM_ALL, e); }

const struct ft_algorithm ft_swapped = {"swapped", segment, run};
