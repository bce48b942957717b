/* SPDX-License-Identifier: BSD-3-Clause */
/* Which synchronous messages are matched (ft/msg/acks.h): in any order, however far apart. */
#include "ft/msg/acks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ft/shm/acks.h"
#include "ft/shm/word.h"

enum { LAP = FT_ACKS_EACH * FT_CHANNEL_ACKS, LAPS = 3 };

static _Atomic uint64_t words[FT_CHANNEL_ACKS];
static struct ft_acks acks;

static void publish(void *arg, _Atomic uint64_t *word, uint64_t value)
{
    (void)arg;
    if (ft_peek(word) >= value)
        cr_assert_fail("a word only grows");
    ft_publish(word, value);
}

static void match(uint64_t number)
{
    if (ft_acks_match(&acks, number, publish, NULL))
        cr_assert_fail("no memory");
}

static bool is_matched(uint64_t number) { return ft_acks_has(ft_peek(&words[ft_acks_at(number)]), number); }

static void begin(void)
{
    memset((void *)words, 0, sizeof words);
    acks = (struct ft_acks){.words = words};
}

static void end(void) { ft_acks_close(&acks); }

TestSuite(acks, .init = begin, .fini = end, .timeout = 60);

Test(acks, one_by_one)
{
    for (uint64_t k = 0; k < LAPS * LAP; k++) {
        if (k % 100 == 0)
            cr_assert_not(is_matched(k));
        match(k);
        if (k % 100 == 0)
            cr_assert(is_matched(k) && is_matched(k / 2) && !is_matched(k + 1));
    }
    cr_assert_eq(acks.n, 0);
}

/* The oldest is matched last: what is a lap after its word's others is told then. */
Test(acks, the_oldest_last)
{
    for (uint64_t k = 1; k < LAPS * LAP; k++)
        match(k);
    cr_assert(!is_matched(0) && is_matched(1) && is_matched(LAP - 1) && is_matched(LAP + FT_ACKS_EACH));
    cr_assert_not(is_matched(LAP));
    cr_assert_eq(acks.n, (LAPS - 1) * FT_ACKS_EACH);
    match(0);
    cr_assert_eq(acks.n, 0);
    for (uint64_t k = 0; k < LAPS * LAP; k++)
        if (!is_matched(k))
            cr_assert_fail("%llu", (unsigned long long)k);
}

/* From behind: each but the last lap's waits for all before it. */
Test(acks, the_newest_first)
{
    for (uint64_t k = 2 * LAP; k-- > LAP;)
        if (k / FT_ACKS_EACH % 64 == 0)
            match(k);
    cr_assert_not(is_matched(LAP));
    for (uint64_t k = LAP; k-- > 0;)
        if (k / FT_ACKS_EACH % 64 == 0)
            match(k);
    cr_assert(is_matched(0) && is_matched(LAP) && !is_matched(FT_ACKS_EACH));
    cr_assert_eq(acks.n, 0);
}

/* A successor says it all again, in its order, and what it had not said before a snapshot. */
Test(acks, again)
{
    struct ft_acks copy;

    for (uint64_t k = 1; k <= LAP; k++)
        match(k);
    copy = acks;
    copy.withheld = memcpy(malloc(copy.room * sizeof *copy.withheld), acks.withheld, acks.n * sizeof *copy.withheld);
    cr_assert_eq(copy.n, 1);
    match(0);
    cr_assert(is_matched(LAP));
    ft_acks_close(&acks);
    acks = copy;
    match(0);
    cr_assert_eq(acks.n, 0);
    for (uint64_t k = 0; k <= LAP; k++)
        match(k);
    cr_assert(is_matched(LAP) && !is_matched(LAP + 1));
}
