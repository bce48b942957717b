/* SPDX-License-Identifier: BSD-3-Clause */
/* When ranks are asked for snapshots, and when it is told that one gets none. */
#include <criterion/criterion.h>
#include <string.h>

#include "ft/outcome/log.h"
#include "ft/snap/image.h"
#include "launcher/job/job.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/snapshot.h"

static bool is_told_of(uint32_t reason, uint32_t refusals, bool one_thread)
{
    static const struct ft_options options;
    static struct ft_job job = {.options = &options, .say = {.quiet = true}};
    struct ft_snapshot s = {.job = &job, .reason = reason, .refusals = refusals};
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, 1, 1, 64 << 20);
    params.one_thread = one_thread;
    cr_assert_eq(ft_region_create(&job.region, &params, &e), 0);
    ft_cadence_tell(&s, 1);
    ft_region_close(&job.region);
    return s.told;
}

static bool is_told(uint32_t reason, uint32_t refusals) { return is_told_of(reason, refusals, false); }

/* It took six seconds. */
Test(cadence, a_program_behind_a_wrapper_is_told_at_once)
{
    cr_expect_not(is_told(FT_IMAGE_WRAPPER, 0));
    cr_expect(is_told(FT_IMAGE_WRAPPER, 1));
}

Test(cadence, what_may_go_away_is_told_when_it_stays)
{
    cr_expect_not(is_told(FT_IMAGE_CHILDREN, 2));
    cr_expect(is_told(FT_IMAGE_CHILDREN, 3));
}

/* It is asked again soon, so that three times are no time at all. With --snapshot-threads off it is as anything that may go away. */
Test(cadence, a_thread_that_cannot_be_stopped_is_told_after_seconds)
{
    cr_expect_not(is_told(FT_IMAGE_THREADS, 7));
    cr_expect(is_told(FT_IMAGE_THREADS, 8));
    cr_expect(is_told_of(FT_IMAGE_THREADS, 3, true));
}

/* ---- rounds ---- */

#define MS 1000000ull

/* Four ranks, two processors. */
static struct ft_options options = {.nranks = 4, .snapshot_ms = FT_SNAPSHOT_AUTO};
static struct ft_job job = {.options = &options};
static struct ft_snapshot ranks[4];

static void create(void)
{
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, 4, 2, 64 << 20);
    cr_assert_eq(ft_region_create(&job.region, &params, &e), 0);
    for (uint32_t r = 0; r < 4; r++)
        ranks[r] = (struct ft_snapshot){.job = &job, .rank = r};
}

static void destroy(void) { ft_region_close(&job.region); }

TestSuite(rounds, .init = create, .fini = destroy);

Test(rounds, come_each_second_while_they_cost_little)
{
    cr_expect_not(ft_cadence_round(&job, ranks, 999 * MS));
    cr_expect(ft_cadence_round(&job, ranks, 1000 * MS));
}

/* Each rank by itself kept to 1 percent of its processor; four of them cost the job 4, since all wait for the one that stands still. */
Test(rounds, cost_the_job_a_hundredth_of_its_time)
{
    ranks[1].last_ns = ranks[3].last_ns = 16 * MS; /* two of them on one processor, and a quarter: 40 ms */
    cr_expect_not(ft_cadence_round(&job, ranks, 3999 * MS));
    cr_expect(ft_cadence_round(&job, ranks, 4000 * MS));
}

Test(rounds, come_as_often_as_somebody_says)
{
    options.snapshot_ms = 100;
    ranks[0].last_ns = 20 * MS;
    cr_expect_not(ft_cadence_round(&job, ranks, 99 * MS));
    cr_expect(ft_cadence_round(&job, ranks, 100 * MS));
}

Test(rounds, ask_every_rank_once)
{
    ranks[1].asked_ns = 5000 * MS;
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 5010 * MS));
    cr_expect_not(ft_cadence_due(&ranks[1], 5000 * MS, 5010 * MS));
}

Test(rounds, a_rank_that_has_refused_has_a_pace_of_its_own)
{
    ranks[0].asked_ns = 5000 * MS;
    ranks[0].refusals = 1;
    cr_expect_not(ft_cadence_due(&ranks[0], 6000 * MS, 6999 * MS));
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 7000 * MS));
}

