/* SPDX-License-Identifier: BSD-3-Clause */
/* Output exactly once (launcher/stdio/lines.h, RULES 21 and 22): whatever the pieces it is read in and wherever an
   incarnation dies, what is forwarded is what an undisturbed run prints. */
#include "config.h"
#include "launcher/stdio/lines.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ft_lines l;
static uint32_t hashes[4000];
static char part[FT_LINE_MAX];
static char got[1 << 16];
static size_t ngot;

static void emit(void *arg, bool begins, const char *data, size_t len)
{
    (void)arg;
    cr_assert_eq(begins, !ngot || got[ngot - 1] == '\n'); /* where a tag goes */
    cr_assert_leq(ngot + len, sizeof got - 1);
    memcpy(got + ngot, data, len);
    ngot += len;
    got[ngot] = 0;
}

static void count(void *arg, bool begins, const char *data, size_t len)
{
    (void)arg;
    (void)begins;
    (void)data;
    ngot += len;
}

static void feed_to(struct ft_lines *lines, const char *text, size_t len, ft_emit *to)
{
    while (len) {
        size_t n = ft_lines_step(lines, text, len, to, NULL);

        cr_assert(n >= 1 && n <= len);
        text += n;
        len -= n;
    }
}

static void feed(const char *text)
{
    feed_to(&l, text, strlen(text), emit);
}

static void begin(void)
{
    l = (struct ft_lines){.keep = true, .hash = hashes, .room = sizeof hashes / sizeof hashes[0], .part = part, .longest = FT_LINE_MAX};
    got[ngot = 0] = 0;
}

TestSuite(lines, .init = begin);

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
    cr_expect_eq(l.s.differs, 0);
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
    cr_expect_eq(l.s.differs, 2);
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
    cr_expect_eq(l.s.differs, 0);
}

Test(lines, a_prompt_that_differs_is_told)
{
    feed("at 10:01 ");
    ft_lines_show(&l, emit, NULL);
    ft_lines_restart(&l);
    feed("at 11:01 done\n");
    cr_expect_str_eq(got, "at 10:01 done\n");
    cr_expect_eq(l.s.differs, 1);
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
    struct ft_lines again = l;

    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < n; i += 1000)
        feed_to(&l, text + i, n - i < 1000 ? n - i : 1000, count);
    cr_expect_eq(ngot, 2 * FT_LINE_MAX);
    cr_expect_eq(l.s.n, 2);
    cr_expect_eq(l.s.len, 100);
    again.s = (struct ft_lines_state){0};
    feed_to(&again, text, n, count);
    cr_expect_eq(again.s.n, 2);
    free(text);
}

Test(lines, lines_beyond_the_room_for_hashes_are_counted)
{
    l.room = 1;
    feed("one\ntwo\n");
    ft_lines_restart(&l);
    feed("one\nTWO\nthree\n");
    cr_expect_str_eq(got, "one\ntwo\nthree\n");
    cr_expect_eq(l.s.differs, 0);
    ft_lines_restart(&l);
    feed("ONE\n");
    cr_expect_eq(l.s.differs, 1);
}

/* Lines are short here. */
static void mark(struct ft_lines_mark *m)
{
    ft_lines_mark(&l, m, NULL);
}

static void go_back(const struct ft_lines_mark *m)
{
    ft_lines_restart(&l);
    ft_lines_return(&l, m, NULL);
}

Test(lines, what_was_printed_since_a_mark_comes_again)
{
    static struct ft_lines_mark m;

    feed("one\ntw");
    mark(&m);
    feed("o\nthree\nfo");
    go_back(&m);
    feed("o\nthree\nfour\n");
    cr_expect_str_eq(got, "one\ntwo\nthree\nfour\n");
    go_back(&m);
    feed("O\nthree\n");
    cr_expect_str_eq(got, "one\ntwo\nthree\nfour\n");
    cr_expect_eq(l.s.differs, 2);
}

Test(lines, a_mark_made_in_a_replay)
{
    static struct ft_lines_mark m;

    feed("one\ntwo\nthree\n");
    ft_lines_restart(&l);
    feed("one\nt");
    mark(&m);
    feed("w");
    go_back(&m);
    feed("wo\nthree\nfour\n");
    cr_expect_str_eq(got, "one\ntwo\nthree\nfour\n");
    cr_expect_eq(l.s.differs, 0);
}

