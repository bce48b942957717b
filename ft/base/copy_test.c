/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies to all kinds of places copy what they are to, and nothing beside it; where segments are in their slots; which way calls of two ranks go. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/base/copy_kernels.h"
#include "ft/core/stream.h"

enum { ROOM = 20000, AROUND = 128 };

static char from[ROOM], to[ROOM], log_[ROOM];

/* The n bytes at p + at are those of `from`, and all others 7. */
static void expect_only(const char *p, size_t at, size_t n, const char *source)
{
    cr_assert_eq(memcmp(p + at, source, n), 0, "%zu bytes at %zu", n, at);
    for (size_t i = 0; i < at; i++)
        cr_assert_eq(p[i], 7);
    for (size_t i = at + n; i < at + n + AROUND; i++)
        cr_assert_eq(p[i], 7);
}

Test(copy, copies_what_it_is_to_and_nothing_beside_it)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 1023, 1024, 1025, 1088, 4096, 8191, 16384, 16391};

    srandom(1);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)random();
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int round = 0; round < 40; round++) {
            size_t n = sizes[k], a = (size_t)random() % AROUND, b = (size_t)random() % AROUND, c = (size_t)random() % AROUND;

            memset(to, 7, sizeof to);
            memset(log_, 7, sizeof log_);
            ft_copy_lines(to + a, from + b, n);
            expect_only(to, a, n, from + b);
            memset(to, 7, sizeof to);
            ft_copy_twice(to + a, log_ + c, from + b, n);
            ft_copy_order(true);
            expect_only(to, a, n, from + b);
            expect_only(log_, c, n, from + b);
        }
}

/* The others than the one that is chosen here, too. */
Test(copy, all_instruction_sets_copy_the_same)
{
    static const struct ft_copy_kernels *const tables[FT_NISAS] = {
        &ft_copy_baseline,
#ifdef FT_ISA_X86
        &ft_copy_avx2, &ft_copy_avx512
#endif
    };
    static _Alignas(64) char past[ROOM];
    enum { LINES = 64 * 100 };

    srandom(3);
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)random();
    for (int isa = 0; isa <= (int)ft_isa(); isa++)
        for (size_t n = 0; n <= LINES; n += 64) {
            memset(to, 7, sizeof to);
            memset(past, 7, sizeof past);
            tables[isa]->lines(to + 5, from + 3, n);
            tables[isa]->past_cache(past + 64, from + 9, n);
            ft_copy_order(true);
            expect_only(to, 5, n, from + 3);
            expect_only(past, 64, n, from + 9);
            tables[isa]->twice(to + 6, past + 128, from + 1, n);
            ft_copy_order(true);
            cr_assert_eq(memcmp(to + 6, from + 1, n), 0);
            cr_assert_eq(memcmp(past + 128, from + 1, n), 0);
        }
}

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

static bool relays(uint32_t nranks, uint32_t cores, uint8_t call, uint8_t reduction, int root)
{
    struct ft_sig sig = {.call = call, .reduction = reduction, .kind = FT_BYTE, .root = root, .elem = 1, .count = 1 << 20};
    struct ft_params p;

    ft_params_default(&p, nranks, cores, 64 << 20);
    return ft_params_relays(&p, &sig);
}

/* Of more than two ranks reduces to the first only, of few that share processors. */
Test(plan, who_relays)
{
    cr_assert(relays(2, 2, FT_CALL_BCAST, 0, 0) && relays(2, 2, FT_CALL_REDUCE, FT_USER, 1));
    cr_assert(relays(3, 2, FT_CALL_REDUCE, FT_SUM, 0) && relays(4, 2, FT_CALL_REDUCE, FT_MAX, 0));
    cr_assert_not(relays(3, 2, FT_CALL_BCAST, 0, 0) || relays(4, 2, FT_CALL_REDUCE, FT_USER, 0) || relays(4, 2, FT_CALL_ALLREDUCE, FT_SUM, -1));
    cr_assert_not(relays(4, 2, FT_CALL_REDUCE, FT_SUM, 1) || relays(4, 4, FT_CALL_REDUCE, FT_SUM, 0) || relays(5, 2, FT_CALL_REDUCE, FT_SUM, 0));
}

static struct ft_plan planned(const struct ft_params *p, uint8_t call, uint8_t reduction, uint64_t bytes)
{
    struct ft_sig sig = {.call = call, .reduction = reduction, .kind = FT_BYTE, .root = 0, .elem = 1, .count = bytes};
    struct ft_plan plan;

    ft_plan_make(&plan, p, 2, &sig, bytes, bytes);
    return plan;
}

static void expect_way(const struct ft_params *p, uint8_t call, uint8_t reduction, uint64_t bytes, bool is_short, bool single)
{
    struct ft_plan plan = planned(p, call, reduction, bytes);

    cr_assert_eq(plan.way == FT_WAY_SHORT, is_short, "call %d of %lu bytes", call, (unsigned long)bytes);
    cr_assert_eq(plan.single, single, "call %d of %lu bytes", call, (unsigned long)bytes);
}

/* Two ranks: a bcast of 8 KiB is short where there is single copy, and a reduce goes by that; where there is none both are relayed. Not by user functions. */
Test(plan, rooted_calls_about_8_kib)
{
    struct ft_params p;

    ft_params_default(&p, 2, 2, 64 << 20);
    expect_way(&p, FT_CALL_BCAST, 0, 8192, false, false);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, 8192, false, false);
    ft_params_single_copy(&p);
    expect_way(&p, FT_CALL_BCAST, 0, 8192, true, false);
    expect_way(&p, FT_CALL_BCAST, 0, 8193, false, true);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, 6143, true, false);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, 6144, false, true);
    expect_way(&p, FT_CALL_REDUCE, FT_USER, 6144, true, false);
    expect_way(&p, FT_CALL_REDUCE, FT_SUM, p.single_reduce_max, false, false);
}