/* In the words of the rank, if it has any. */
Test(rounds, a_reason_names_the_thread)
{
    char text[FT_CADENCE_REASON];

    ranks[0].reason = FT_IMAGE_THREADS;
    cr_expect_str_eq(ft_cadence_reason(&ranks[0], text), "a thread of it could not be stopped");
    memset(ranks[0].stands, 'x', sizeof ranks[0].stands - 1);
    cr_expect(strlen(ft_cadence_reason(&ranks[0], text)) == strlen("a thread of it could not be stopped: ") + sizeof ranks[0].stands - 1);
    job.region.header->params.one_thread = 1;
    cr_expect_str_eq(ft_cadence_reason(&ranks[0], text), "it has more than one thread (--snapshot-threads off)");
}

/* A thread is somewhere else soon: the next call tries again. It took two seconds, then four. */
Test(rounds, a_thread_that_could_not_be_stopped_is_tried_again_soon)
{
    ranks[0].asked_ns = 5000 * MS;
    ranks[0].reason = FT_IMAGE_THREADS;
    ranks[0].refusals = 1;
    cr_expect_not(ft_cadence_due(&ranks[0], 6000 * MS, 5049 * MS));
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 5050 * MS));
    ranks[0].refusals = 3;
    cr_expect_not(ft_cadence_due(&ranks[0], 6000 * MS, 5199 * MS));
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 5200 * MS));
    ranks[0].refusals = 1000;
    cr_expect_not(ft_cadence_due(&ranks[0], 7000 * MS, 5999 * MS));
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 6000 * MS));
}

/* The others stood still until it was given up. */
Test(rounds, a_refusal_costs_no_more_than_its_share)
{
    ranks[0].asked_ns = 5000 * MS;
    ranks[0].reason = FT_IMAGE_THREADS;
    ranks[0].refusals = 1;
    ranks[0].refused_ns = 30 * MS;
    cr_expect_not(ft_cadence_due(&ranks[0], 9000 * MS, 7999 * MS));
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 8000 * MS));
    options.snapshot_ms = 100; /* at any cost */
    cr_expect(ft_cadence_due(&ranks[0], 5000 * MS, 5050 * MS));
}

/* ---- the log of outcomes ---- */

enum { OUTCOMES = 256 << 20 };

/* Rank 1 has a snapshot, and that much more in its log. */
static bool is_round(uint64_t more, uint64_t limit, uint64_t since_ms)
{
    struct ft_outcome_words *outcomes;
    struct ft_params params;
    struct ft_error e;
    bool is;

    destroy();
    ft_params_default(&params, 4, 2, 64 << 20);
    params.outcome_bytes = limit;
    cr_assert_eq(ft_region_create(&job.region, &params, &e), 0);
    atomic_store(&ranks[1].named, 2);
    ranks[1].slots[1].at.outcomes.end = 100 << 20;
    outcomes = ft_region_outcomes(&job.region, 1);
    atomic_store(&outcomes->tail, (100 << 20) + more);
    is = ft_cadence_round(&job, ranks, since_ms * MS);
    atomic_store(&outcomes->tail, 0);
    return is;
}

/* A rank that never calls MPI has no other log. Its memory is used again when a newer snapshot stands: reads into new memory take ten times as long. */
Test(rounds, come_soon_when_outcomes_have_grown)
{
    cr_expect_not(is_round((32 << 20) - 64, OUTCOMES, 500));
    cr_expect(is_round(32 << 20, OUTCOMES, 500));
}

Test(rounds, come_before_a_small_log_of_outcomes_is_full)
{
    cr_expect_not(is_round((2 << 20) - 64, 8 << 20, 500));
    cr_expect(is_round(2 << 20, 8 << 20, 500));
}

Test(rounds, of_outcomes_keep_to_their_share_of_the_time)
{
    ranks[1].last_ns = 4 * MS; /* four ranks, two processors, and a quarter: 10 ms */
    cr_expect_not(is_round(200 << 20, OUTCOMES, 999));
    cr_expect(is_round(200 << 20, OUTCOMES, 1000));
}

Test(rounds, ask_for_nothing_where_nothing_is_recorded)
{
    cr_expect_not(ft_cadence_round(&job, ranks, 500 * MS));
}
