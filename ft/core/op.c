/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/op.h"

#include <string.h>

#include "ft/base/copy.h"

enum { BLOCK = 1024 };

uint64_t ft_coll_slice_at(const struct ft_coll *c, uint64_t u, uint32_t r)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < r; i++)
        at += ft_plan_slice(ft_coll_part(c, i), c->plan.segment, u);
    return at;
}

uint64_t ft_coll_result(const struct ft_coll *c, uint64_t u)
{
    if (!ft_coll_gathers(c))
        return ft_plan_slice(c->bytes, c->plan.segment, u);
    if (!c->counts)
        return c->s->size * ft_plan_slice(c->bytes, c->plan.segment, u);
    return ft_coll_slice_at(c, u, c->s->size);
}

void ft_coll_fold(const struct ft_coll *c, const void *x, void *acc, uint64_t n, void *scratch)
{
    if (c->op->reduction != FT_USER) {
        c->op->fold(x, acc, acc, n / c->elem);
        return;
    }
    memcpy(scratch, x, n);
    c->op->user(c->op->ctx, scratch, acc, n / c->elem);
}

/* A block at a time, so that the log's stores go on while the next one is folded. In a ring nobody reads what a rank keeps for its
   own successor. */
void ft_coll_fold_logged(const struct ft_coll *c, const char *x, const char *y, char *to, char *log, uint64_t n)
{
    bool ring = c->s->log.ring, past = c->bytes >= FT_LOGGED_PAST_CACHE && !ring;
    uint64_t block = ft_max(c->elem, BLOCK / c->elem * c->elem);

    for (uint64_t at = 0, k; at < n; at += k) {
        k = ft_min(n - at, block);
        c->op->fold(x + at, y + at, to + at, k / c->elem);
        if (!ring)
            ft_copy_unordered(log + at, to + at, k, past);
    }
    ft_copy_order(past);
}
