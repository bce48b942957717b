/* SPDX-License-Identifier: BSD-3-Clause */
/* Decided pairs: found from both sides until they are dropped, and then from neither; room is used again. */
#include <criterion/criterion.h>

#include "ft/msg/decided.h"

enum { PAIRS = 1000, SOURCES = 5 };

static struct ft_decided decided;

static void end(void) { ft_decided_free(&decided); }

TestSuite(decided, .fini = end, .timeout = 60);

/* Every pair from here to there, from both sides; whether it is to be there. */
static unsigned wrong(uint64_t from, uint64_t to, bool there)
{
    unsigned sum = 0;

    for (uint64_t i = from; i < to; i++) {
        struct ft_decided_pair *pair = ft_decided_of_receive(&decided, i + 1);

        sum += (pair != NULL) != there || pair != ft_decided_of_message(&decided, (int32_t)(i % SOURCES), i / SOURCES);
        sum += pair && (pair->receive != i + 1 || pair->source != (int32_t)(i % SOURCES) || pair->number != i / SOURCES || pair->posted);
    }
    return sum;
}

Test(decided, there_is_none_at_first)
{
    cr_assert(!ft_decided_of_receive(&decided, 1) && !ft_decided_of_message(&decided, 0, 0));
}

Test(decided, pairs_are_found_until_they_are_dropped)
{
    for (uint64_t i = 0; i < PAIRS; i++)
        cr_assert(!ft_decided_add(&decided, i + 1, (int32_t)(i % SOURCES), i / SOURCES));
    cr_assert(decided.n == PAIRS && !wrong(0, PAIRS, true) && !wrong(PAIRS, 2 * PAIRS, false));
    for (uint64_t i = 0; i < PAIRS; i++) {
        ft_decided_drop(&decided, ft_decided_of_message(&decided, (int32_t)(i % SOURCES), i / SOURCES));
        cr_assert(!wrong(0, i + 1, false) && !wrong(i + 1, PAIRS, true));
    }
    cr_assert_eq(decided.n, 0);
}

Test(decided, room_is_used_again)
{
    uint32_t room;

    cr_assert(!ft_decided_add(&decided, 1, 0, 0));
    room = decided.room;
    for (uint64_t i = 1; i < PAIRS; i++) {
        cr_assert(!ft_decided_add(&decided, i + 1, (int32_t)(i % SOURCES), i / SOURCES));
        ft_decided_drop(&decided, ft_decided_of_receive(&decided, i));
        cr_assert(!wrong(i, i + 1, true) && !wrong(0, i, false));
    }
    cr_assert(decided.n == 1 && decided.room == room);
}
