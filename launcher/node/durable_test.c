/* SPDX-License-Identifier: BSD-3-Clause */
/* Which checkpoint a node holds when the controller asks for one (--ckpt-dir on several hosts): by the words that its ranks leave, and the frames that
   come and go. What else is in an agent is not there. */
#include "config.h"
#include "launcher/node/durable.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "launcher/job/pin.h"
#include "launcher/node/job.h"
#include "launcher/node/uplink.h"
#include "launcher/snap/durable.h"
#include "launcher/stdio/memory.h"
#include "launcher/wire/models.h"

enum { RANKS = 2, ROUND = 7 };

static struct ft_options options = {.nranks = RANKS};
static struct ft_spool_state spooled;
static struct ft_stdio_memory stdio = {.spools = {{.state = &spooled}}};
static struct ft_agent agent = {.job = {.options = &options, .stdio = &stdio}};
static struct ft_job *const job = &agent.job;
static struct ft_node node = {.agent = &agent, .job = &agent.job};
static unsigned answers;
static uint64_t answered; /* version; 0: none */

void ft_uplink_say(struct ft_uplink *u, struct ft_wire_bytes frame)
{
    struct ft_wire_frame f;
    struct ft_wire_held m;
    struct ft_error e;

    (void)u;
    cr_assert_eq(ft_wire_next(frame.data, frame.len, &f, &e), (int)frame.len);
    cr_assert_eq(f.type, FT_WIRE_HELD);
    cr_assert_eq(ft_wire_get_held(&f, &m, &e), 0, "%s", e.text);
    cr_assert(m.round == ROUND && m.nmodels == 1 + RANKS);
    answers++;
    answered = m.version;
    free(m.models);
    free(frame.data);
}

void ft_node_changed(struct ft_node *n) { (void)n; }

void ft_job_post(struct ft_job *j, const struct ft_event *ev)
{
    (void)j;
    (void)ev;
    cr_assert(false, "nothing here ends a job");
}

void ft_durable_begin(const struct ft_job *j, uint64_t version, const struct ft_ckpt_section *models, const struct ft_ckpt_section *carried)
{
    (void)j;
    (void)version;
    (void)models;
    (void)carried;
    cr_assert(false, "nothing here is resumed");
}

static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, RANKS, 2, 64 << 20);
    cr_assert_eq(ft_region_create(&job->region, &p, &e), 0, "%s", e.text);
    cr_assert_eq(ft_node_durable_serve(&node), 0);
}

static void tear_down(void)
{
    ft_node_durable_leave(&node);
    ft_region_close(&job->region);
}

TestSuite(node_durable, .init = set_up, .fini = tear_down, .timeout = 60);

/* A rank has version's models in that slot; it is unit 2 * version. */
static void has_written(uint32_t rank, uint32_t slot, uint64_t version)
{
    struct ft_model_slot *s = &ft_versions_of(&job->region, rank)->slot[slot];

    s->unit = 2 * version;
    s->version = version;
}

/* Every rank is past it, be it live or in a replay. */
static void all_consume(uint64_t version)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        ft_region_stream(&job->region, 0).counters[rank].done = 2 * version + 1;
        ft_versions_of(&job->region, rank)->consumed = version;
    }
}

static void all_make(uint32_t slot, uint64_t version)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        has_written(rank, slot, version);
    all_consume(version);
}

/* The controller's HOLD; version 0: the newest. */
static void ask(uint64_t version)
{
    struct ft_wire_bytes b = ft_wire_put_hold(&(struct ft_wire_hold){.round = ROUND, .version = version});
    struct ft_wire_frame f;
    struct ft_error e;

    answers = 0;
    cr_assert_eq(ft_wire_next(b.data, b.len, &f, &e), (int)b.len);
    cr_assert_eq(ft_node_durable_take(&node, &f, &e), 0, "%s", e.text);
    free(b.data);
}

static void expect_answer(uint64_t version)
{
    cr_assert_eq(answers, 1, "%u answers", answers);
    cr_assert_eq(answered, version, "version %llu is held", (unsigned long long)answered);
}

static bool is_pinned(uint32_t slot)
{
    return ft_versions_head(&job->region)->pinned & ft_pin_bit(FT_PIN_FILE, slot);
}

Test(node_durable, the_next_version_is_waited_for_and_the_one_before_stays_until_then)
{
    all_make(0, 4);
    ask(0);
    expect_answer(4);
    ask(5);
    has_written(0, 1, 5);
    ft_node_durable_look(&node);
    cr_expect_eq(answers, 0);
    cr_expect(is_pinned(0));
    all_make(1, 5);
    ft_node_durable_look(&node);
    expect_answer(5);
    cr_expect(is_pinned(1) && !is_pinned(0));
}

/* A node that was replaced began with version 4, which the next node had kept, and the log that it fetched goes beyond 6. Its ranks wait for slot 0 to make 8: it
   held 4 there and waited for 5, for ever (resume_hosts.sh, loses_two host; once in 20). */
Test(node_durable, a_version_that_has_been_replayed_is_not_waited_for)
{
    all_make(0, 4);
    ask(0);
    expect_answer(4);
    all_consume(6);
    ask(5);
    expect_answer(0);
    cr_expect_not(is_pinned(0));
}

Test(node_durable, nor_one_that_is_replayed_while_it_is_waited_for)
{
    all_make(0, 4);
    ask(0);
    ask(5);
    ft_node_durable_look(&node);
    cr_expect_eq(answers, 0);
    all_consume(6);
    ft_node_durable_look(&node);
    expect_answer(0);
    cr_expect_not(is_pinned(0));
}

Test(node_durable, no_version_is_waited_for_when_no_rank_is_left)
{
    all_make(0, 4);
    ask(0);
    ask(5);
    agent.sweep.on = true;
    ft_node_durable_look(&node);
    expect_answer(0);
    cr_expect_not(is_pinned(0));
}
