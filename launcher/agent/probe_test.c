/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <sched.h>

#include "launcher/agent/probe.h"

static cpu_set_t processors(void)
{
    cpu_set_t set;

    cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

static void use_one_processor(void)
{
    cpu_set_t all = processors(), one;

    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

Test(probe, one_processor_has_nothing_to_hand_over)
{
    struct ft_probe p;

    use_one_processor();
    cr_expect(!ft_probe_take(&p, 2) && !ft_probe_take(&p, 3));
}

/* Others may be busy, so there may be no figures; those that there are make sense. */
Test(probe, figures_are_of_all_ways_and_the_thread_may_go_where_it_could)
{
    cpu_set_t before = processors(), after;
    struct ft_probe p;

    for (int i = 0; i < 5; i++)
        if (ft_probe_take(&p, 2)) {
            cr_expect(p.single_us > 1 && p.single_us < 20000, "%g us", p.single_us);
            cr_expect(p.slots_us > 1 && p.slots_us < 20000, "%g us", p.slots_us);
            cr_expect(p.halved_us > 1 && p.halved_us < 20000, "%g us", p.halved_us);
            cr_expect(p.doubled_us > 1 && p.doubled_us < 20000, "%g us", p.doubled_us);
        }
    for (int i = 0; i < 5; i++)
        if (ft_probe_take(&p, 4)) {
            cr_expect(p.cached_us > 1 && p.cached_us < 20000, "%g us", p.cached_us);
            cr_expect(p.past_us > 1 && p.past_us < 20000, "%g us", p.past_us);
        }
    after = processors();
    cr_expect(CPU_EQUAL(&before, &after));
}

/* What is asked for is not tried: here two processors are needed for a trial, and only one may be used. */
Test(probe, what_is_asked_for_is_done)
{
    struct ft_params p;

    use_one_processor();
    for (int i = 0; i < 4; i++) {
        bool single = i & 1, doubled = i & 2;

        ft_params_default(&p, 2, 2, 64 << 20);
        ft_probe_choose(&p, single ? FT_SINGLE_ON : FT_SINGLE_OFF, doubled ? FT_ALLREDUCE_DOUBLED : FT_ALLREDUCE_HALVED);
        cr_expect_eq(p.single_min != 0, single);
        cr_expect_eq(p.double_max != 0, doubled);
    }
    ft_params_default(&p, 2, 2, 64 << 20);
    ft_probe_choose(&p, FT_SINGLE_AUTO, FT_ALLREDUCE_AUTO);
    cr_expect_eq(p.single_min, 0);
    cr_expect_eq(p.double_max, 0);
    ft_params_default(&p, 4, 2, 64 << 20);
    ft_probe_choose(&p, FT_SINGLE_AUTO, FT_ALLREDUCE_AUTO);
    cr_expect_eq(p.bcast_past_min, 512 << 10);
    cr_expect_eq(p.gather_past_min, UINT32_MAX);
}
