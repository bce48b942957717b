/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive gets which message: one rule, one test. In any order: match_random_test.c. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ft/msg/match.h"

enum { SOURCES = 3, ANY = FT_MATCH_ANY, ROOM = 16, POSTED = 10000, KEPT = 1000000, PAIRS = 10000 };

static struct ft_match *match;
static struct ft_posted receives[ROOM];      /* by their numbers */
static struct ft_arrived messages[SOURCES][ROOM];
static uint64_t posted, arrived[SOURCES];

static void begin(void)
{
    match = ft_match_open(SOURCES);
    cr_assert(match != NULL);
}

static void end(void) { ft_match_close(match); }

TestSuite(match, .init = begin, .fini = end, .timeout = 60);

/* The next receive: what it takes. */
static struct ft_arrived *post(int32_t source, int32_t tag)
{
    struct ft_posted *p = &receives[++posted];

    *p = (struct ft_posted){.wants = {7, source, tag}, .number = posted};
    return ft_match_post(match, p);
}

/* The next message of a source: the receive that takes it, or it is kept. */
static struct ft_posted *arrive(int32_t source, int32_t tag)
{
    uint64_t number = arrived[source]++;
    struct ft_arrived *a = &messages[source][number];
    struct ft_posted *p;

    *a = (struct ft_arrived){.is = {7, source, tag}, .number = number};
    p = ft_match_arrive(match, &a->is, number);
    if (!p)
        ft_match_keep(match, a);
    return p;
}

static struct ft_arrived *look(int32_t source, int32_t tag) { return ft_match_look(match, &(struct ft_envelope){7, source, tag}); }

#define COUNTS(nposted, nkept) cr_assert(ft_match_posted(match) == (nposted) && ft_match_kept(match) == (nkept))

Test(match, a_message_goes_to_the_first_receive_that_fits)
{
    cr_assert(!post(1, 5) && !post(0, 4) && !post(0, 5) && !post(0, 5));
    COUNTS(4, 0);
    cr_assert_eq(arrive(0, 5), &receives[3]);
    cr_assert_eq(arrive(0, 5), &receives[4]);
    cr_assert_null(arrive(0, 5));
    COUNTS(2, 1);
}

Test(match, a_receive_takes_the_first_message_that_fits)
{
    cr_assert(!arrive(0, 4) && !arrive(1, 5) && !arrive(0, 5) && !arrive(0, 5));
    COUNTS(0, 4);
    cr_assert_eq(post(0, 5), &messages[0][1]);
    cr_assert_eq(post(0, ANY), &messages[0][0]);
    cr_assert_eq(post(0, ANY), &messages[0][2]);
    cr_assert_null(post(0, ANY));
    COUNTS(1, 1);
}

Test(match, contexts_do_not_meet)
{
    struct ft_envelope other = {8, 0, 5}, any = {8, ANY, ANY};

    cr_assert(!post(ANY, ANY));
    cr_assert_null(ft_match_arrive(match, &other, 0));
    ft_match_withdraw(match, &receives[1]);
    cr_assert(!arrive(0, 5) && !ft_match_look(match, &other) && !ft_match_look(match, &any));
}

Test(match, named_and_open_receives_go_by_their_numbers)
{
    cr_assert(!post(ANY, 5) && !post(0, ANY) && !post(ANY, ANY) && !post(0, 5));
    cr_assert_eq(arrive(0, 4), &receives[2]);
    cr_assert_eq(arrive(0, 5), &receives[1]);
    cr_assert_eq(arrive(0, 5), &receives[3]);
    cr_assert_eq(arrive(0, 5), &receives[4]);
}

Test(match, an_open_receive_takes_what_was_kept_first)
{
    cr_assert(!arrive(2, 5) && !arrive(0, 4) && !arrive(1, 5));
    cr_assert_eq(post(ANY, 4), &messages[0][0]);
    cr_assert_eq(post(ANY, ANY), &messages[2][0]);
    cr_assert_eq(post(ANY, ANY), &messages[1][0]);
}

