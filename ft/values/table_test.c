/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store: each call is done once and answered the same whenever it is asked again, by whichever process. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/values/table.h"

enum { RANKS = 3, MEMORY = 1 << 20, WAIT = 100 };

static uint64_t *memory;
static struct ft_values *store;

static uint64_t *zeros(void) { return memset(aligned_alloc(64, MEMORY), 0, MEMORY); }

static void begin(void)
{
    memory = zeros();
    store = ft_values_new(memory, MEMORY, RANKS);
    cr_assert(store != NULL);
}

static void end(void)
{
    ft_values_free(store);
    free(memory);
}

TestSuite(values, .init = begin, .fini = end, .timeout = 60);

/* Another process goes on. */
static void take_over(void)
{
    ft_values_free(store);
    store = ft_values_new(memory, MEMORY, RANKS);
    cr_assert(store != NULL);
}

static struct ft_value_ask ask_of(enum ft_value_op op, uint64_t number, const char *key)
{
    return (struct ft_value_ask){.op = op, .number = number, .key = key, .nkey = (uint32_t)strlen(key), .wait_ms = WAIT};
}

static struct ft_value_answer do_it(uint32_t rank, struct ft_value_ask ask)
{
    struct ft_value_answer a;

    cr_assert(ft_values_do(store, rank, &ask, &a));
    cr_expect(a.number == ask.number);
    return a;
}

static struct ft_value_answer set(uint32_t rank, uint64_t number, const char *key, const char *value)
{
    struct ft_value_ask ask = ask_of(FT_VALUE_SET, number, key);

    ask.value = value;
    ask.nvalue = (uint32_t)strlen(value);
    return do_it(rank, ask);
}

static struct ft_value_answer add(uint32_t rank, uint64_t number, const char *key, int64_t by)
{
    struct ft_value_ask ask = ask_of(FT_VALUE_ADD, number, key);

    ask.by = by;
    return do_it(rank, ask);
}

/* expected NULL: nothing. */
static struct ft_value_answer compare(uint32_t rank, uint64_t number, const char *key, const char *expected, const char *value)
{
    struct ft_value_ask ask = ask_of(FT_VALUE_COMPARE, number, key);

    ask.none_expected = !expected;
    ask.expected = expected;
    ask.nexpected = expected ? (uint32_t)strlen(expected) : 0;
    ask.value = value;
    ask.nvalue = (uint32_t)strlen(value);
    return do_it(rank, ask);
}

static struct ft_value_answer get(uint32_t rank, uint64_t number, const char *key)
{
    return do_it(rank, ask_of(FT_VALUE_GET, number, key));
}

static void expect_value(struct ft_value_answer a, const char *value)
{
    cr_expect(a.status == FT_VALUE_DONE && a.there && a.nvalue == strlen(value) && !memcmp(a.value, value, a.nvalue),
              "not \"%s\" but \"%.*s\"", value,
              (int)a.nvalue, a.value ? (const char *)a.value : "");
}

Test(values, what_is_set_is_there)
{
    cr_expect(!get(0, 0, "k").there);
    cr_expect(set(0, 1, "k", "one").status == FT_VALUE_DONE);
    expect_value(get(1, 0, "k"), "one");
    set(2, 0, "k", "");
    expect_value(get(1, 1, "k"), "");
    cr_expect(!get(1, 2, "kk").there && !get(1, 3, "K").there);
}

Test(values, a_call_that_is_asked_again_is_answered_again)
{
    struct ft_value_answer first;

    set(0, 0, "k", "one");
    first = get(1, 0, "k");
    expect_value(first, "one");
    cr_expect(add(0, 1, "n", 5).sum == 5 && add(1, 1, "n", 7).sum == 12);
    set(0, 2, "k", "two");
    take_over();
    expect_value(get(1, 0, "k"), "one");
    cr_expect(add(0, 1, "n", 5).sum == 5 && add(1, 1, "n", 7).sum == 12);
    cr_expect(set(0, 0, "k", "one").status == FT_VALUE_DONE);
    expect_value(get(2, 0, "k"), "two");
    expect_value(get(2, 1, "n"), "12");
}

