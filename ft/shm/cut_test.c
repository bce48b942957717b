/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's cut: of each stream one position. */
#include "ft/shm/cut.h"

#include <criterion/criterion.h>

#include "ft/shm/channels.h"
#include "ft/shm/streams.h"
#include "ft/shm/word.h"

enum { RANK = 1, STREAMS = 3 };

static struct ft_region region;

static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, 2, 2, 64u << 20);
    p.nstreams = STREAMS;
    ft_params_channels(&p);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    ft_streams_use(&region, 2);
    ft_publish(&ft_region_stream(&region, 2).stays[RANK].use, 1);
}

static void tear_down(void) { ft_region_close(&region); }

TestSuite(cut, .init = set_up, .fini = tear_down, .timeout = 60);

/* A snapshot that has come so far in streams 0 and 2. */
static void take(uint64_t unit, uint64_t other)
{
    struct ft_positions p = ft_positions_world(unit, unit * 64);
    ft_position_add(&p, 2, (struct ft_position){ other, other * 128 });
    ft_cut_register(&region, RANK, &p);
}

static void expect(uint32_t stream, uint64_t unit, uint64_t end)
{
    const struct ft_member *m = &ft_region_stream(&region, stream).members[RANK];

    cr_assert(m->cut_unit == unit && m->cut == end, "stream %u: unit %d, end %d", stream, (int)m->cut_unit, (int)m->cut);
}

Test(cut, is_nowhere_at_first)
{
    for (uint32_t s = 0; s < STREAMS; s++)
        expect(s, 0, 0);
    cr_assert(ft_cut_whole(&region) && ft_cut_holds(&region, RANK));
}

Test(cut, follows_each_snapshot_in_all_its_streams)
{
    for (uint64_t i = 1; i < 8; i++) {
        take(i, 3 * i);
        expect(0, i, i * 64);
        expect(1, 0, 0);
        expect(2, 3 * i, 3 * i * 128);
    }
    cr_assert_eq(ft_cut_unit(&region, RANK), 7);
    cr_assert_eq(ft_cut_unit(&region, 0), 0);
}

Test(cut, never_goes_back_in_one_stream)
{
    take(5, 5);
    take(6, 4);
    expect(0, 5, 5 * 64);
    expect(2, 5, 5 * 128);
    take(5, 6);
    expect(2, 6, 6 * 128);
}

Test(cut, is_given_up_as_a_whole)
{
    take(5, 5);
    cr_assert(ft_cut_withdraw(&region, RANK));
    expect(0, 0, 0);
    expect(2, 0, 0);
    take(1, 1);
    expect(0, 1, 64);
}

/* The log of one stream has gone on without it. */
Test(cut, is_of_no_use_if_the_log_of_one_stream_begins_later)
{
    uint64_t extent = region.header->params.extent_bytes;
    struct ft_positions p = ft_positions_world(1, 4 * extent);

    ft_position_add(&p, 2, (struct ft_position){ 1, 2 * extent });
    ft_cut_register(&region, RANK, &p);
    ft_publish(&ft_region_stream(&region, 0).head->floor, 4);
    ft_publish(&ft_region_stream(&region, 2).head->floor, 2);
    cr_assert(ft_cut_reaches(&region, RANK));
    cr_assert_eq(ft_look(&ft_region_stream(&region, 2).members[RANK].left_at), 2 * extent);
    ft_publish(&ft_region_stream(&region, 2).head->floor, 3);
    cr_assert_not(ft_cut_reaches(&region, RANK));
    cr_assert_not(ft_cut_withdraw(&region, RANK));
}

Test(cut, of_a_rank_without_snapshot_stays_while_the_log_needs_it)
{
    take(5, 5);
    ft_cut_unregister(&region, RANK);
    expect(2, 0, 0);
    take(5, 5);
    ft_publish(&ft_region_stream(&region, 2).head->floor, 1);
    ft_cut_unregister(&region, RANK);
    expect(0, 5, 5 * 64);
}

