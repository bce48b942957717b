/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that share processors (ft/shm/place.h): each has a home among those it may run on, neighbours the same one, all homes as
   many ranks as each other, give or take one; and nobody stays bound. */
#include "ft/shm/place.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/shm/wait.h"

static cpu_set_t all;
static int refused;  /* the call of sched_setaffinity, counted down to here, that is refused as by a cpuset that has just changed */

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    if (refused && --refused == 0) {
        errno = EINVAL;
        return -1;
    }
    return syscall(SYS_sched_setaffinity, pid, bytes, set) < 0 ? -1 : 0;
}

static uint32_t processors(void)
{
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    return (uint32_t)CPU_COUNT(&all);
}

static void may_run_as_before(void)
{
    cpu_set_t now;

    cr_assert_eq(sched_getaffinity(0, sizeof now, &now), 0);
    cr_assert(CPU_EQUAL(&now, &all));
}

Test(place, each_processor_gets_its_share)
{
    uint32_t count = processors();

    if (count < 2)
        cr_skip_test("a single processor");
    for (uint32_t n = count + 1; n < 4 * count; n++) {
        uint32_t here[CPU_SETSIZE] = { 0 };

        for (uint32_t r = 0; r < n; r++) {
            struct ft_place p;

            ft_place_open(&p, r, n);
            cr_assert(p.home >= 0 && CPU_ISSET(p.home, &all));
            cr_assert(ft_place_shares(&p, r) && p.to <= n);
            for (uint32_t other = 0; other < n; other++)
                cr_assert_eq(ft_place_shares(&p, other), (uint64_t)other * count / n == (uint64_t)r * count / n);
            here[p.home]++;
            may_run_as_before();
        }
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &all))
                cr_assert(here[cpu] == n / count || here[cpu] == n / count + 1, "%u of %u ranks on processor %d", here[cpu], n, cpu);
    }
}

/* A rank that is bound, by ftrun, its program or from outside, stays where it is, and knows nobody's home. */
Test(place, who_is_bound_stays)
{
    struct ft_place p;
    cpu_set_t one;
    int cpu = 0;

    processors();
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    ft_place_open(&p, 1, 4);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    all = one;
    p.home = p.home < 0 ? -1 : cpu + 1;  /* it was to be elsewhere */
    p.moved_ns = 0;
    ft_place_look(&p);
    may_run_as_before();
    cr_assert_eq(p.home, -1);
    ft_place_open(&p, 1, 4);
    cr_assert_eq(p.home, -1);
    cr_assert(!ft_place_shares(&p, 1));
}

/* It was bound to its home for the rest of the job: nobody asked whether it came back among its processors. */
Test(place, who_cannot_have_its_processors_back_has_any)
{
    struct ft_place p;
    uint32_t count = processors();

    if (count < 2)
        cr_skip_test("a single processor");
    refused = 2;
    ft_place_open(&p, 1, 2 * count);
    cr_assert_eq(refused, 0);
    may_run_as_before();
    cr_assert_eq(p.home, -1);
}

/* What waiting for rank r takes at least, ns. */
static uint64_t spins_ns(struct ft_place *place, uint32_t r, bool last, uint64_t value)
{
    struct ft_patience patience = { .place = place };
    _Atomic uint64_t word = value;
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 100; i++) {
        uint64_t began = ft_clock_ns();

        ft_wait_spin(&patience, r, last, &word, 1);
        least = ft_min(least, ft_clock_ns() - began);
    }
    return least;
}

/* As long as a switch takes (4 us): for a rank of another processor that has not come, where two share one or who waits is the last of its own to come.
   With more to a processor the others give way at once: a barrier of 8 ranks took 10.2 us, of 16 ranks 23, and 9.0 and 21 so. */
Test(place, spins_as_long_as_a_switch_takes_if_nobody_else_has_anything_to_do)
{
    struct ft_place two = { .home = 0, .from = 0, .to = 2 }, four = { .home = 0, .from = 0, .to = 4 }, nowhere = { .home = -1, .from = 0, .to = 2 };

    cr_assert_geq(spins_ns(&two, 2, false, 0), 4000);
    cr_assert_geq(spins_ns(&four, 4, true, 0), 4000);
    cr_assert_lt(spins_ns(&four, 4, false, 0), 4000);
    cr_assert_lt(spins_ns(&four, 3, true, 0), 4000, "rank 3 needs this processor");
    cr_assert_lt(spins_ns(&four, 4, true, 1), 4000, "it has come");
    cr_assert_lt(spins_ns(&nowhere, 4, true, 0), 4000);
}