Test(values, compare_swaps_what_was_expected)
{
    cr_expect(!compare(0, 0, "k", "x", "y").swapped);
    cr_expect(compare(0, 1, "k", NULL, "one").swapped && !compare(1, 0, "k", NULL, "other").swapped);
    expect_value(compare(1, 1, "k", "two", "other"), "one");
    expect_value(compare(1, 2, "k", "one", "three"), "three");
    take_over();
    cr_expect(compare(0, 1, "k", NULL, "one").swapped && compare(1, 2, "k", "one", "three").swapped);
    cr_expect(!compare(1, 1, "k", "two", "other").swapped);
    set(0, 2, "empty", "");
    cr_expect(compare(0, 3, "empty", "", "full").swapped);
}

Test(values, add_is_for_numbers)
{
    static const char *const none[] = {"", "x", "1x", " 1", "+1", "01", "-", "-0", "99999999999999999999",
                                       "111111111111111111111111111111"};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        set(0, 2 * i, "n", none[i]);
        cr_expect(add(0, 2 * i + 1, "n", 1).status == FT_VALUE_NO_NUMBER, "\"%s\"", none[i]);
        expect_value(get(1, i, "n"), none[i]);
    }
    set(2, 0, "n", "9223372036854775806");
    cr_expect(add(2, 1, "n", 1).sum == INT64_MAX && add(2, 2, "n", 1).status == FT_VALUE_NO_NUMBER);
    set(2, 3, "n", "-9223372036854775808");
    cr_expect(add(2, 4, "n", INT64_MAX).sum == -1 && add(2, 5, "n", -4).sum == -5);
    cr_expect(add(2, 2, "n", 1).status == FT_VALUE_NO_NUMBER && add(2, 1, "n", 1).sum == INT64_MAX);
}

/* What follows a zero was once not looked at. */
Test(values, a_number_with_a_zero_byte_behind_it_is_none)
{
    struct ft_value_ask ask = ask_of(FT_VALUE_SET, 0, "n");

    ask.value = "5\0006";
    for (ask.nvalue = 2; ask.nvalue <= 3; ask.nvalue++, ask.number += 2) {
        do_it(0, ask);
        cr_expect(add(0, ask.number + 1, "n", 1).status == FT_VALUE_NO_NUMBER, "%u bytes", ask.nvalue);
    }
    ask.nvalue = 1;
    do_it(0, ask);
    cr_expect(add(0, ask.number + 1, "n", 1).sum == 6);
}

Test(values, who_waits_is_answered_once_it_is_there_or_late)
{
    struct ft_value_ask ask = ask_of(FT_VALUE_WAIT, 0, "k"), late = ask_of(FT_VALUE_WAIT, 1, "l");
    struct ft_value_answer a;

    cr_expect(!ft_values_do(store, 0, &ask, &a));
    set(1, 0, "k", "v");
    cr_expect(ft_values_do(store, 0, &ask, &a));
    expect_value(a, "v");
    cr_expect(!ft_values_do(store, 0, &late, &a));
    late.wait_ms = 0;
    cr_expect(ft_values_do(store, 0, &late, &a));
    cr_expect(a.status == FT_VALUE_LATE && !a.there);
    set(1, 1, "l", "too late");
    take_over();
    cr_expect(ft_values_do(store, 0, &late, &a) && a.status == FT_VALUE_LATE);
    late.number = 2;
    cr_expect(ft_values_do(store, 0, &late, &a));
    expect_value(a, "too late");
}

Test(values, another_call_with_a_number_that_was_used_is_refused)
{
    set(0, 0, "k", "v");
    get(0, 2, "k");
    cr_expect(get(0, 0, "k").status == FT_VALUE_OTHER);
    cr_expect(set(0, 0, "l", "v").status == FT_VALUE_OTHER);
    cr_expect(get(0, 1, "k").status == FT_VALUE_OTHER, "a number that was left out");
    cr_expect(get(1, 1, "k").status == FT_VALUE_DONE, "another rank's is its own");
    set(0, 0, "k", "another value"); /* what it was told counts */
    expect_value(get(1, 2, "k"), "v");
}

