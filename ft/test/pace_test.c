/* SPDX-License-Identifier: BSD-3-Clause */
/* When contributions are written past the cache (ft/core/pace.h). */
#include "ft/core/pace.h"

#include <criterion/criterion.h>

enum { BYTES = 32768, NEAR_NS = 5 * BYTES / 64, FAR_NS = 25 * BYTES / 64 };

/* So many fills, samples taking so long: how many went past the cache, and how many samples there were. */
static void fill(struct ft_pace *p, int fills, uint64_t ns, int *past, int *samples)
{
    *past = *samples = 0;
    for (int i = 0; i < fills; i++) {
        enum ft_pace_way way = ft_pace_next(p);

        *past += way == FT_PACE_PAST;
        *samples += way == FT_PACE_SAMPLE;
        if (way == FT_PACE_SAMPLE)
            ft_pace_saw(p, ns, BYTES, FT_PACE_FAR_WRITING);
    }
}

Test(pace, near_stays_in_the_cache)
{
    struct ft_pace p = { 0 };
    int past, samples;

    fill(&p, 1000, NEAR_NS, &past, &samples);
    cr_assert(past == 0 && samples == 1000 / 8);
}

Test(pace, far_goes_past_it_after_three_samples_and_comes_back_after_two)
{
    struct ft_pace p = { 0 };
    int past, samples;

    fill(&p, 24, FAR_NS, &past, &samples);
    cr_assert(past == 0 && samples == 3 && p.far);
    fill(&p, 640, FAR_NS, &past, &samples);
    cr_assert(past == 630 && samples == 10 && p.far, "%d past, %d samples", past, samples);
    fill(&p, 103, NEAR_NS, &past, &samples);
    cr_assert(past == 102 && samples == 1 && p.far);
    fill(&p, 1, NEAR_NS, &past, &samples);
    cr_assert(samples == 1 && !p.far);
}

Test(pace, what_is_slow_now_and_then_is_no_distance)
{
    struct ft_pace p = { 0 };
    int past, samples;

    for (int i = 0; i < 100; i++) {
        fill(&p, 16, FAR_NS, &past, &samples);
        cr_assert(past == 0);
        fill(&p, 8, NEAR_NS, &past, &samples);
    }
    cr_assert_not(p.far);
}

Test(pace, what_is_said_is_not_measured)
{
    struct ft_pace p = { 0 };
    int past, samples;

    cr_assert(ft_pace_set("far") == 0);
    fill(&p, 1000, NEAR_NS, &past, &samples);
    cr_assert(past == 1000 && samples == 0 && ft_pace_gives_past(&p));
    cr_assert(ft_pace_set("near") == 0);
    fill(&p, 1000, FAR_NS, &past, &samples);
    cr_assert(past == 0 && samples == 0 && !ft_pace_gives_past(&p));
    cr_assert(ft_pace_set("about") == -1);
    cr_assert(ft_pace_set(NULL) == 0);
    fill(&p, 1000, FAR_NS, &past, &samples);
    cr_assert(past > 0 && samples > 0);
}
