/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <sched.h>

#include "launcher/tune/tune.h"

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

Test(tune, one_processor_has_nothing_to_hand_over)
{
    struct ft_tune t;

    use_one_processor();
    cr_expect(!ft_tune_take(&t));
}

static void expect_sense(const char *what, double us) { cr_expect(us > 1 && us < 20000, "%s: %g us", what, us); }

/* Others may be busy, so there may be no figures; those that there are make sense. */
Test(tune, figures_are_of_all_ways_and_the_thread_may_go_where_it_could)
{
    cpu_set_t before = processors(), after;
    struct ft_tune t;

    for (int i = 0; i < 5; i++)
        if (ft_tune_take(&t)) {
            expect_sense("slots, cached", t.slots_cached_us);
            expect_sense("slots, past the cache", t.slots_past_us);
            expect_sense("log, cached", t.written_cached_us);
            expect_sense("log, past the cache", t.written_past_us);
            expect_sense("halved", t.halved_us);
            expect_sense("doubled", t.doubled_us);
        }
    after = processors();
    cr_expect(CPU_EQUAL(&before, &after));
}