Test(values, who_goes_on_from_a_checkpoint_counts_from_there)
{
    set(0, ft_value_number(0, 0), "k", "zero");
    set(0, ft_value_number(0, 1), "k", "zero, too");
    set(0, ft_value_number(1, 0), "k", "one");
    cr_expect(add(1, ft_value_number(3, 0), "n", 1).sum == 1);
    take_over();
    cr_expect(add(1, ft_value_number(3, 0), "n", 1).sum == 1 && add(1, ft_value_number(3, 1), "n", 1).sum == 2);
    cr_expect(set(0, ft_value_number(0, 0), "k", "zero").status == FT_VALUE_DONE, "what comes before the load");
    cr_expect(set(0, ft_value_number(1, 0), "k", "one").status == FT_VALUE_DONE);
    expect_value(get(2, 0, "k"), "one");
}

static char *filled(uint32_t n)
{
    char *bytes = malloc(n);

    memset(bytes, 'x', n);
    return bytes;
}

Test(values, what_does_not_fit_is_refused_and_changes_nothing)
{
    uint32_t n = 100000, i = 0;
    char *value = filled(n);
    struct ft_value_ask ask;

    do {
        ask = ask_of(FT_VALUE_SET, i++, "k");
        ask.value = value;
        ask.nvalue = n;
    } while (do_it(0, ask).status == FT_VALUE_DONE);
    cr_expect(i > 5 && i <= MEMORY / n);
    cr_expect(do_it(0, ask).status == FT_VALUE_FULL, "asked again");
    cr_expect(get(1, 0, "k").nvalue == n, "it can be read");
    for (i = 1; get(1, i, "k").status == FT_VALUE_DONE; i++)
        cr_assert(i < MEMORY);
    cr_expect(get(1, i, "k").status == FT_VALUE_FULL && get(1, i - 1, "k").status == FT_VALUE_DONE);
    take_over();
    cr_expect(get(1, i - 1, "k").status == FT_VALUE_DONE);
    free(value);
}

Test(values, there_may_be_many_keys)
{
    char key[32];

    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "key %d", i);
        cr_assert(compare(0, (uint64_t)i, key, NULL, key).swapped);
    }
    take_over();
    cr_expect(ft_values_keys(store) == 3000);
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "key %d", i);
        expect_value(get(1, (uint64_t)i, key), key);
    }
}

/* ---- by seed: a process that answers is killed anywhere, and asked again ---- */

static uint64_t drawn;

static uint32_t below(uint32_t n)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(drawn >> 33) % n;
}

static struct ft_value_ask any(uint64_t number, char *text)
{
    static const char *const keys[] = {"a", "b", "c", "a longer key"};
    struct ft_value_ask ask = ask_of((enum ft_value_op)(1 + below(FT_VALUE_OPS - 1)), number, keys[below(4)]);

    ask.by = below(100);
    if (ask.op == FT_VALUE_SET || ask.op == FT_VALUE_COMPARE) {
        ask.nvalue = (uint32_t)snprintf(text, 16, "%u", below(3));
        ask.value = text;
    }
    if (ask.op == FT_VALUE_COMPARE && !(ask.none_expected = below(3) == 0)) {
        ask.nexpected = (uint32_t)snprintf(text + 16, 16, "%u", below(3));
        ask.expected = text + 16;
    }
    return ask;
}

static void same(const struct ft_value_answer *a, const struct ft_value_answer *b)
{
    cr_assert(a->status == b->status && a->there == b->there && a->swapped == b->swapped && a->sum == b->sum && a->nvalue == b->nvalue &&
              (!a->nvalue || !memcmp(a->value, b->value, a->nvalue)));
}