/* A prompt that was shown before the mark, half of it, or after. */
Test(lines, a_prompt_around_a_mark)
{
    static struct ft_lines_mark before, half, after;

    mark(&before);
    feed("name");
    ft_lines_show(&l, emit, NULL);
    mark(&half);
    feed("? ");
    ft_lines_show(&l, emit, NULL);
    mark(&after);
    go_back(&before);
    feed("name? ");
    ft_lines_show(&l, emit, NULL);
    go_back(&half);
    cr_expect_not(ft_lines_unfinished(&l));
    feed("? y");
    ft_lines_show(&l, emit, NULL);
    go_back(&after);
    feed("you\nbye\n");
    cr_expect_str_eq(got, "name? you\nbye\n");
    cr_expect_eq(l.s.differs, 0);
}

Test(lines, a_line_too_long_for_a_mark)
{
    static struct ft_lines_mark fits, m;
    char text[FT_MARK_BYTES + 1], rest[sizeof text];

    memset(text, 'x', sizeof text);
    feed_to(&l, text, FT_MARK_BYTES, emit);
    mark(&fits);
    feed_to(&l, text, 1, emit);
    ft_lines_mark(&l, &m, rest);
    ft_lines_restart(&l);
    ft_lines_return(&l, &m, rest);
    feed("\n");
    cr_expect_eq(ngot, FT_MARK_BYTES + 2);
    go_back(&fits);
    feed("x\nnext\n");
    cr_expect_eq(ngot, FT_MARK_BYTES + 2 + 5);
    cr_expect_eq(l.s.differs, 0);
}

/* A step that was cut short is done again from the state before it: the areas it has written do not matter. */
Test(lines, a_step_can_be_done_again)
{
    const char *text = "one\ntwo\nthree is longer\n\nfour, which is cut somewhere";
    size_t n = strlen(text);

    for (unsigned seed = 1; seed <= 200; seed++) {
        begin();
        srand(seed);
        for (size_t at = 0; at < n;) {
            size_t len = (size_t)rand() % 9 + 1, was = ngot, done;
            struct ft_lines_state before = l.s;

            len = len > n - at ? n - at : len;
            done = ft_lines_step(&l, text + at, len, emit, NULL);
            if (rand() % 2) {
                l.s = before;
                got[ngot = was] = 0;
                cr_assert_eq(ft_lines_step(&l, text + at, len, emit, NULL), done);
            }
            at += done;
            if (rand() % 15 == 0) {
                ft_lines_restart(&l);
                at = 0;
            }
        }
        ft_lines_show(&l, emit, NULL);
        cr_assert_str_eq(got, text, "seed %u", seed);
        cr_assert_eq(l.s.differs, 0);
    }
}

/* As the next, with marks; lines are cut at eight bytes. */
Test(lines, any_deaths_any_marks)
{
    static struct ft_lines_mark marks[2];

    for (unsigned seed = 1; seed <= 500; seed++) {
        char text[1000];
        size_t n = sizeof text - 1, at[2] = {0};

        begin();
        l.longest = 8;
        srand(seed);
        for (size_t i = 0; i < n; i++)
            text[i] = rand() % 9 ? (char)('a' + rand() % 26) : '\n';
        text[n] = 0;
        mark(&marks[0]);
        mark(&marks[1]);
        for (size_t i = 0; i < n;) {
            size_t len = (size_t)rand() % 20 + 1;
            int which = rand() % 2;

            len = len > n - i ? n - i : len;
            feed_to(&l, text + i, len, emit);
            i += len;
            if (rand() % 9 == 0)
                ft_lines_show(&l, emit, NULL);
            if (rand() % 9 == 0) {
                mark(&marks[which]);
                at[which] = i;
            } else if (rand() % 18 == 0) {
                go_back(&marks[which]);
                i = at[which];
            } else if (rand() % 200 == 0) {
                ft_lines_restart(&l);
                i = 0;
            }
        }
        ft_lines_show(&l, emit, NULL);
        cr_assert_str_eq(got, text, "seed %u", seed);
        cr_assert_eq(l.s.differs, 0, "seed %u", seed);
    }
}

/* Random text, random pieces, random deaths. */
Test(lines, any_deaths_any_pieces)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        char text[2000];
        size_t n = sizeof text - 1;
        int deaths = (int)(seed % 7);

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
                feed_to(&l, text + at, len, emit);
                if (rand() % 20 == 0)
                    ft_lines_show(&l, emit, NULL);
                at += len;
            }
            if (deaths)
                ft_lines_restart(&l);
        }
        ft_lines_show(&l, emit, NULL);
        cr_assert_str_eq(got, text, "seed %u", seed);
        cr_assert_eq(l.s.differs, 0, "seed %u", seed);
    }
}
