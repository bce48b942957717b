/* SPDX-License-Identifier: BSD-3-Clause */
/* Which places are free (ft/shm/places.h), and which of them have something in them. */
#include "ft/shm/places.h"

#include <criterion/criterion.h>

static struct ft_places places;

static void set_up(void) { cr_assert(ft_places_open(&places, 3) == 0); }
static void tear_down(void) { ft_places_close(&places); }

TestSuite(places, .init = set_up, .fini = tear_down, .timeout = 60);

static uint64_t fresh(void)
{
    uint64_t place = 99;

    cr_assert(ft_places_fresh(&places, &place));
    return place;
}

Test(places, a_bare_one_is_as_good_as_fresh)
{
    uint64_t place;

    cr_expect(fresh() == 0 && fresh() == 1 && fresh() == 2);
    cr_expect(!ft_places_fresh(&places, &place) && !ft_places_used(&places, &place));
    cr_expect(ft_places_full(&places) == 3);
    ft_places_give_back_bare(&places, 1);
    ft_places_give_back(&places, 2);
    cr_expect(ft_places_full(&places) == 2);
    cr_expect(ft_places_used(&places, &place) && place == 2);
    cr_expect(!ft_places_used(&places, &place));
    cr_expect(fresh() == 1);
    cr_expect(ft_places_full(&places) == 3);
}

/* A successor finds by the tables what is used; of what is free it cannot know. */
Test(places, what_a_successor_finds_free_is_bare)
{
    uint64_t place;

    fresh(), fresh(), fresh();
    ft_places_forget(&places);
    ft_places_name(&places, 1);
    ft_places_settle(&places);
    ft_places_doubt(&places);
    cr_expect(ft_places_full(&places) == 1);
    cr_expect(!ft_places_used(&places, &place));
    cr_expect(fresh() == 0 && fresh() == 2);
}
