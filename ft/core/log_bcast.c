/* SPDX-License-Identifier: BSD-3-Clause */
/* A bcast through the log: the root writes the record, and the others read it there.

   When: a bcast of more than two ranks that is not short.
   How: the root waits for nobody, but for those that are more than slot_depth units behind; each
   of the others for the root only.
   Cost: the root writes B bytes into memory that no cache has, each of the others reads them;
   nothing passes through slots. Pieces are read while the next one is written: the more ranks
   read, the longer a piece has to stay in the cache, so it is smaller. */
#include "ft/core/algorithm.h"
#include "ft/core/units.h"

enum { PIECES = 4, LEAST_PIECE = 4096, MOST_READ = 512 << 10, MOST_PIECE = 32 << 10 };

static uint64_t segment(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes)
{
    uint64_t piece = ft_max(ft_align(bytes / PIECES, FT_LINE), LEAST_PIECE);

    (void)sig;
    return ft_min(ft_min(p->slot_bytes, piece), ft_max(ft_align(MOST_READ / p->nranks, FT_LINE), MOST_PIECE));
}

static void produce(struct ft_units *x, uint64_t position, uint64_t result)
{
    struct ft_coll *c = x->c;
    char *payload = ft_log_write(&c->s->log, position, result) + ft_record_offset(result);

    ft_view_fill_past(&c->send, ft_units_at(x, x->made), result, payload,
                      c->bytes >= c->s->params->bcast_past_min);
    ft_units_head(x, position, result);
}

static void prepare(const struct ft_units *x)
{
    uint64_t result = ft_coll_result(x->c, 0);

    ft_units_prefetch(x, x->made_at, result, 0, result + FT_LINE);
}

static int consume(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e)
{
    return ft_units_read(x, position, result, 0, result, e);
}

static const struct ft_steps gives = {.produce = produce, .prepare = prepare};
static const struct ft_steps listens = {.after = FT_AFTER_ROOT, .consume = consume};

static int start(struct ft_coll *c, struct ft_error *e)
{
    return ft_coll_receives(c) ? ft_units_start(c, &listens, c->root, e)
                                 : ft_units_start(c, &gives, FT_FROM_NOBODY, e);
}

const struct ft_algorithm ft_log_bcast = {segment, start, ft_units_step, NULL};
