/* SPDX-License-Identifier: BSD-3-Clause */
/* Output exactly once (launcher/lines.h, RULES 21 and 22): whatever the pieces it is read in and wherever an
   incarnation dies, what is forwarded is what an undisturbed run prints. */
#include "config.h"
#include "launcher/lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ft_lines l;
static char got[1 << 16];
static size_t ngot;

static void emit(void *arg, const char *data, size_t len)
{
    (void)arg;
    cr_assert_leq(ngot + len, sizeof got - 1);
    memcpy(got + ngot, data, len);
    ngot += len;
    got[ngot] = 0;
}

static void count(void *arg, const char *data, size_t len)
{
    (void)arg;
    (void)data;
    ngot += len;
}

static void feed(const char *text)
{
    ft_lines_feed(&l, text, strlen(text), emit, NULL);
}

static void begin(void)
{
    memset(&l, 0, sizeof l);
    l.keep = true;
    got[ngot = 0] = 0;
}

static void end(void)
{
    ft_lines_free(&l);
}

TestSuite(lines, .init = begin, .fini = end);

Test(lines, only_whole_lines_are_forwarded)
{
    feed("one\ntw");
    cr_expect_str_eq(got, "one\n");
    feed("o\nthr");
    cr_expect_str_eq(got, "one\ntwo\n");
    ft_lines_show(&l, emit, NULL);
    cr_expect_str_eq(got, "one\ntwo\nthr");
}

Test(lines, a_successor_repeats_nothing)
{
    feed("one\ntwo\nhal");
    ft_lines_restart(&l);
    feed("one\ntwo\nhalf\nmore\n");
    cr_expect_str_eq(got, "one\ntwo\nhalf\nmore\n");
    cr_expect_eq(l.differs, 0);
}

Test(lines, dying_earlier_the_second_time)
{
    feed("one\ntwo\nthree\n");
    ft_lines_restart(&l);
    feed("one\n");
    ft_lines_restart(&l);
    feed("one\ntwo\nthree\nfour\n");
    cr_expect_str_eq(got, "one\ntwo\nthree\nfour\n");
}

Test(lines, the_first_line_that_differs_is_named)
{
    feed("same\n10:01\n10:02\n");
    ft_lines_restart(&l);
    feed("same\n11:01\n11:02\nnew\n");
    cr_expect_str_eq(got, "same\n10:01\n10:02\nnew\n");
    cr_expect_eq(l.differs, 2);
}

Test(lines, a_prompt_is_shown_once)
{
    feed("name? ");
    ft_lines_show(&l, emit, NULL);
    ft_lines_show(&l, emit, NULL);
    ft_lines_restart(&l);
    feed("na");
    ft_lines_show(&l, emit, NULL); /* less than what was shown */
    feed("me? thanks");
    ft_lines_show(&l, emit, NULL);
    feed("\nbye\n");
    cr_expect_str_eq(got, "name? thanks\nbye\n");
    cr_expect_eq(l.differs, 0);
}

Test(lines, a_prompt_that_differs_is_told)
{
    feed("at 10:01 ");
    ft_lines_show(&l, emit, NULL);
    ft_lines_restart(&l);
    feed("at 11:01 done\n");
    cr_expect_str_eq(got, "at 10:01 done\n");
    cr_expect_eq(l.differs, 1);
}

Test(lines, replayed_lines_are_not_shown_as_prompts)
{
    feed("one\n");
    ft_lines_restart(&l);
    feed("on");
    cr_expect_not(ft_lines_unfinished(&l));
    ft_lines_show(&l, emit, NULL);
    cr_expect_str_eq(got, "one\n");
}

Test(lines, a_very_long_line_is_cut_at_the_same_place_again)
{
    size_t n = 2 * FT_LINE_MAX + 100;
    char *text = malloc(n);
    struct ft_lines again = {.keep = true};

    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < n; i += 1000)
        ft_lines_feed(&l, text + i, n - i < 1000 ? n - i : 1000, count, NULL);
    cr_expect_eq(ngot, 2 * FT_LINE_MAX);
    cr_expect_eq(l.n, 2);
    cr_expect_eq(l.len, 100);
    ft_lines_feed(&again, text, n, count, NULL);
    cr_expect_eq(again.n, 2);
    ft_lines_free(&again);
    free(text);
}

/* Random text, random pieces, random deaths. */
Test(lines, any_deaths_any_pieces)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        char text[2000];
        size_t n = sizeof text - 1;
        int deaths = (int)(seed % 7);

        end();
        begin();
        srand(seed);
        for (size_t i = 0; i < n; i++)
            text[i] = rand() % 9 ? (char)('a' + rand() % 26) : '\n';
        text[n] = 0;
        for (; deaths >= 0; deaths--) {
            size_t stop = deaths ? (size_t)rand() % n : n;

            for (size_t at = 0; at < stop;) {
                size_t len = (size_t)rand() % 50 + 1;

                len = len > stop - at ? stop - at : len;
                ft_lines_feed(&l, text + at, len, emit, NULL);
                if (rand() % 20 == 0)
                    ft_lines_show(&l, emit, NULL);
                at += len;
            }
            if (deaths)
                ft_lines_restart(&l);
        }
        ft_lines_show(&l, emit, NULL);
        cr_assert_str_eq(got, text, "seed %u", seed);
        cr_assert_eq(l.differs, 0, "seed %u", seed);
    }
}
