/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation under way, from its start to its end. */
#include "ft/core/algorithm.h"
#include "ft/core/progress.h"

FT_HOT int ft_coll_start(struct ft_coll *c, uint64_t total, struct ft_error *e)
{
    struct ft_stream *s = c->s;

    c->way = s->apart ? &ft_between_nodes : ft_algorithm_plan(&c->plan, s->params, &s->sig, c->bytes, total);
    return c->way->start(c, e);
}

FT_HOT int ft_coll_step(struct ft_coll *c, struct ft_await *a, struct ft_error *e) { return c->way->step(c, a, e); }

FT_HOT int ft_coll_finish(struct ft_coll *c, struct ft_error *e)
{
    struct ft_await a;
    int over;

    while ((over = c->way->step(c, &a, e)) == 0) {
        int err = c->way->await ? c->way->await(c, &a, e) : ft_stream_await(c->s, &a, e);

        if (err)
            return err;
    }
    return over < 0 ? over : 0;
}
