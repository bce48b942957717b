/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation under way, from its start to its end. */
#include <stdlib.h>

#include "ft/core/algorithm.h"
#include "ft/core/nodes.h"
#include "ft/core/progress.h"

FT_HOT int ft_coll_start(struct ft_coll *c, uint64_t total, struct ft_error *e)
{
    struct ft_stream *s = c->s;

    c->way = s->apart ? &ft_between_nodes : ft_algorithm_plan(&c->plan, s->params, s->n, &s->sig, c->bytes, total);
    return c->way->start(c, e);
}

int ft_coll_make_room(struct ft_coll *c, uint64_t n, struct ft_error *e)
{
    n = ft_align(n, FT_LINE);
    c->acc = malloc(2 * n);
    if (!c->acc)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a reduction by a user function", c->s->me);
    c->scratch = c->acc + n;
    return 0;
}

/* Over, or given up after an error. */
static inline void end(struct ft_coll *c)
{
    if (__builtin_expect(c->acc != NULL, 0))
        free(c->acc);
    c->acc = c->scratch = NULL;
}

FT_HOT int ft_coll_finish(struct ft_coll *c, struct ft_error *e)
{
    struct ft_await a;
    int over, err = 0;

    while (!err && (over = c->way->step(c, &a, e)) == 0)
        err = c->way->await ? c->way->await(c, &a, e) : ft_stream_await(c->s, &a, e);
    end(c);
    return err ? err : over < 0 ? over : 0;
}

/* So many of them are over; those are NULL then. *a: what the first of the others waits for. */
static int step_all(struct ft_coll **c, uint32_t n, struct ft_await *a, struct ft_error *e)
{
    int finished = 0;

    *a = (struct ft_await){ .kind = FT_AWAIT_NOBODY };
    for (uint32_t i = 0; i < n; i++) {
        struct ft_await own;
        int over = c[i] ? c[i]->way->step(c[i], &own, e) : 0;

        if (over < 0)
            return over;
        if (c[i] && !over && a->kind == FT_AWAIT_NOBODY)
            *a = ft_stream_await_of(c[i]->s, own);
        if (over) {
            c[i] = NULL;
            finished++;
        }
    }
    return finished;
}

/* A wait that is long may be one for a rank in another call. */
static int verify_all(struct ft_coll *const *c, uint32_t n, struct ft_error *e)
{
    int err = 0;

    for (uint32_t i = 0; i < n && !err; i++)
        err = c[i] ? ft_stream_verify(c[i]->s, e) : 0;
    return err;
}

/* The links, if this rank has any: one of them may wait for another node. */
static const struct ft_wire *wire_of(struct ft_coll *const *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (c[i] && c[i]->s->nodes && c[i]->s->nodes->represents)
            return &c[i]->s->nodes->wire;
    return NULL;
}

/* One turn of a wait for *a, or for whatever comes. True: it is a long one by now. */
static bool pause_all(struct ft_coll *const *c, uint32_t n, struct ft_await *a, struct ft_wait *w, const struct ft_patience *patience)
{
    const struct ft_wire *wire = wire_of(c, n);
    bool local = a->kind != FT_AWAIT_NOBODY;

    a->anything = true;
    if (local)
        ft_wait_goes_on(w, patience, a);
    return wire ? wire->pause(wire->net, w, local) : ft_wait_turn(w, patience);
}

int ft_coll_finish_all(struct ft_coll *const *all, uint32_t n, struct ft_error *e)
{
    const struct ft_patience *patience = all[0]->s->patience;
    struct ft_coll *c[n];
    struct ft_wait w = { 0 };
    uint32_t left = n;
    int err = 0;

    for (uint32_t i = 0; i < n; i++)
        c[i] = all[i];
    while (left > 0 && !err) {
        struct ft_await a;
        int over = step_all(c, n, &a, e);

        if (over != 0) {
            ft_wait_over(&w, patience);
            left -= over > 0 ? (uint32_t)over : 0;
            err = over < 0 ? over : 0;
            continue;
        }
        if (pause_all(c, n, &a, &w, patience))
            err = verify_all(c, n, e);
    }
    ft_wait_over(&w, patience);
    for (uint32_t i = 0; i < n; i++)
        end(all[i]);
    return err;
}