Test(match, a_probe_sees_what_a_receive_would_take)
{
    cr_assert(!look(ANY, ANY) && !look(1, 5));
    cr_assert(!arrive(1, 4) && !arrive(1, 5));
    cr_assert_eq(look(1, 5), &messages[1][1]);
    cr_assert_eq(look(ANY, ANY), &messages[1][0]);
    cr_assert_eq(ft_match_find(match, 1, 1), &messages[1][1]);
    cr_assert(!ft_match_find(match, 1, 2) && !ft_match_find(match, 0, 0));
    COUNTS(0, 2);
    cr_assert_eq(post(ANY, ANY), &messages[1][0]);
    cr_assert_null(ft_match_find(match, 1, 0));
}

Test(match, a_message_that_is_taken_is_seen_no_more)
{
    cr_assert(!arrive(0, 5) && !arrive(0, 5));
    ft_match_take(match, look(ANY, 5));
    cr_assert_eq(look(0, 5), &messages[0][1]);
    cr_assert_null(ft_match_find(match, 0, 0));
    cr_assert_eq(post(0, 5), &messages[0][1]);
    COUNTS(0, 0);
}

Test(match, a_withdrawn_receive_gets_nothing)
{
    cr_assert(!post(0, 5) && !post(0, 5) && !post(ANY, 5));
    ft_match_withdraw(match, &receives[1]);
    COUNTS(2, 0);
    cr_assert_eq(arrive(0, 5), &receives[2]);
    ft_match_withdraw(match, &receives[3]);
    cr_assert_null(arrive(0, 5));
    COUNTS(0, 1);
}

Test(match, the_oldest_is_the_first_of_its_source_that_is_kept)
{
    cr_assert_null(ft_match_oldest(match, 0));
    cr_assert(!arrive(1, 5) && !arrive(0, 4) && !arrive(0, 5) && !arrive(0, 5));
    cr_assert_eq(ft_match_oldest(match, 0), &messages[0][0]);
    cr_assert_eq(post(0, 5), &messages[0][1]);
    cr_assert_eq(ft_match_oldest(match, 0), &messages[0][0]);
    cr_assert_eq(post(0, 4), &messages[0][0]);
    cr_assert_eq(ft_match_oldest(match, 0), &messages[0][2]);
    cr_assert_eq(post(0, 5), &messages[0][2]);
    cr_assert_null(ft_match_oldest(match, 0));
    cr_assert_eq(ft_match_oldest(match, 1), &messages[1][0]);
}

Test(match, a_decided_receive_waits_for_its_message)
{
    cr_assert_eq(ft_match_decide(match, 1, 1, 1), 0);
    cr_assert(!post(ANY, 5) && !post(ANY, 5));
    cr_assert_eq(arrive(0, 5), &receives[2]);
    cr_assert(!arrive(0, 5) && !arrive(1, 5));
    COUNTS(1, 2);
    cr_assert_eq(arrive(1, 5), &receives[1]);
    cr_assert_null(arrive(1, 5)); /* used once */
    COUNTS(0, 3);
}

Test(match, a_decided_receive_takes_its_message_if_it_has_come)
{
    cr_assert_eq(ft_match_decide(match, 1, 1, 1), 0);
    cr_assert(!arrive(0, 5) && !arrive(1, 5) && !arrive(1, 5));
    cr_assert_eq(post(ANY, 5), &messages[1][1]);
    cr_assert_eq(post(ANY, 5), &messages[0][0]);
    cr_assert_eq(post(ANY, 5), &messages[1][0]);
    COUNTS(0, 0);
    posted = 0; /* the pair is gone: of a receive with this number nothing is decided */
    cr_assert_null(post(ANY, 5));
    cr_assert_eq(arrive(0, 5), &receives[1]);
}

Test(match, a_decided_message_is_passed_over_by_other_receives)
{
    cr_assert_eq(ft_match_decide(match, 4, 1, 0), 0);
    cr_assert(!post(1, 5));
    cr_assert(!arrive(1, 5) && !arrive(0, 5));
    cr_assert_eq(arrive(1, 5), &receives[1]);
    cr_assert_eq(post(ANY, 5), &messages[0][0]);
    cr_assert_null(post(1, 5));
    cr_assert_eq(post(ANY, 5), &messages[1][0]);
    COUNTS(1, 0);
}

