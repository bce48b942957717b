/* SPDX-License-Identifier: BSD-3-Clause */
/* What one agent says another reads, all of it; what is of another edition, or says more, is no greeting. */
#include "config.h"
#include "launcher/wire/greeting.h"

#include <criterion/criterion.h>
#include <string.h>

static uint8_t text[FT_GREETING_BYTES];

Test(greeting, is_read_as_it_was_said)
{
    struct ft_greeting g = {.want = FT_WANT_CALL, .from = 1, .from_incarnation = 2, .to = 3, .to_incarnation = 4, .position = 1ull << 40,
                            .stream = 0x01020304}, got;

    ft_greeting_put(&g, text);
    cr_assert(ft_greeting_get(text, &got));
    cr_assert_eq(got.want, g.want);
    cr_assert(got.from == g.from && got.from_incarnation == g.from_incarnation);
    cr_assert(got.to == g.to && got.to_incarnation == g.to_incarnation);
    cr_assert(got.position == g.position && got.stream == g.stream);
}

Test(greeting, that_says_more_is_none)
{
    struct ft_greeting g = {.want = FT_WANT_LINK, .stream = UINT32_MAX}, got;

    ft_greeting_put(&g, text);
    for (int i = 36; i < FT_GREETING_BYTES; i++) {
        cr_assert_eq(text[i], 0);
        text[i] = 1;
        cr_assert(!ft_greeting_get(text, &got), "byte %d", i);
        text[i] = 0;
    }
    cr_assert(ft_greeting_get(text, &got));
}

/* The one before this had no streams. */
Test(greeting, of_another_edition_is_none)
{
    struct ft_greeting g = {.want = FT_WANT_LINK}, got;

    ft_greeting_put(&g, text);
    cr_assert_eq(text[2], 2);
    text[2] = 1;
    cr_assert(!ft_greeting_get(text, &got));
}
