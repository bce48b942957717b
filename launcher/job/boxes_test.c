/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks' boxes as their agent sees them, whoever of both is killed, and where. */
#include "config.h"
#include "launcher/job/boxes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "ft/shm/box.h"

enum { N = 2 };

static struct ft_region region;
static struct ft_boxes *boxes;
static char value[1000];
static const struct ft_value_ask ask = {.number = 7, .op = FT_VALUE_SET, .key = "key", .nkey = 3, .value = value, .nvalue = sizeof value};

static void begin(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, N, 2, 64u << 20);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    boxes = ft_boxes_new(&region);
    cr_assert(boxes != NULL);
}

static void end(void)
{
    ft_boxes_free(boxes);
    ft_region_close(&region);
}

TestSuite(boxes, .init = begin, .fini = end, .timeout = 60);

static void put(uint32_t rank, const struct ft_value_ask *a)
{
    struct ft_box *box = ft_box(&region, rank);

    ft_box_use(&region);
    ft_value_put_ask(a, box->bytes);
    ft_note(&box->length, ft_value_ask_bytes(a));
    ft_publish(&box->asked, ft_peek(&box->asked) + 1);
}

static void expect_taken(uint32_t rank)
{
    struct ft_value_ask got;
    const void *bytes;
    size_t length;

    cr_assert(ft_boxes_take(boxes, rank, &bytes, &length) && ft_value_get_ask(&got, bytes, length));
    cr_expect(got.number == ask.number && got.op == ask.op && got.nkey == 3 && !memcmp(got.key, "key", 3) && got.nvalue == sizeof value);
}

static bool is_taken(uint32_t rank)
{
    const void *bytes;
    size_t length;

    return ft_boxes_take(boxes, rank, &bytes, &length);
}

Test(boxes, of_a_job_that_asks_nothing_are_not_looked_into)
{
    cr_expect(!ft_boxes_used(boxes));
    put(0, &ask);
    cr_expect(ft_boxes_used(boxes));
}

Test(boxes, what_is_asked_is_taken_once_and_answered)
{
    const struct ft_value_answer answer = {.number = ask.number, .value = "long", .nvalue = 4};

    put(1, &ask);
    cr_expect(!is_taken(0));
    expect_taken(1);
    cr_expect(!is_taken(1));
    ft_boxes_answer(boxes, 1, &answer);
    cr_expect_eq(ft_look(&ft_box(&region, 1)->answered), 1);
    cr_expect(!is_taken(1));
}

/* The answer was once written over what was asked: killed in the middle of that, the agent's successor found neither, and the rank was
   told that it had asked for nothing that ftrun understands. */
Test(boxes, an_agent_that_is_killed_while_it_answers_leaves_what_was_asked)
{
    const struct ft_value_answer answer = {.number = ask.number, .value = "long", .nvalue = 4};

    put(0, &ask);
    expect_taken(0);
    ft_boxes_answer(boxes, 0, &answer);
    ft_note(&ft_box(&region, 0)->answered, 0); /* it did not come to that store */
    ft_boxes_free(boxes);
    boxes = ft_boxes_new(&region);
    expect_taken(0);
    ft_boxes_answer(boxes, 0, &answer);
    cr_expect_eq(ft_look(&ft_box(&region, 0)->answered), 1);
}

Test(boxes, what_a_dead_rank_has_asked_nobody_waits_for)
{
    const struct ft_value_answer answer = {.number = ask.number};

    put(0, &ask);
    expect_taken(0);
    ft_region_start_rank(&region, 0, 1);
    ft_boxes_again(boxes);
    cr_expect(!is_taken(0));
    ft_boxes_answer(boxes, 0, &answer);
    put(0, &ask);
    cr_expect_eq(ft_look(&ft_box(&region, 0)->answered), 1, "its successor has no answer yet");
    expect_taken(0);
    ft_boxes_answer(boxes, 0, &answer);
    cr_expect_eq(ft_look(&ft_box(&region, 0)->answered), 2);
}