Test(match, a_message_may_be_decided_after_it_has_come)
{
    cr_assert(!arrive(1, 5) && !arrive(1, 5));
    cr_assert_eq(ft_match_decide(match, 2, 1, 0), 0);
    cr_assert_eq(post(1, 5), &messages[1][1]);
    cr_assert_eq(post(ANY, 5), &messages[1][0]);
}

/* A program probes a named source, and then receives what it saw with an open one: nothing was written for the probe, yet it must see that. */
Test(match, a_probe_sees_a_message_that_is_decided_for_a_later_receive)
{
    cr_assert_eq(ft_match_decide(match, 1, 1, 0), 0);
    cr_assert(!arrive(0, 5) && !arrive(1, 5) && !arrive(1, 5));
    cr_assert_eq(look(1, 5), &messages[1][0]);
    cr_assert_eq(ft_match_find(match, 1, 0), &messages[1][0]);
    cr_assert_eq(post(ANY, 5), &messages[1][0]);
}

Test(match, a_receive_of_which_nothing_is_decided_takes_nothing)
{
    cr_assert(!ft_match_decide_none(match, 1) && !ft_match_decide_none(match, 3));
    cr_assert(!arrive(0, 4) && !post(0, ANY));
    cr_assert(!arrive(0, 5));
    cr_assert_eq(post(0, ANY), &messages[0][0]);
    cr_assert_null(post(ANY, 5));
    COUNTS(2, 1);
    ft_match_withdraw(match, &receives[1]);
    ft_match_withdraw(match, &receives[3]);
    COUNTS(0, 1);
    cr_assert_eq(post(ANY, 5), &messages[0][1]);
}

Test(match, a_decided_receive_that_is_withdrawn_leaves_its_message)
{
    cr_assert_eq(ft_match_decide(match, 1, 0, 0), 0);
    cr_assert(!post(ANY, 5) && !post(ANY, 5));
    ft_match_withdraw(match, &receives[1]);
    cr_assert_eq(arrive(0, 5), &receives[2]);
    COUNTS(0, 0);
}

/* ---- many ---- */

enum order { SAME, REVERSE, MIXED };

/* 0 to n - 1. */
static void order_of(uint32_t *at, uint32_t n, enum order order)
{
    srandom(5);
    for (uint32_t i = 0; i < n; i++)
        at[i] = order == REVERSE ? n - 1 - i : i;
    for (uint32_t i = n - 1; i > 0 && order == MIXED; i--) {
        uint32_t k = (uint32_t)random() % (i + 1), other = at[k];

        at[k] = at[i];
        at[i] = other;
    }
}

Test(match, many_receives_of_one_source)
{
    struct ft_posted *p = calloc(POSTED, sizeof *p);
    uint32_t *at = calloc(POSTED, sizeof *at);
    uint64_t wrong = 0;

    for (enum order order = SAME; order <= MIXED; order++) {
        order_of(at, POSTED, order);
        for (uint32_t i = 0; i < POSTED; i++) {
            p[i] = (struct ft_posted){.wants = {7, 0, (int32_t)i}, .number = i + 1};
            wrong += ft_match_post(match, &p[i]) != NULL;
        }
        for (uint32_t i = 0; i < POSTED; i++)
            wrong += ft_match_arrive(match, &(struct ft_envelope){7, 0, (int32_t)at[i]}, i) != &p[at[i]];
        cr_assert_eq(wrong, 0);
        COUNTS(0, 0);
    }
    free(at);
    free(p);
}

Test(match, a_million_kept)
{
    struct ft_arrived *a = calloc(KEPT, sizeof *a);
    struct ft_posted p;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < KEPT; i++) {
        a[i] = (struct ft_arrived){.is = {7, 0, (int32_t)(i % 100)}, .number = i};
        wrong += ft_match_arrive(match, &a[i].is, i) != NULL;
        ft_match_keep(match, &a[i]);
    }
    COUNTS(0, KEPT);
    for (uint64_t i = 0; i < KEPT; i++) {
        p = (struct ft_posted){.wants = {7, i % 2 ? ANY : 0, i % 3 ? ANY : (int32_t)(i % 100)}, .number = i + 1};
        wrong += ft_match_post(match, &p) != &a[i];
    }
    cr_assert_eq(wrong, 0);
    COUNTS(0, 0);
    free(a);
}

