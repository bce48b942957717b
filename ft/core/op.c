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

int ft_coll_read_by_layout(const struct ft_coll *c, uint64_t position, uint64_t offset,
                           const struct ft_view *to, uint64_t from, uint64_t n, struct ft_error *e)
{
    char step[FT_VIEW_STEP];
    int err = 0;

    for (uint64_t at = 0, k; at < n && !err; at += k) {
        k = ft_min(n - at, sizeof step);
        err = ft_stream_read(c->s, position, offset + at, step, k, false, e);
        if (!err)
            ft_view_unpack(to, from + at, k, step);
    }
    return err;
}
