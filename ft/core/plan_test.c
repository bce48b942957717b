/* SPDX-License-Identifier: BSD-3-Clause */
/* Where segments are in their slots, and which way calls of two ranks go. */
#include "ft/core/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "ft/core/algorithm.h"
#include "ft/core/stream.h"

/* RULE 1: who has waited for unit u - depth may fill u's slot, whatever operations these are of. So no two of `depth` units that follow each other may share
   a byte, of operations of any segments, nor two ranks' ever. */
Test(slots, neighbours_share_nothing)
{
    static char base[1];
    struct ft_params p;
    struct ft_stream s = {.params = &p, .slots = base};

    ft_params_default(&p, 2, 2, 64 << 20);
    srandom(2);
    for (int round = 0; round < 20000; round++) {
        uint64_t u = (uint64_t)random(), v = u + 1 + (uint64_t)random() % (p.slot_depth - 1), r = (uint64_t)random() % 2;
        struct ft_plan one = {.segment = 1 + (uint64_t)random() % p.slot_bytes}, two = {.segment = 1 + (uint64_t)random() % p.slot_bytes};
        uint64_t a, b, c;

        one.turns = ft_plan_turns(&p, one.segment);
        two.turns = ft_plan_turns(&p, two.segment);
        a = (uint64_t)(ft_stream_slot(&s, 0, u, &one) - base);
        b = (uint64_t)(ft_stream_slot(&s, 0, v, &two) - base);
        c = (uint64_t)(ft_stream_slot(&s, 1, r ? u : v, &two) - base);
        cr_assert(a + one.segment <= b || b + two.segment <= a, "units %lu and %lu", (unsigned long)u, (unsigned long)v);
        cr_assert(a + one.segment <= c && b + two.segment <= c && c + two.segment <= 2ull * p.slot_depth * p.slot_room);
    }
}

/* A loop's segments come back to the same bytes after about four times what a core's own cache holds. */
Test(slots, segments_take_turns)
{
    static char base[1];
    struct ft_params p;
    struct ft_stream s = {.params = &p, .slots = base};

    ft_params_default(&p, 2, 2, 64 << 20);
    ft_params_cache(&p, 1 << 20);
    for (uint64_t segment = 4096; segment <= p.slot_bytes; segment *= 2) {
        struct ft_plan plan = {.segment = segment, .turns = ft_plan_turns(&p, segment)};
        uint64_t units = 1;

        while (ft_stream_slot(&s, 0, units, &plan) != ft_stream_slot(&s, 0, 0, &plan))
            units++;
        cr_assert_eq(units * segment, 4u << 20, "%lu units of %lu bytes", (unsigned long)units, (unsigned long)segment);
    }
}

static const char *way(uint32_t nranks, uint32_t cores, uint8_t call, uint8_t reduction, int root, uint64_t bytes)
{
    struct ft_sig sig = {.call = call, .reduction = reduction, .kind = FT_BYTE, .root = root, .elem = 1, .count = bytes};
    struct ft_params p;

    ft_params_default(&p, nranks, cores, 64 << 20);
    ft_params_redundant(&p);
    return ft_way_text(ft_plan_choose(&p, nranks, &sig, bytes, call == FT_CALL_ALLGATHER ? nranks * bytes : bytes));
}

enum { MIB = 1 << 20 };

/* Of more than two ranks reduces to the first only, of few that share processors. */
Test(plan, who_is_pipelined)
{
    cr_expect_str_eq(way(2, 2, FT_CALL_BCAST, 0, 0, MIB), "pipelined");
    cr_expect_str_eq(way(2, 2, FT_CALL_REDUCE, FT_USER, 1, MIB), "pipelined");
    cr_expect_str_eq(way(3, 2, FT_CALL_REDUCE, FT_SUM, 0, MIB), "pipelined");
    cr_expect_str_eq(way(4, 2, FT_CALL_REDUCE, FT_MAX, 0, MIB), "pipelined");
    cr_expect_str_eq(way(3, 2, FT_CALL_BCAST, 0, 0, MIB), "log-bcast");
    cr_expect_str_eq(way(4, 2, FT_CALL_REDUCE, FT_USER, 0, MIB), "chunked");
    cr_expect_str_eq(way(4, 2, FT_CALL_REDUCE, FT_SUM, 1, MIB), "chunked");
    cr_expect_str_eq(way(4, 4, FT_CALL_REDUCE, FT_SUM, 0, MIB), "chunked");
    cr_expect_str_eq(way(5, 2, FT_CALL_REDUCE, FT_SUM, 0, MIB), "chunked");
}

Test(plan, the_others)
{
    cr_expect_str_eq(way(2, 2, FT_CALL_BARRIER, 0, -1, 0), "short");
    cr_expect_str_eq(way(64, 2, FT_CALL_BARRIER, 0, -1, 0), "short");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLREDUCE, FT_SUM, -1, 2048), "short");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLREDUCE, FT_SUM, -1, 2049), "redundant");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLREDUCE, FT_USER, -1, MIB), "chunked");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLREDUCE, FT_SUM, -1, 4 * MIB), "chunked");
    cr_expect_str_eq(way(4, 2, FT_CALL_ALLREDUCE, FT_SUM, -1, MIB), "chunked");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLGATHER, 0, -1, 1024), "short");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLGATHER, 0, -1, 1025), "log-gather");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLGATHER, 0, -1, 8192), "log-gather");
    cr_expect_str_eq(way(2, 2, FT_CALL_ALLGATHER, 0, -1, 4 * MIB), "log-gather");
    cr_expect_str_eq(way(4, 2, FT_CALL_ALLGATHER, 0, -1, MIB), "log-gather");
}

/* An element that does not fit a unit: all are gathered. */
Test(plan, elements_too_big_for_slots)
{
    struct ft_sig sig = {.call = FT_CALL_REDUCE, .reduction = FT_USER, .root = 1, .elem = 100000, .count = 3};
    struct ft_params p;
    struct ft_plan plan;

    ft_params_default(&p, 2, 2, 64 << 20);
    cr_expect_eq(ft_algorithm_plan(&plan, &p, p.nranks, &sig, 300000, 600000), &ft_log_gather);
    cr_expect(plan.gathered);
}

static void expect_way(const struct ft_params *p, uint8_t call, uint8_t reduction, uint64_t bytes, bool is_short)
{
    struct ft_sig sig = {.call = call, .reduction = reduction, .kind = FT_BYTE, .root = 0, .elem = 1, .count = bytes};

    cr_assert_eq(ft_plan_choose(p, p->nranks, &sig, bytes, bytes) == FT_WAY_SHORT, is_short, "call %d of %lu bytes", call, (unsigned long)bytes);
}

/* Two ranks: a bcast or a reduce below 8 KiB is short; from there on it is pipelined. */
Test(plan, rooted_calls_about_8_kib)
{
    struct ft_params p;

    ft_params_default(&p, 2, 2, 64 << 20);
    expect_way(&p, FT_CALL_BCAST, 0, 8192 - FT_LINE, true);
    expect_way(&p, FT_CALL_BCAST, 0, 8192, false);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, 8192 - FT_LINE, true);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, 8192, false);
    expect_way(&p, FT_CALL_REDUCE, FT_USER, 8192 - FT_LINE, true);
}
