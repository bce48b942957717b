/* SPDX-License-Identifier: BSD-3-Clause */
/* Which stream its owner may take into use. */
#include "ft/shm/streams.h"

#include <criterion/criterion.h>

#include "ft/shm/channels.h"
#include "ft/shm/cut.h"
#include "ft/shm/word.h"

enum { RANKS = 3, EACH = 2, OWNER = 1, FIRST = 1 + OWNER * EACH };

static struct ft_region region;
static const uint32_t both[] = { OWNER, 2 };
static struct ft_use use;

static void set_up(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, RANKS, 2, 64u << 20);
    p.nstreams = 1 + RANKS * EACH;
    ft_params_channels(&p);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
}

static void tear_down(void) { ft_region_close(&region); }

TestSuite(streams, .init = set_up, .fini = tear_down, .timeout = 60);

static struct ft_stay *stay(uint32_t stream, uint32_t rank) { return &ft_region_stream(&region, stream).stays[rank]; }

static bool pick(void) { return ft_streams_pick(&region, OWNER, both, 2, &use); }

/* All of `both` come in and have done so many units more. */
static void work(const struct ft_use *u, uint64_t units)
{
    ft_streams_use(&region, u->stream);
    for (uint32_t i = 0; i < 2; i++) {
        struct ft_counters *c = &ft_region_stream(&region, u->stream).counters[both[i]];

        ft_publish(&c->done, u->unit + units);
        ft_publish(&c->done_at, u->end + units * 64);
        ft_publish(&stay(u->stream, both[i])->use, u->use);
    }
}

static void leave(const struct ft_use *u, uint32_t rank) { ft_publish(&stay(u->stream, rank)->left, u->use); }

Test(streams, are_their_owners)
{
    for (uint32_t i = 0; i < EACH; i++) {
        cr_assert(pick());
        cr_assert(use.stream == FIRST + i && use.use == 1 && use.unit == 0 && use.end == 0);
        work(&use, 1);
    }
    cr_assert_not(pick());
    cr_assert(ft_streams_pick(&region, 0, &(uint32_t){ 0 }, 1, &use));
    cr_assert_eq(use.stream, 1);
}

Test(streams, go_on_when_everybody_has_left)
{
    struct ft_use first;

    cr_assert(pick());
    first = use;
    work(&first, 5);
    leave(&first, OWNER);
    cr_assert(pick() && use.stream != first.stream, "rank 2 is still in it");
    leave(&first, 2);
    cr_assert(pick());
    cr_assert(use.stream == first.stream && use.use == 2 && use.unit == 5 && use.end == 320);
}

/* Woken from where it had left the stream a rank needs what follows: nothing, as long as it has not come again. */
Test(streams, are_needed_from_the_cut_on)
{
    struct ft_positions cut = ft_positions_world(1, 64);

    cr_assert(pick());
    work(&use, 5);
    ft_position_add(&cut, FIRST, (struct ft_position){ 5, 320 });
    ft_cut_register(&region, 2, &cut);
    cr_assert_eq(ft_cut_need(&region, 2, FIRST), 320);
    cr_assert_eq(ft_cut_floor(&region, FIRST), 0, "the owner has no cut");
    ft_cut_register(&region, OWNER, &cut);
    cr_assert_eq(ft_cut_floor(&region, FIRST), 320);
}

Test(streams, of_a_rank_without_cut_are_needed_from_the_first_use_on)
{
    ft_publish(&stay(FIRST, 2)->first, 128);
    ft_publish(&stay(FIRST, 2)->use, 3);
    ft_publish(&stay(FIRST, 2)->left, 3);
    cr_assert_eq(ft_cut_need(&region, 2, FIRST), 128);
    cr_assert_eq(ft_cut_need(&region, OWNER, FIRST), FT_CUT_NOWHERE);
    cr_assert(pick() && use.stream == FIRST && use.use == 4);
}

Test(streams, have_channels_behind_them)
{
    uint32_t first = ft_channel_of(&region, 0, 0);

    cr_assert(first == region.header->params.nstreams && !ft_channel_is(&region, first - 1));
    for (uint32_t receiver = 0; receiver < RANKS; receiver++)
        for (uint32_t sender = 0; sender < RANKS; sender++) {
            uint32_t c = ft_channel_of(&region, sender, receiver), own = sender == receiver;

            cr_assert_eq(c, first++);
            cr_assert(ft_channel_is(&region, c) && ft_channel_sender(&region, c) == sender && ft_channel_receiver(&region, c) == receiver);
            cr_assert_eq(ft_region_stream(&region, c).n, own ? 1 : 2);
            for (uint32_t r = 0; r < RANKS; r++)
                cr_assert_eq(ft_streams_index(&region, c, r), r == sender ? 0 : r == receiver ? 1 : -1);
        }
    cr_assert_eq(first, ft_params_logs(&region.header->params));
    cr_assert_eq(ft_streams_index(&region, 0, 2), 2);
}

Test(streams, channels_are_used_when_their_sender_says_so)
{
    uint32_t c = ft_channel_of(&region, 2, 1);

    cr_assert_eq(ft_streams_used(&region, 1), ft_params_logs(&region.header->params));
    ft_streams_use(&region, c);
    cr_assert(ft_streams_is_used(&region, c) && !ft_streams_is_used(&region, ft_channel_of(&region, 1, 2)));
    cr_assert_eq(ft_streams_used(&region, 1), c);
    cr_assert_eq(ft_streams_used(&region, c + 1), ft_params_logs(&region.header->params));
}

/* The receiver takes a message before it is logged. The keeper spilled that extent, and the message went into memory that was another's. */
Test(streams, end_where_the_sender_has_logged)
{
    struct ft_stream_parts parts = ft_region_stream(&region, ft_channel_of(&region, 2, 1));

    ft_publish(&parts.counters[0].done_at, 64);
    ft_publish(&parts.counters[1].done_at, 128);
    cr_assert_eq(ft_streams_end(&region, ft_channel_of(&region, 2, 1)), 64);
}
