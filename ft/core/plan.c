/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/plan.h"

#include <stddef.h>

/* Sets of calls. */
enum {
    BCAST = 1u << FT_CALL_BCAST,
    REDUCE = 1u << FT_CALL_REDUCE,
    ALLREDUCE = 1u << FT_CALL_ALLREDUCE | 1u << FT_CALL_COMM_DUP | 1u << FT_CALL_COMM_SPLIT | 1u << FT_CALL_COMM_TYPE | 1u << FT_CALL_COMM_CREATE,
    REDUCES = REDUCE | ALLREDUCE,
    GATHERS = 1u << FT_CALL_ALLGATHER | 1u << FT_CALL_ALLGATHERV,
    ROOTED = BCAST | REDUCE,
    OTHERS = ~(ROOTED | GATHERS)
};

/* What else a row asks for. */
enum {
    FITS = 1,          /* an element fits a unit */
    BUILT_IN = 2,      /* not by a function of the user's */
    SHARED = 4,        /* there are more ranks than processors */
    TO_FIRST = 8,      /* the root is rank 0 */
    SMALL_RESULT = 16  /* all of the result fits a unit */
};

enum { MANY = INT32_MAX };
#define LIMIT(name) offsetof(struct ft_params, name)

/* The first row that an operation fits decides. Limits are of the longest contribution; where
   they come from is said in layout.c (ft_params_default), and what each algorithm wins, in
   docs/performance/algorithms.md. */
static const struct row {
    uint32_t calls;
    uint32_t least_ranks, most_ranks;
    size_t most, below;  /* LIMITs; 0: none */
    uint32_t asks;
    enum ft_way way;
} table[] = {
    /* calls    ranks     bytes: at most, or below                  asks for                                way */
    {OTHERS,    1, MANY,  LIMIT(short_max), 0,                      SMALL_RESULT,                           FT_WAY_SHORT},
    {ROOTED,    1, MANY,  LIMIT(rooted_max), 0,                     SMALL_RESULT,                           FT_WAY_SHORT},
    {GATHERS,   1, MANY,  LIMIT(gather_max), 0,                     SMALL_RESULT,                           FT_WAY_SHORT},
    {BCAST,     2, 2,     0, 0,                                     0,                                      FT_WAY_PIPELINED_BCAST},
    {BCAST,     3, MANY,  0, 0,                                     0,                                      FT_WAY_LOG_BCAST},
    {REDUCE,    2, 2,     0, 0,                                     FITS,                                   FT_WAY_PIPELINED_REDUCE},
    {REDUCE,    3, 4,     0, 0,                                     FITS | BUILT_IN | SHARED | TO_FIRST,    FT_WAY_PIPELINED_REDUCE},
    {ALLREDUCE, 2, 2,     0, LIMIT(redundant_max),                  FITS | BUILT_IN,                        FT_WAY_REDUNDANT},
    {REDUCES,   2, MANY,  0, 0,                                     FITS,                                   FT_WAY_CHUNKED},
    {~0u,       1, MANY,  0, 0,                                     0,                                      FT_WAY_LOG_GATHER},
};

static uint64_t limit(const struct ft_params *p, size_t at) { return *(const uint32_t *)(const void *)((const char *)p + at); }

static uint32_t offers(const struct ft_params *p, uint32_t n, const struct ft_sig *sig, uint64_t total)
{
    return (sig->elem <= p->slot_bytes ? FITS : 0) | (sig->reduction != FT_USER ? BUILT_IN : 0) | (n > p->cores ? SHARED : 0) |
           (sig->root == 0 ? TO_FIRST : 0) | (total <= p->slot_bytes ? SMALL_RESULT : 0);
}

FT_HOT enum ft_way ft_plan_choose(const struct ft_params *p, uint32_t n, const struct ft_sig *sig, uint64_t bytes, uint64_t total)
{
    uint32_t call = 1u << sig->call, offered = offers(p, n, sig, total);
    const struct row *r = table;

    while (!(r->calls & call) || n < r->least_ranks || n > r->most_ranks || r->asks & ~offered ||
           (r->most && bytes > limit(p, r->most)) || (r->below && bytes >= limit(p, r->below)))
        r++;
    return r->way;
}

const char *ft_way_text(enum ft_way way)
{
    static const char *const texts[FT_WAYS] = {
        [FT_WAY_SHORT] = "short", [FT_WAY_CHUNKED] = "chunked", [FT_WAY_REDUNDANT] = "redundant", [FT_WAY_PIPELINED_BCAST] = "pipelined",
        [FT_WAY_PIPELINED_REDUCE] = "pipelined", [FT_WAY_LOG_BCAST] = "log-bcast", [FT_WAY_LOG_GATHER] = "log-gather"};

    return texts[way];
}

void ft_plan_chunk(uint64_t bytes, uint32_t elem, uint32_t n, uint32_t r, uint64_t *from, uint64_t *to)
{
    bool by_lines = elem <= FT_LINE && (elem & (elem - 1)) == 0;
    uint64_t grain = by_lines ? FT_LINE : elem, grains = by_lines ? ft_div_up(bytes, FT_LINE) : ft_div_up(bytes, elem);
    uint64_t per = grains <= 1 ? grain : ft_div_up(grains, n) * grain; /* no division for the smallest, of which there are the most */

    *from = ft_min(bytes, r * per);
    *to = ft_min(bytes, *from + per);
}
