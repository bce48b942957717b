/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank was told is told to its successors again, in the same order: to those that begin at the beginning, and to copies of it. */
#include "ft/msg/answers.h"

#include <stdlib.h>
#include <string.h>

#include "ft/msg/log_test.h"

enum { RANK = 1, SOURCES = 4, NO = -1 };

static struct ft_match *match;
static struct ft_answers a;

static void open_answers(void)
{
    match = ft_match_open(SOURCES);
    cr_assert(match);
    cr_assert_eq(ft_answers_open(&a, &region, RANK, match, &patience, -1, ft_keeper_spill_fd(keeper), &e), 0);
}

static void die(void)
{
    ft_answers_close(&a);
    ft_match_close(match);
}

static void set_up(void)
{
    open_region();
    open_answers();
    give_memory(a.log.mine);
}

static void tear_down(void)
{
    die();
    close_region();
}

TestSuite(answers, .init = set_up, .fini = tear_down, .timeout = 60);

static void begin_again(void)
{
    die();
    open_answers();
}

static void say_no(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        ft_answers_no(&a);
}

static void expect_no(uint64_t times)
{
    uint64_t answer;
    bool yes;

    for (uint64_t i = 0; i < times; i++)
        cr_assert(ft_answers_again(&a, &yes, &answer) && !yes, "no number %d", (int)i);
}

static void expect_yes(uint64_t which)
{
    uint64_t answer = 0;
    bool yes = false;

    cr_assert(ft_answers_again(&a, &yes, &answer) && yes);
    cr_assert_eq(answer, which);
}

static void expect_end(void)
{
    uint64_t answer;
    bool yes;

    cr_assert_not(ft_answers_again(&a, &yes, &answer));
}

/* Killed before the newest unit was logged. */
static void not_logged(void)
{
    ft_publish(&a.log.mine->done, ft_peek(&a.log.mine->done) - 1);
    ft_publish(&a.log.mine->done_at, ft_peek(&a.log.mine->done_at) - FT_LINE);
}

/* As a fork has it. */
static struct ft_answers copy_of(const struct ft_answers *from)
{
    struct ft_answers copy = *from;

    if (copy.room) {
        copy.again = malloc(copy.room * sizeof *copy.again);
        cr_assert(copy.again);
        memcpy(copy.again, from->again, copy.nagain * sizeof *copy.again);
    }
    return copy;
}

/* The rank is dead, and the copy becomes it. */
static void wake(const struct ft_answers *copy)
{
    ft_answers_close(&a);
    a = copy_of(copy);
    cr_assert_eq(ft_answers_resume(&a, &e), 0);
    cr_assert(a.said == 0 && !a.open);
}

Test(answers, name_a_message)
{
    int32_t source;
    uint64_t number;

    for (int32_t s = FT_MATCH_NOBODY; s < 2048; s += 7) {
        ft_answer_is(ft_answer_of(s, (1ull << 42) - 1 - (uint64_t)(s + 1)), &source, &number);
        cr_assert(source == s && number == (1ull << 42) - 1 - (uint64_t)(s + 1));
    }
}

Test(answers, there_are_none_at_first) { expect_end(); }

Test(answers, are_given_again_in_their_order)
{
    say_no(3);
    ft_answers_yes(&a, 7);
    ft_answers_yes(&a, 0);
    say_no(1);
    ft_answers_yes(&a, UINT64_MAX - FT_RUN_ANSWERED);
    expect_end();
    for (int life = 0; life < 3; life++) {
        begin_again();
        expect_no(3);
        expect_yes(7);
        expect_yes(0);
        expect_no(1);
        expect_yes(UINT64_MAX - FT_RUN_ANSWERED);
        expect_end();
    }
}

Test(answers, a_run_takes_one_record_however_long_it_is)
{
    say_no(1000000);
    cr_assert(a.log.unit == 0 && a.log.end == 0);
    ft_answers_yes(&a, 1);
    cr_assert(a.log.unit == 1 && a.log.end == FT_LINE);
    begin_again();
    expect_no(1000000);
    expect_yes(1);
    expect_end();
}

