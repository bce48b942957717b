/* SPDX-License-Identifier: BSD-3-Clause */
/* When it is told that a rank gets no snapshot. */
#include <criterion/criterion.h>

#include "ft/snap/image.h"
#include "launcher/cadence.h"
#include "launcher/job.h"
#include "launcher/snapshot.h"

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
