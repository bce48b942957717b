/* SPDX-License-Identifier: BSD-3-Clause */
/* Which versions count, by the words that ranks leave: ft/shm/versions.h. */
#include <criterion/criterion.h>

#include "ft/shm/versions.h"

static struct ft_region region;

static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, 2, 2, 64 << 20);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
}

static void tear_down(void) { ft_region_close(&region); }

TestSuite(versions, .init = set_up, .fini = tear_down, .timeout = 10);

static void write_slot(uint32_t rank, uint32_t slot, uint64_t version, uint64_t unit, uint64_t nlocal)
{
    struct ft_model_slot *s = &ft_versions_of(&region, rank)->slot[slot];

    s->unit = unit;
    s->end = 64 * unit;
    s->nlocal = nlocal;
    s->version = version;
}

static void finish(uint32_t rank, uint64_t done)
{

    ft_region_stream(&region, 0).counters[rank].done = done;
}

static uint64_t newest(uint32_t rank)
{
    struct ft_version v;

    return ft_versions_newest(&region, rank, &v) ? v.version : 0;
}

/* Found by versionsat.sh: rank 0 had finished with the unit, rank 1 was killed before it had; the agent, which was to start it again,
   waited for the version to be committed. */
Test(versions, one_that_is_not_committed_is_not_waited_for)
{
    write_slot(0, 0, 1, 3, 0);
    write_slot(1, 0, 1, 3, 5);
    finish(0, 4);
    ft_versions_of(&region, 0)->consumed = 1;
    finish(1, 3);
    cr_expect_eq(newest(0), 0);
    cr_expect_eq(newest(1), 0);
    finish(1, 4);
    cr_expect_eq(newest(0), 1);
    cr_expect_eq(newest(1), 1);
}

Test(versions, the_one_before_stays_until_all_have_committed_the_next)
{
    struct ft_version v;

    write_slot(0, 0, 1, 3, 0);
    write_slot(1, 0, 1, 3, 5);
    write_slot(0, 1, 2, 6, 0);
    finish(0, 7);
    finish(1, 6);
    cr_expect_eq(newest(1), 1);
    write_slot(1, 1, 2, 6, 7);
    cr_expect_eq(newest(1), 1);
    finish(1, 7);
    cr_assert(ft_versions_newest(&region, 1, &v));
    cr_expect(v.version == 2 && v.slot == 1 && v.unit == 6 && v.end == 384 && v.nlocal == 7 && !v.base);
}

/* A version that one rank could not keep is tried again later: then its words are of different units. */
Test(versions, words_of_two_attempts_are_no_version)
{
    write_slot(0, 0, 1, 3, 0);
    write_slot(1, 0, 1, 5, 0);
    finish(0, 6);
    finish(1, 6);
    cr_expect_eq(newest(0), 0);
    write_slot(0, 0, 1, 5, 0);
    cr_expect_eq(newest(0), 1);
}

Test(versions, all_begin_again_with_the_newest)
{
    struct ft_version v;

    write_slot(0, 0, 2, 6, 0);
    write_slot(1, 0, 2, 6, 9);
    write_slot(0, 1, 3, 8, 0);
    finish(0, 8);
    finish(1, 8);
    ft_versions_of(&region, 1)->loads = 1;
    ft_versions_head(&region)->prefix_end = 1;
    cr_expect(ft_versions_loadable(&region, 1, &v) && v.version == 2);
    ft_region_reset(&region);
    for (uint32_t rank = 0; rank < 2; rank++) {
        cr_assert(ft_versions_newest(&region, rank, &v));
        cr_expect(v.version == 2 && v.base && v.slot == 0 && v.unit == 0 && v.end == 0 && v.nlocal == (rank ? 9 : 0));
        cr_expect_eq(ft_versions_of(&region, rank)->consumed, 2);
        cr_expect_not(ft_versions_loadable(&region, rank, &v)); /* it is no cut */
    }
    ft_region_reset(&region);
    cr_expect_eq(newest(1), 2);
}
