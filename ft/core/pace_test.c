/* SPDX-License-Identifier: BSD-3-Clause */
/* When contributions are written past the cache (ft/core/pace.h). */
#include "ft/core/pace.h"

#include <criterion/criterion.h>
#include <string.h>

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

Test(pace, far_goes_past_it_after_eight_samples_and_comes_back_after_two)
{
    struct ft_pace p = { 0 };
    int past, samples;

    fill(&p, 64, FAR_NS, &past, &samples);
    cr_assert(past == 0 && samples == 8 && p.far);
    fill(&p, 640, FAR_NS, &past, &samples);
    cr_assert(past == 630 && samples == 10 && p.far, "%d past, %d samples", past, samples);
    fill(&p, 127, NEAR_NS, &past, &samples);
    cr_assert(past == 126 && samples == 1 && p.far);
    fill(&p, 1, NEAR_NS, &past, &samples);
    cr_assert(samples == 1 && !p.far);
}

Test(pace, what_is_slow_now_and_then_is_no_distance)
{
    struct ft_pace p = { 0 };
    int past, samples;

    for (int i = 0; i < 100; i++) {
        fill(&p, 56, FAR_NS, &past, &samples);
        cr_assert(past == 0);
        fill(&p, 8, NEAR_NS, &past, &samples);
    }
    cr_assert_not(p.far);
}

Test(pace, what_is_said_is_not_measured)
{
    struct ft_pace p = { 0 };
    struct ft_pace_both given = { .past = false };
    int past, samples;

    cr_assert(ft_pace_set("far") == 0);
    fill(&p, 1000, NEAR_NS, &past, &samples);
    cr_assert(past == 1000 && samples == 0);
    for (uint64_t u = 0; u < 1000; u++)
        cr_assert(ft_pace_gives_past(&given, u) && !ft_pace_tries(u));
    cr_assert(ft_pace_set("near") == 0);
    fill(&p, 1000, FAR_NS, &past, &samples);
    cr_assert(past == 0 && samples == 0);
    for (uint64_t u = 0; u < 1000; u++)
        cr_assert(!ft_pace_gives_past(&given, u) && !ft_pace_tries(u));
    cr_assert(ft_pace_set("about") == -1);
    cr_assert(ft_pace_set(NULL) == 0);
    fill(&p, 1000, FAR_NS, &past, &samples);
    cr_assert(past > 0 && samples > 0);
}

/* So many readings of what is lent by two ranks, numbered from *number on, `step` apart: how many each took out of the log, and timed. */
static void read_lent(struct ft_pace p[2], int readings, uint64_t *number, uint64_t step, uint64_t ns, int past[2], int samples[2])
{
    memset(past, 0, 2 * sizeof *past);
    memset(samples, 0, 2 * sizeof *samples);
    for (int i = 0; i < readings; i++, *number += step)
        for (int r = 0; r < 2; r++) {
            enum ft_pace_way way = ft_pace_next_lent(&p[r], *number);

            past[r] += way == FT_PACE_PAST;
            samples[r] += way == FT_PACE_SAMPLE;
            if (way == FT_PACE_SAMPLE)
                ft_pace_saw(&p[r], ns, BYTES, FT_PACE_JUST_MADE);
        }
}

Test(pace, what_has_just_been_made_is_not_read_where_it_is_and_what_nobody_writes_to_is)
{
    enum { UNTOUCHED_NS = 4 * BYTES / 64, MADE_NS = 8 * BYTES / 64 };

    for (uint64_t step = 1; step <= 16; step++) {
        struct ft_pace p[2] = { 0 };
        int past[2], samples[2];
        uint64_t number = 7;

        read_lent(p, 4096, &number, step, UNTOUCHED_NS, past, samples);
        cr_assert(past[0] == 0 && past[1] == 0 && samples[0] > 256 && samples[0] < 1024, "step %d: %d samples", (int)step, samples[0]);
        read_lent(p, 4096, &number, step, MADE_NS, past, samples);
        cr_assert(p[0].far && p[1].far && past[0] > 3500, "step %d: %d out of the log", (int)step, past[0]);
        cr_assert(past[0] == past[1] && samples[0] == samples[1] && samples[0] > 16, "step %d: %d samples", (int)step, samples[0]);
        read_lent(p, 4096, &number, step, UNTOUCHED_NS, past, samples);
        cr_assert(!p[0].far && !p[1].far && past[0] < 2048, "step %d: %d out of the log", (int)step, past[0]);
    }
}