/* Far more pairs than there is room for at first, of receives posted before and after their messages, given again and again. */
Test(match, many_decided)
{
    struct ft_posted *p = calloc(PAIRS, sizeof *p);
    uint32_t *receive_of = calloc(PAIRS, sizeof *receive_of);
    struct ft_arrived a;
    uint64_t wrong = 0;

    order_of(receive_of, PAIRS, MIXED);
    for (uint64_t first = 0; first < 3 * PAIRS; first += PAIRS) {
        for (uint32_t k = 0; k < PAIRS; k++)
            wrong += ft_match_decide(match, first + receive_of[k] + 1, 0, first + k) != 0;
        for (uint32_t i = 0; i < PAIRS; i++)
            p[i] = (struct ft_posted){.wants = {7, ANY, ANY}, .number = first + i + 1};
        for (uint32_t k = 1; k < PAIRS; k += 2)
            wrong += ft_match_post(match, &p[receive_of[k]]) != NULL;
        for (uint32_t k = 0; k < PAIRS; k++) {
            a = (struct ft_arrived){.is = {7, 0, 0}, .number = first + k};
            wrong += ft_match_arrive(match, &a.is, a.number) != (k % 2 ? &p[receive_of[k]] : NULL);
            if (k % 2)
                continue;
            ft_match_keep(match, &a);
            wrong += ft_match_post(match, &p[receive_of[k]]) != &a;
        }
        COUNTS(0, 0);
    }
    cr_assert_eq(wrong, 0);
    free(receive_of);
    free(p);
}

/* What another communicator has is not looked at: a ping-pong took as long as all of it. */
Test(match, communicators_are_apart, .timeout = 20)
{
    enum { TIMES = 1000000, OTHER = 8 };
    struct ft_posted *posted_there = calloc(POSTED, sizeof *posted_there), p;
    struct ft_arrived *kept_there = calloc(POSTED, sizeof *kept_there), a;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < POSTED; i++) {
        posted_there[i] = (struct ft_posted){.wants = {OTHER, i % 2 ? ANY : 0, 1}, .number = i + 1};
        wrong += ft_match_post(match, &posted_there[i]) != NULL;
        kept_there[i] = (struct ft_arrived){.is = {OTHER, 0, 2}, .number = i};
        wrong += ft_match_arrive(match, &kept_there[i].is, i) != NULL;
        wrong += ft_match_keep(match, &kept_there[i]) != 0;
    }
    COUNTS(POSTED, POSTED);
    for (uint64_t i = 0; i < TIMES; i++) {
        p = (struct ft_posted){.wants = {7, i % 3 ? 0 : ANY, ANY}, .number = POSTED + i + 1};
        a = (struct ft_arrived){.is = {7, 0, 1}, .number = POSTED + i};
        if (i % 2) {
            wrong += ft_match_post(match, &p) != NULL;
            wrong += ft_match_arrive(match, &a.is, a.number) != &p;
        } else {
            wrong += ft_match_arrive(match, &a.is, a.number) != NULL;
            wrong += ft_match_keep(match, &a) != 0;
            wrong += ft_match_look(match, &p.wants) != &a;
            wrong += ft_match_post(match, &p) != &a;
        }
    }
    cr_assert_eq(wrong, 0);
    cr_assert_eq(ft_match_first(match), &kept_there[0]);
    COUNTS(POSTED, POSTED);
    free(kept_there);
    free(posted_there);
}

/* One after the other, and again: each finds what it has left. */
Test(match, many_communicators)
{
    enum { CONTEXTS = 100, ROUNDS = 100 };
    struct ft_posted p[CONTEXTS];
    uint64_t wrong = 0, number = 0;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t c = 0; c < CONTEXTS; c++) {
            p[c] = (struct ft_posted){.wants = {round * CONTEXTS + c, c % 2 ? ANY : 0, ANY}, .number = round * CONTEXTS + c + 1};
            wrong += ft_match_post(match, &p[c]) != NULL;
        }
        for (uint64_t c = CONTEXTS; c-- > 0;)
            wrong += ft_match_arrive(match, &(struct ft_envelope){round * CONTEXTS + c, 0, 3}, number++) != &p[c];
    }
    cr_assert_eq(wrong, 0);
    COUNTS(0, 0);
}
