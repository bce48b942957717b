/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies to all kinds of places copy what they are to, and nothing beside it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/base/copy_kernels.h"

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