/* Which brings it into the reader's cache. */
Test(pace, a_sample_of_what_is_lent_is_the_second_of_two_readings)
{
    struct ft_pace p = { .far = true };
    enum ft_pace_way before = FT_PACE_PAST;
    int samples = 0;

    for (uint64_t number = 0; number < 10000; number++) {
        enum ft_pace_way way = ft_pace_next_lent(&p, number);

        cr_assert(way != FT_PACE_SAMPLE || before != FT_PACE_PAST);
        samples += way == FT_PACE_SAMPLE;
        before = way;
    }
    cr_assert(samples > 100 && samples < 250, "%d samples", samples);
}

/* Both ranks take a sample in the same call, or who does not slows the other one down. */
Test(pace, whether_the_other_one_reads_near_or_far_its_samples_are_read_by_both)
{
    struct ft_pace near = { 0 }, far = { .far = true };

    for (uint64_t number = 0; number < 10000; number++) {
        enum ft_pace_way theirs = ft_pace_next_lent(&near, number);

        if (ft_pace_next_lent(&far, number) == FT_PACE_SAMPLE)
            cr_assert_eq(theirs, FT_PACE_SAMPLE);
    }
}

/* Units from *u on, `step` apart, of BYTES that take so many ns a line to be written, and to be read: how many went past the cache. */
static int give(struct ft_pace_both *p, int units, uint64_t *u, uint64_t step, const int cached_ns[2], const int past_ns[2])
{
    int past = 0;

    for (int i = 0; i < units; i++, *u += step) {
        bool goes_past = ft_pace_gives_past(p, *u);

        past += goes_past;
        if (ft_pace_tries(*u))
            for (int half = 0; half < 2; half++)
                ft_pace_took(p, *u, half, (uint64_t)(goes_past ? past_ns : cached_ns)[half] * BYTES / 64, BYTES);
    }
    return past;
}

/* Gathers of 4 to 8 KiB took 13 to 19 percent longer on an Emerald Rapids, where reading is slow whichever way it is written: a limit said that its cores were far. And of a gather of one unit
   and a barrier in turn, when each 16th unit was timed, none was if the first gather's number was odd. */
Test(pace, what_two_ranks_give_each_other_goes_the_way_that_takes_less_in_both_halves)
{
    static const int slow_reads[2] = { 3, 10 }, slower_writes[2] = { 7, 10 }, far[2] = { 5, 20 }, past_far[2] = { 8, 6 };

    for (uint64_t step = 1; step <= 64; step++) {
        struct ft_pace_both p = { .past = false };
        uint64_t u = 5;
        int past;

        past = give(&p, 4096, &u, step, slow_reads, slower_writes);
        cr_assert(!p.past && past > 0 && past < 512, "step %d: %d past the cache", (int)step, past);
        give(&p, 2048, &u, step, far, past_far);
        past = give(&p, 4096, &u, step, far, past_far);
        cr_assert(p.past && past > 3500 && past < 4096, "step %d: %d past the cache", (int)step, past);
        give(&p, 2048, &u, step, slow_reads, slower_writes);
        cr_assert(!p.past, "step %d", (int)step);
    }
}

Test(pace, one_slow_unit_does_not_change_the_way)
{
    static const int cached[2] = { 3, 3 }, past[2] = { 5, 5 }, interrupted[2] = { 100000, 3 };
    struct ft_pace_both p = { .past = false };
    uint64_t u = 0;

    give(&p, 4096, &u, 1, cached, past);
    while (!ft_pace_tries(u) || ft_pace_gives_past(&p, u))
        u++;
    give(&p, 1, &u, 1, interrupted, past);
    cr_assert_not(p.past);
}

/* As where the log's pages are touched for the first time. */
Test(pace, slow_units_at_first_do_not_choose_the_way)
{
    static const int first[2] = { 20000, 3 }, cached[2] = { 3, 3 }, past[2] = { 5, 5 };
    struct ft_pace_both p = { .past = false };
    uint64_t u = 0;

    give(&p, 96, &u, 1, first, past);
    for (int units = 0; units < 4096; units++) {
        give(&p, 1, &u, 1, cached, past);
        cr_assert_not(p.past);
    }
}
