/* SPDX-License-Identifier: BSD-3-Clause */
/* When ranks are asked for snapshots, and when it is told that one gets none. */
#include <criterion/criterion.h>

#include "ft/snap/image.h"
#include "launcher/job/job.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/snapshot.h"

static bool is_told(uint32_t reason, uint32_t refusals)
{
    static const struct ft_options options;
    static struct ft_job job = {.options = &options, .say = {.quiet = true}};
    struct ft_snapshot s = {.job = &job, .reason = reason, .refusals = refusals};
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, 1, 1, 64 << 20);
    cr_assert_eq(ft_region_create(&job.region, &params, &e), 0);
    ft_cadence_tell(&s, 1);
    ft_region_close(&job.region);
    return s.told;
}

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