/* ---- channels: both ends are in it from the beginning, and nobody else is ---- */

static uint32_t from(uint32_t sender, uint32_t receiver) { return ft_channel_of(&region, sender, receiver); }

static void log_to(uint32_t channel, uint64_t end)
{
    ft_streams_use(&region, channel);
    ft_publish(&ft_region_stream(&region, channel).counters[0].done_at, end);
}

static void take_in(uint32_t rank, uint32_t channel, uint64_t unit, uint64_t end)
{
    struct ft_positions p = ft_positions_world(1, 64);

    ft_position_add(&p, channel, (struct ft_position){ unit, end });
    ft_cut_register(&region, rank, &p);
}

Test(cut, of_a_channel_is_that_of_either_end)
{
    const struct ft_member *m = ft_region_stream(&region, from(0, 1)).members;

    log_to(from(0, 1), 640);
    cr_assert(ft_cut_need(&region, 0, from(0, 1)) == 0 && ft_cut_need(&region, 1, from(0, 1)) == 0);
    take_in(0, from(0, 1), 10, 640);
    cr_assert(m[0].cut_unit == 10 && m[0].cut == 640 && m[1].cut_unit == 0 && m[1].cut == 0);
    cr_assert_eq(ft_cut_floor(&region, from(0, 1)), 0, "the receiver has no cut");
    take_in(1, from(0, 1), 8, 320);
    cr_assert(m[0].cut == 640 && m[1].cut_unit == 8 && m[1].cut == 320);
    cr_assert_eq(ft_cut_floor(&region, from(0, 1)), 320);
    take_in(1, from(0, 1), 12, 768); /* taken before it was logged */
    cr_assert_eq(ft_cut_floor(&region, from(0, 1)), 640);
    cr_assert_eq(ft_cut_floor(&region, from(1, 0)), 0);
}

Test(cut, of_a_channel_to_itself_is_that_ranks)
{
    log_to(from(1, 1), 640);
    cr_assert_eq(ft_cut_floor(&region, from(1, 1)), 0);
    take_in(1, from(1, 1), 5, 320);
    cr_assert_eq(ft_cut_floor(&region, from(1, 1)), 320);
    cr_assert_eq(ft_cut_need(&region, 0, from(1, 1)), FT_CUT_NOWHERE);
}

Test(cut, in_channels_is_held_withdrawn_and_asked_for_as_in_streams)
{
    uint64_t extent = region.header->params.extent_bytes;
    struct ft_stream_parts parts = ft_region_stream(&region, from(0, 1));

    log_to(from(0, 1), 4 * extent);
    take_in(1, from(0, 1), 9, 2 * extent);
    ft_cut_hold(&region, 1);
    cr_assert_eq(ft_look(&parts.members[1].left_at), 2 * extent);
    ft_publish(&parts.head->floor, 2);
    cr_assert(ft_cut_holds(&region, 1) && !ft_cut_holds(&region, 0) && !ft_cut_whole(&region));
    ft_cut_unregister(&region, 1);
    cr_assert_eq(parts.members[1].cut, 2 * extent, "its beginning is released");
    ft_publish(&parts.head->floor, 3);
    cr_assert_not(ft_cut_reaches(&region, 1));
    cr_assert_not(ft_cut_withdraw(&region, 1));
    cr_assert_eq(parts.members[1].cut, 0);
}

Test(cut, of_others_is_not_asked_for_in_a_channel)
{
    struct ft_position far = { 3, 192 };
    struct ft_positions p = ft_positions_world(1, 64);

    log_to(from(1, 1), 640);
    ft_position_add(&p, from(1, 1), far);
    cr_assert_not(ft_cut_is_after(&region, 0, &p));
    ft_cut_register(&region, 0, &p);
    cr_assert_eq(ft_region_stream(&region, from(1, 1)).members[0].cut, 0);
    ft_publish(&ft_region_stream(&region, from(1, 1)).head->floor, 9);
    cr_assert(ft_cut_holds(&region, 0) && !ft_cut_holds(&region, 1));
}