Test(answers, a_run_is_broken_by_death)
{
    say_no(4);
    begin_again();
    cr_assert_eq(a.log.unit, 1);
    expect_no(4);
    expect_end();
    say_no(2);
    begin_again();
    expect_no(1); /* killed in its replay */
    begin_again();
    expect_no(6);
    expect_end();
    ft_answers_yes(&a, 5);
    begin_again();
    expect_no(6);
    expect_yes(5);
    expect_end();
}

/* ---- matches ---- */

static struct ft_posted post(uint64_t number) { return (struct ft_posted){ .wants = { .source = FT_MATCH_ANY, .tag = FT_MATCH_ANY }, .number = number }; }
static struct ft_posted *arrive(int32_t source, uint64_t number) { return ft_match_arrive(match, &(struct ft_envelope){ .source = source }, number); }

Test(answers, a_match_breaks_a_run_and_is_decided_in_a_replay)
{
    struct ft_posted p = post(1);

    say_no(2);
    ft_answers_match(&a, 1, 3, 0);
    say_no(1);
    ft_answers_yes(&a, 9);
    cr_assert_eq(a.log.unit, 3);
    begin_again();
    cr_assert(!ft_match_post(match, &p) && p.decided);
    cr_assert(!arrive(2, 0), "another one comes first this time");
    cr_assert_eq(arrive(3, 0), &p);
    expect_no(3);
    expect_yes(9);
    expect_end();
}

Test(answers, a_receive_that_was_cancelled_gets_nothing)
{
    struct ft_posted p = post(1), q = post(2);

    ft_answers_match(&a, 1, FT_MATCH_NOBODY, 0);
    begin_again();
    cr_assert(!ft_match_post(match, &p) && !ft_match_post(match, &q));
    cr_assert_eq(arrive(0, 0), &q);
    ft_match_withdraw(match, &p);
}

Test(answers, many_matches_are_decided)
{
    enum { MANY = 500 };
    static struct ft_posted p[MANY];

    for (uint64_t i = 0; i < MANY; i++)
        ft_answers_match(&a, i + 1, (int32_t)((i * 7 + i / 5) % SOURCES), i);
    begin_again();
    for (uint64_t i = 0; i < MANY; i++) {
        p[i] = post(i + 1);
        cr_assert(!ft_match_post(match, &p[i]) && p[i].decided);
    }
    for (uint64_t i = MANY; i-- > 0;)
        cr_assert_eq(arrive((int32_t)((i * 7 + i / 5) % SOURCES), i), &p[i]);
}

/* ---- killed before it was logged ---- */

Test(answers, what_is_published_has_been_said)
{
    struct ft_posted p = post(1);

    ft_answers_yes(&a, 3);
    not_logged();
    begin_again();
    expect_yes(3);
    expect_end();
    cr_assert(a.log.unit == 1 && ft_peek(&a.log.mine->done) == 1);
    say_no(2);
    ft_answers_yes(&a, 4);
    not_logged();
    begin_again();
    ft_answers_match(&a, 1, 2, 0);
    not_logged();
    begin_again();
    expect_yes(3);
    expect_no(2);
    expect_yes(4);
    expect_end();
    cr_assert(!ft_match_post(match, &p) && !arrive(1, 0));
    cr_assert_eq(arrive(2, 0), &p);
}

/* ---- copies ---- */

Test(answers, a_copy_does_not_say_again_what_it_has_said)
{
    struct ft_answers copy;

    ft_answers_yes(&a, 1);
    say_no(3);
    copy = copy_of(&a);
    wake(&copy); /* at once */
    expect_end();
    say_no(2);
    ft_answers_yes(&a, 9);
    say_no(1);
    wake(&copy);
    expect_no(2);
    expect_yes(9);
    expect_no(1);
    expect_end();
    begin_again();
    expect_yes(1);
    expect_no(5);
    expect_yes(9);
    expect_no(1);
    expect_end();
    ft_answers_close(&copy);
}

