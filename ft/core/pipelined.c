/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined: pieces go from rank to rank, through slots, to the one that receives the result.

   When: a bcast or a reduce of two ranks that is not short; a reduce to rank 0 of three or four
   ranks that share processors, not by a user function.
   How: who gets no result contributes whole pieces, is done with them then, and waits for nobody
   but a free slot. Who receives copies them to where it receives them, or folds them there with
   its own, and writes the log on the way, past the cache. Of more than two ranks each adds what
   it contributes to what the next one has in its slot, into its own slot: from the last to the
   first. A rank looks at the signature of whom it reads from, who has looked at the next one's,
   and so on. Of a piece that a predecessor has contributed to the slot has what was made of it,
   and that counts. Nobody but the receiver needs the log, for its successor, so the data cross
   once, and no part of the result comes back.
   Cost of B bytes: B copied (or added) by each rank, and B logged by the receiver; pieces are a
   quarter of B, from 4 to 64 KiB, since each costs the news of it, some 0.1 us, and a record's
   head. Pieces that are there already are taken together: to order what went past the cache
   takes as long as 3 KiB take to be received, and nobody waits for `done` but a sender without a
   slot. */
#include "ft/base/copy.h"
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

enum { PIECES = 4, LEAST_PIECE = 4096, MOST_ADDED = 64 << 10 };

static uint64_t piece(uint64_t bytes) { return ft_max(ft_align(bytes / PIECES, FT_LINE), LEAST_PIECE); }

static uint64_t segment_of_bcast(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    (void)sig;
    return ft_min(p->slot_bytes, piece(bytes));
}

static uint64_t segment_of_reduce(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    return ft_min(p->slot_bytes / sig->elem, ft_max(ft_min(piece(bytes), MOST_ADDED) / sig->elem, 1)) * sig->elem;
}

/* ---- who sends ---- */

static void add(struct ft_units *x, uint64_t position, uint64_t result)
{
    char *slot = ft_units_slot(x, x->in);

    (void)position;
    ft_point_bulk(slot, result);
    ft_coll_fold_next(x->c, x->in, slot, result);
}

static void take_over(struct ft_units *x) { (void)x; }

/* ---- who receives ---- */

static void receive(struct ft_units *x, uint64_t position, uint64_t result)
{
    char *payload = ft_log_write(&x->c->s->log, position, result) + ft_record_offset(result);

    ft_point_bulk(payload, result);
    x->unordered |= ft_coll_receive_logged(x->c, x->made, payload, result);
    ft_units_head(x, position, result);
}

static void fold(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *payload = ft_log_write(&c->s->log, position, result) + ft_record_offset(result);

    ft_point_bulk(payload, result);
    if (c->op->reduction == FT_USER)
        ft_coll_fold_chunk(c, x->made, 0, payload, result, c->acc, c->scratch);
    else
        x->unordered |= ft_coll_fold_logged(c, x->made, 0, ft_units_result(x, x->made), payload, result);
    ft_units_head(x, position, result);
}

/* What a user function has folded is in the log only. */
static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    bool has_it = x->out >= x->fresh && !(x->c->op && x->c->op->reduction == FT_USER);

    return has_it ? 0 : ft_units_read(x, position, result, 0, result, e);
}

static void prepare(const struct ft_units *x)
{
    uint64_t result = ft_coll_result(x->c, 0);

    if (!ft_coll_logs_past(x->c))
        ft_units_prefetch(x, x->made_at, result, 0, result + FT_LINE);
}

/* ---- both ---- */

static const struct ft_steps sends = {.contribute = ft_units_contribute, .take_over = take_over};
static const struct ft_steps adds = {.adds = true, .contribute = add, .take_over = take_over};
static const struct ft_steps receives = {.takes_more = true, .produce = receive, .after = FT_AFTER_ITSELF, .consume = consume, .prepare = prepare};
static const struct ft_steps folds = {.takes_more = true, .produce = fold, .after = FT_AFTER_ITSELF, .consume = consume, .prepare = prepare};

static int start_bcast(struct ft_coll *c, struct ft_error *e)
{
    return ft_coll_receives(c) ? ft_units_start(c, &receives, c->root, e)
                                 : ft_units_start(c, &sends, FT_FROM_NOBODY, e);
}

/* The chain: of more than two ranks from the last to the first. */
static int start_reduce(struct ft_coll *c, struct ft_error *e)
{
    uint32_t n = c->s->n, me = c->s->rank, next = n == 2 ? 1 - me : me + 1;

    if (ft_coll_receives(c))
        return ft_units_start(c, &folds, next, e);
    return n > 2 && next < n ? ft_units_start(c, &adds, next, e) : ft_units_start(c, &sends, FT_FROM_NOBODY, e);
}

const struct ft_algorithm ft_pipelined_bcast = {segment_of_bcast, start_bcast, ft_units_step, NULL};
const struct ft_algorithm ft_pipelined_reduce = {segment_of_reduce, start_reduce, ft_units_step, NULL};