/* What was answered before a kill stays. The one call under way is done as a whole or not at all: its bytes may lie there, not count. */
Test(values, killed_at_any_instant)
{
    enum { CALLS = 300 };
    static struct { struct ft_value_ask ask; char text[32]; uint32_t rank; bool done; struct ft_value_answer answer; } calls[CALLS];
    uint64_t *reference = zeros(), counts[RANKS] = {0};
    struct ft_values *undisturbed = ft_values_new(reference, MEMORY, RANKS);

    drawn = 1;
    for (int i = 0; i < CALLS; i++) {
        struct ft_value_answer expected;
        bool done;

        calls[i].rank = below(RANKS);
        calls[i].ask = any(counts[calls[i].rank]++, calls[i].text);
        done = ft_values_do(undisturbed, calls[i].rank, &calls[i].ask, &expected);
        if (below(3) == 0) { /* killed before the last store, which says that it counts; what is behind that is rubbish */
            uint64_t end_before = memory[0];

            ft_values_do(store, calls[i].rank, &calls[i].ask, &calls[i].answer);
            memory[0] = end_before;
            take_over();
        } else if (below(3) == 0) { /* killed after it */
            ft_values_do(store, calls[i].rank, &calls[i].ask, &calls[i].answer);
            take_over();
        }
        cr_assert(ft_values_do(store, calls[i].rank, &calls[i].ask, &calls[i].answer) == done);
        calls[i].done = done;
        if (done)
            same(&calls[i].answer, &expected);
        else
            counts[calls[i].rank]--; /* it gives up, with another call */
        for (int j = 0; j < i; j++) {
            struct ft_value_answer again;

            if (!calls[j].done || below(20))
                continue;
            cr_assert(ft_values_do(store, calls[j].rank, &calls[j].ask, &again));
            same(&again, &calls[j].answer);
        }
    }
    ft_values_free(undisturbed);
    free(reference);
}

/* ---- as bytes ---- */

Test(value_bytes, what_goes_in_comes_out)
{
    struct ft_value_ask ask = {.number = ft_value_number(3, 7), .op = FT_VALUE_COMPARE, .key = "key", .nkey = 3, .expected = "old",
                               .nexpected = 3,
                               .value = "new one", .nvalue = 7, .wait_ms = 9, .by = -4}, got;
    struct ft_value_answer answer = {.number = 5, .status = FT_VALUE_LATE, .there = true, .swapped = true, .value = "v", .nvalue = 1,
                                     .sum = -2}, heard;
    char bytes[256];
    size_t n = ft_value_ask_bytes(&ask);

    ft_value_put_ask(&ask, bytes);
    cr_assert(ft_value_get_ask(&got, bytes, n));
    cr_expect(got.number == ask.number && got.op == ask.op && got.nkey == 3 && !memcmp(got.key, "key", 3) && got.nexpected == 3 &&
              !memcmp(got.expected, "old", 3) && got.nvalue == 7 && !memcmp(got.value, "new one", 7) && got.wait_ms == 9 && got.by == -4);
    for (size_t less = 0; less < n; less++)
        cr_expect(!ft_value_get_ask(&got, bytes, less));
    n = ft_value_answer_bytes(&answer);
    ft_value_put_answer(&answer, bytes);
    cr_assert(ft_value_get_answer(&heard, bytes, n));
    cr_expect(heard.number == 5 && heard.status == FT_VALUE_LATE && heard.there && heard.swapped && heard.nvalue == 1 && heard.sum == -2);
    for (size_t less = 0; less < n; less++)
        cr_expect(!ft_value_get_answer(&heard, bytes, less));
}

Test(value_bytes, nothing_is_believed)
{
    struct ft_value_ask ask = {.op = FT_VALUE_SET, .key = "k", .nkey = 1, .value = "v", .nvalue = 1}, got;
    unsigned char bytes[64], wrong[64];
    size_t n = ft_value_ask_bytes(&ask);
    static const struct { int at; unsigned char is; } damage[] = {
        {8, 0}, {8, FT_VALUE_OPS}, {8, FT_VALUE_GET}, {9, 1}, {10, 0}, {10, 2}, {11, 0xff}, {12, 1}, {16, 0}, {16, 2}, {19, 0xff}, {20, 1},
    };

    ft_value_put_ask(&ask, bytes);
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        memcpy(wrong, bytes, n);
        wrong[damage[i].at] = damage[i].is;
        cr_expect(!ft_value_get_ask(&got, wrong, n), "byte %d is %d", damage[i].at, damage[i].is);
    }
    cr_expect(ft_value_get_ask(&got, bytes, n) && !ft_value_get_ask(&got, bytes, n + 1));
}
