/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/op.h"

uint64_t ft_coll_slice_at(const struct ft_coll *c, uint64_t u, uint32_t r)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < r; i++)
        at += ft_coll_slice(c, i, u);
    return at;
}

FT_HOT uint64_t ft_coll_result(const struct ft_coll *c, uint64_t u)
{
    if (!ft_coll_gathers(c))
        return ft_plan_slice(c->bytes, c->plan.segment, u);
    if (!ft_view_is_uneven(&c->recv))
        return c->s->size * ft_plan_slice(c->bytes, c->plan.segment, u);
    return ft_coll_slice_at(c, u, c->s->size);
}
