/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators by numbers: in the order in which they were made, whatever was freed meanwhile; and what a checkpoint cannot have. */
#include "ft/made.h"

#include <criterion/criterion.h>

enum { MANY = 100 };

static struct ft_made m;

static uint64_t context_of(uint64_t i) { return 1000 + 7 * i; }

static void add(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; i++)
        cr_assert_eq(ft_made_add(&m, context_of(i)), 0);
}

static void end(void)
{
    ft_made_close(&m);
    cr_assert_eq(m.numbers, 0);
}

TestSuite(made, .fini = end);

Test(made, by_numbers)
{
    add(1, MANY);
    for (uint64_t i = 1; i <= MANY; i += 3)
        ft_made_remove(&m, context_of(i));
    add(MANY + 1, MANY + 9);
    for (uint64_t i = 1; i <= MANY + 9; i++) {
        bool there = i > MANY || i % 3 != 1;

        cr_assert_eq(ft_made_number(&m, context_of(i)), there ? i : 0);
        cr_assert_eq(ft_made_context(&m, i), there ? context_of(i) : 0);
    }
}

/* Numbers out of a damaged checkpoint. */
Test(made, of_none)
{
    cr_assert_eq(ft_made_context(&m, 0), 0);
    add(1, 3);
    cr_assert_eq(ft_made_context(&m, 0), 0);
    cr_assert_eq(ft_made_context(&m, 4), 0);
    cr_assert_eq(ft_made_context(&m, UINT64_MAX), 0);
    cr_assert_eq(ft_made_number(&m, 12345), 0);
    ft_made_remove(&m, 12345);
    cr_assert_eq(m.n, 3);
}

Test(made, since_the_load)
{
    add(1, 4);
    ft_made_remove(&m, context_of(2));
    cr_assert_eq(ft_made_since(&m), 0);
    cr_assert_eq(m.freed, 0, "before the load");
    ft_made_load(&m);
    add(5, 6);
    cr_assert_eq(ft_made_since(&m), 2);
    ft_made_remove(&m, context_of(5));
    cr_assert_eq(ft_made_since(&m), 1);
    cr_assert_eq(m.freed, 0, "it was made after the load");
    ft_made_remove(&m, context_of(1));
    cr_assert_eq(m.freed, 1);
    ft_made_load(&m);
    cr_assert_eq(ft_made_since(&m), 1, "it loads once");
}