Test(answers, a_copy_is_told_of_a_run_that_is_open)
{
    struct ft_answers copy;

    say_no(3);
    copy = copy_of(&a);
    say_no(4);
    wake(&copy);
    expect_no(4);
    expect_end();
    ft_answers_close(&copy);
}

/* What it has said is taken off that run only. */
Test(answers, a_copy_is_told_of_a_run_that_a_match_has_broken)
{
    struct ft_posted p = post(1);
    struct ft_answers copy;

    say_no(3);
    copy = copy_of(&a);
    ft_answers_match(&a, 1, 2, 0);
    say_no(4);
    ft_answers_yes(&a, 6);
    wake(&copy);
    expect_no(4);
    expect_yes(6);
    expect_end();
    cr_assert(!ft_match_post(match, &p) && p.decided && !arrive(1, 0));
    cr_assert_eq(arrive(2, 0), &p);
    ft_answers_close(&copy);
}

Test(answers, a_copy_of_a_replay_is_told_the_rest)
{
    struct ft_answers copy;

    say_no(3);
    ft_answers_yes(&a, 6);
    begin_again();
    expect_no(2);
    copy = copy_of(&a);
    expect_no(1);
    expect_yes(6);
    expect_end();
    say_no(1);
    wake(&copy);
    expect_no(1);
    expect_yes(6);
    expect_no(1);
    expect_end();
    ft_answers_close(&copy);
}

/* ---- all of it, at random ---- */

enum { LIVES = 300, MOST = 20000 };
static int64_t told[MOST];
static uint64_t ntold, nmatches, seed = 1;

static uint64_t draw(uint64_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % n;
}

static void live_on(void)
{
    for (uint64_t i = draw(40); i > 0; i--) {
        uint64_t what = draw(8);

        if (what == 0) {
            nmatches++;
            ft_answers_match(&a, nmatches, (int32_t)draw(SOURCES), nmatches);
        } else if (what == 1) {
            told[ntold] = (int64_t)ntold;
            ft_answers_yes(&a, ntold++);
        } else {
            told[ntold++] = NO;
            ft_answers_no(&a);
        }
    }
}

Test(answers, every_successor_is_told_the_same)
{
    struct ft_answers copy = { 0 };
    uint64_t at = 0;

    for (int life = 0; life < LIVES; life++) {
        uint64_t logged = ft_peek(&a.log.mine->done);

        live_on();
        if (draw(3) == 0) {
            ft_answers_close(&copy);
            copy = copy_of(&a);
            at = ntold;
            live_on();
        }
        if (draw(2) && !a.open && ft_peek(&a.log.mine->done) > logged + 1 && copy.log.unit < a.log.unit)
            not_logged();
        if (copy.log.region && draw(3)) {
            wake(&copy);
        } else {
            begin_again();
            at = 0;
            ft_answers_close(&copy);
        }
        for (uint64_t i = at; i < ntold; i++)
            if (told[i] == NO)
                expect_no(1);
            else
                expect_yes((uint64_t)told[i]);
        expect_end();
    }
    cr_assert(ntold > 1000 && nmatches > 100);
    ft_answers_close(&copy);
}

/* ---- turns of threads ---- */

static void expect_turns(const struct ft_turn *turns, uint64_t n)
{
    cr_assert_eq(a.nturns, n);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(a.turns[i].step == turns[i].step && a.turns[i].thread == turns[i].thread, "turn %d", (int)i);
}

Test(answers, turns_are_read_in_the_order_in_which_they_were_said)
{
    const struct ft_turn turns[] = {{5, 1}, {9, 0}, {9, 2}, {12, 4000}};

    say_no(3);
    ft_answers_turn(&a, &turns[0]);
    say_no(2);
    ft_answers_turn(&a, &turns[1]);
    ft_answers_turn(&a, &turns[2]);
    ft_answers_yes(&a, 4);
    expect_turns(NULL, 0); /* its own it knows */
    begin_again();
    expect_turns(turns, 3);
    expect_no(3 + 2);
    expect_yes(4);
    expect_end();
    ft_answers_turn(&a, &turns[3]);
    not_logged();
    begin_again();
    expect_turns(turns, 4);
}
