/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulator's nodes make of a unit: contributions, partials, results, and the log. Each step fails that would be wrong in any run. */
#include "ft/test/sim.h"

static struct value own_value(uint32_t i, uint64_t u)
{
    return (struct value){ .unit = u, .hash = mix(job.c.seed, i, u), .from = i, .to = i + 1 };
}

static struct value combine(uint32_t i, struct value left, struct value right)
{
    if (left.unit != right.unit || left.to != right.from)
        fail("node %u combines [%u, %u) of unit %llu with [%u, %u) of unit %llu", i, left.from, left.to, (unsigned long long)left.unit,
             right.from, right.to, (unsigned long long)right.unit);
    return (struct value){ .unit = left.unit, .hash = left.hash ^ right.hash, .from = left.from, .to = right.to };
}

void contribute_later(uint32_t i)
{
    struct node *n = &job.node[i];

    if (n->contributing || n->own >= op_of(n)->end || n->own >= n->mine + job.c.depth)
        return;
    n->contributing = true;
    schedule(delay(15), mine_is(i, CONTRIBUTES));
}

void commit(uint32_t i, uint64_t u, uint64_t hash)
{
    struct node *n = &job.node[i];

    if (u != n->mine)
        fail("node %u commits unit %llu and has %llu", i, (unsigned long long)u, (unsigned long long)n->mine);
    if (hash != job.expected[u])
        fail("node %u commits another result of unit %llu", i, (unsigned long long)u);
    n->log[u] = hash;
    n->mine = u + 1;
    n->own = n->own > n->mine ? n->own : n->mine;
    ft_exchange_commit(&n->x, u, 1000);
    contribute_later(i);
    if (job.c.planned && i == job.c.victim && u + 1 == job.c.at_unit && !job.failures++)
        schedule(0, (struct event){ .what = FAILS });
}

void fold(uint32_t i, uint64_t u)
{
    struct node *n = &job.node[i];
    const struct ft_shape *shape = &n->x.shape[n->x.tree];
    struct value *partial = &n->partial[u % job.c.depth];
    struct value acc = own_value(i, u);

    for (uint32_t p = 0; p < n->x.n; p++)
        if (n->x.peer[p].sending == FT_FRAME_PART && n->x.peer[p].sending_unit % job.c.depth == u % job.c.depth)
            fail("node %u folds unit %llu over one that is being sent", i, (unsigned long long)u);
    for (uint32_t k = shape->n; k-- > 0;) {
        const struct ft_neighbour *of = &shape->of[k];

        if (of->role == FT_ROLE_DOWN) {
            struct value v = n->side[ft_exchange_peer(&n->x, of->node)].inbox[u % job.c.depth];

            acc = of->node > i ? combine(i, acc, v) : combine(i, v, acc);
        }
    }
    *partial = acc;
    ft_exchange_folded(&n->x, u);
}

/* Of the root edge: what both halves of the tree come to. */
static struct value both(uint32_t i, uint64_t u)
{
    struct node *n = &job.node[i];
    const struct ft_shape *shape = &n->x.shape[n->x.tree];
    struct value v = n->partial[u % job.c.depth];

    if (shape->n && shape->of[shape->n - 1].role == FT_ROLE_EDGE) {
        uint32_t other = shape->of[shape->n - 1].node;
        struct value half = n->side[ft_exchange_peer(&n->x, other)].inbox[u % job.c.depth];

        v = other > i ? combine(i, v, half) : combine(i, half, v);
    }
    return v;
}

void make(uint32_t i, uint64_t u)
{
    job.node[i].made[u % job.c.depth] = both(i, u);
    ft_exchange_made(&job.node[i].x, u);
}

void result(uint32_t i, uint64_t u)
{
    struct node *n = &job.node[i];
    enum ft_unit_kind kind = op_of(n)->kind;
    struct value v;

    for (uint32_t p = 0; p < n->x.n; p++)
        if (u + 1 == job.units && n->x.peer[p].gone) {  /* finalize's unit has no payload */
            commit(i, u, job.expected[u]);
            return;
        }
    v = kind == FT_UNIT_BCAST ? own_value(i, u) : kind == FT_UNIT_HALVES ? n->made[u % job.c.depth] : both(i, u);
    if (v.unit != u)
        fail("node %u makes unit %llu of a partial of unit %llu", i, (unsigned long long)u, (unsigned long long)v.unit);
    commit(i, u, v.hash);
}

struct value payload(uint32_t i, enum ft_frame what, uint64_t u)
{
    struct node *n = &job.node[i];

    if (what == FT_FRAME_PART)
        return n->partial[u % job.c.depth];
    if (what == FT_FRAME_RES) {
        if (u >= n->mine && u < n->x.made)
            return n->made[u % job.c.depth];
        if (u < n->base || u >= n->mine)
            fail("node %u sends the result of unit %llu, its log is [%llu, %llu)", i, (unsigned long long)u, (unsigned long long)n->base,
                 (unsigned long long)n->mine);
        return (struct value){ .unit = u, .hash = n->log[u % MOST_UNITS] };
    }
    return (struct value){ .from = n->life }; /* HELLO */
}

void take_partial(uint32_t i, uint32_t p, const struct frame *f)
{
    struct node *n = &job.node[i];
    struct value *slot = &n->side[p].inbox[f->unit % job.c.depth];

    if (slot->to && slot->unit > f->unit)
        fail("node %u takes the partial of unit %llu where that of unit %llu is", i, (unsigned long long)f->unit,
             (unsigned long long)slot->unit);
    *slot = f->value;
}
