/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is stuck (ft/shm/stuck.h): all that wait for each other, and nobody who may yet go on. */
#include "ft/shm/stuck.h"

#include <criterion/criterion.h>

#include "ft/core/stream.h"
#include "ft/shm/channels.h"
#include "ft/shm/streams.h"

enum { N = 4 };

static struct ft_region region;
static struct ft_inspect ranks[N];
static bool runs[N], stuck[N], awaited[N];

static void begin(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, N, 2, 64u << 20);
    ft_params_channels(&p);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    for (uint32_t r = 0; r < N; r++) {
        ft_region_start_rank(&region, r, 0);
        atomic_store(&ft_region_rank(&region, r)->state, FT_RANK_ATTACHED);
        runs[r] = true;
    }
}

static void end(void) { ft_region_close(&region); }

TestSuite(stuck, .init = begin, .fini = end);

static void await(uint32_t rank, enum ft_await_kind kind, uint32_t sender, uint32_t receiver, uint32_t whom, uint64_t unit)
{
    struct ft_await a = { .kind = kind, .rank = whom, .stream = ft_channel_of(&region, sender, receiver), .unit = unit, .tag = 5 };

    ft_await_say(&ft_region_doorbell(&region, rank)->awaits, &a);
}

static void receive(uint32_t rank, uint32_t from) { await(rank, FT_AWAIT_MESSAGE, from, rank, from, 0); }

static void go_on(uint32_t rank) { ft_await_say(&ft_region_doorbell(&region, rank)->awaits, &(struct ft_await){ .kind = FT_AWAIT_NOBODY }); }

static void send(uint32_t from, uint32_t to)
{
    uint32_t c = ft_channel_of(&region, from, to);

    ft_streams_use(&region, c);
    ft_publish(&ft_region_stream(&region, c).counters[0].done, 1);
}

static void take(uint32_t from, uint32_t to) { ft_publish(&ft_region_stream(&region, ft_channel_of(&region, from, to)).counters[1].done, 1); }

/* One bit for each that is. */
static uint32_t found(void)
{
    uint32_t bits = 0, n;

    ft_inspect_read(&region, ranks);
    n = ft_stuck_find(&region, ranks, runs, stuck, awaited);
    for (uint32_t r = 0; r < N; r++)
        bits |= (uint32_t)stuck[r] << r;
    cr_assert_eq(n, (uint32_t)__builtin_popcount(bits));
    return bits;
}

Test(stuck, nobody_waits) { cr_assert_eq(found(), 0); }

Test(stuck, a_circle_and_who_waits_for_it)
{
    receive(0, 1);
    receive(1, 2);
    cr_assert_eq(found(), 0, "rank 2 may yet send");
    receive(2, 0);
    cr_assert_eq(found(), 7);
    receive(3, 1);
    cr_assert_eq(found(), 15);
    cr_assert_eq(ft_stuck_by(&region, ranks, stuck, 3, awaited), 1);
    cr_assert_eq(ft_stuck_by(&region, ranks, stuck, 2, awaited), 0);
}

Test(stuck, what_has_been_sent_ends_it)
{
    receive(0, 1);
    receive(1, 0);
    cr_assert_eq(found(), 3);
    send(1, 0);
    cr_assert_eq(found(), 0);
}

Test(stuck, of_any_rank_it_takes_all_of_them)
{
    for (uint32_t r = 0; r < N; r++)
        await(r, FT_AWAIT_MESSAGE, r, r, r, 0);
    cr_assert_eq(found(), 15);
    go_on(3);
    cr_assert_eq(found(), 0, "rank 3 may send to each");
    await(3, FT_AWAIT_MESSAGE, 3, 3, 3, 0);
    send(1, 2);
    cr_assert_eq(found(), 0, "rank 2 has not looked at it");
    take(1, 2);
    cr_assert_eq(found(), 15, "it was another one");
}

Test(stuck, a_synchronous_send_that_is_matched)
{
    await(0, FT_AWAIT_MATCHED, 0, 1, 1, 3);
    receive(1, 0);
    cr_assert_eq(found(), 3);
    ft_publish(&ft_region_stream(&region, ft_channel_of(&region, 0, 1)).acks[0], 1 << 3);
    cr_assert_eq(found(), 0);
}

Test(stuck, who_has_left_sends_nothing)
{
    receive(0, 1);
    ft_publish32(&ft_region_rank(&region, 1)->state, FT_RANK_FINALIZED);
    cr_assert_eq(found(), 1);
    cr_assert_eq(ft_stuck_by(&region, ranks, stuck, 0, awaited), 1);
    ft_publish32(&ft_region_rank(&region, 1)->state, FT_RANK_ABSENT);
    cr_assert_eq(found(), 0, "it is yet to come");
}

Test(stuck, a_dead_rank_comes_back)
{
    receive(0, 1);
    receive(1, 0);
    runs[1] = false;
    cr_assert_eq(found(), 0);
}

/* With a log of which nothing can be forgotten, who sends waits for who does not receive. */
Test(stuck, no_memory_to_send)
{
    uint32_t c = ft_channel_of(&region, 0, 1);

    ft_streams_use(&region, c);
    ft_publish(&ft_region_stream(&region, c).counters[0].want, 4096);
    await(0, FT_AWAIT_MEMORY, 0, 1, 0, 100);
    receive(1, 0);
    receive(2, 0);
    receive(3, 1);
    cr_assert_eq(found(), 0, "memory may come");
    ft_publish(&region.header->starved, 1);
    cr_assert_eq(found(), 15);
    cr_assert(ft_stuck_for_memory(&region, ranks, 0));
    cr_assert_not(ft_stuck_for_memory(&region, ranks, 1));
    go_on(3);
    cr_assert_eq(found(), 0, "rank 3 may receive something");
    receive(3, 1);
    ft_publish(&ft_region_stream(&region, c).head->ready, 4096);
    cr_assert_eq(found(), 0, "it has come");
}

/* In a collective all are needed, so one that is stuck is enough. */
Test(stuck, collectives_and_messages)
{
    static const struct ft_sig sig = { .call = FT_CALL_BARRIER, .kind = FT_BYTE, .root = -1, .elem = 1 };
    static struct ft_patience patience;
    static struct ft_stream s;
    struct ft_error e;

    ft_stream_open(&s, &region, 1, "WORLD", &patience, -1, -1);
    cr_assert_eq(ft_stream_begin(&s, &sig, 77, &e), 0);
    ft_await_say(&ft_region_doorbell(&region, 1)->awaits, &(struct ft_await){ .kind = FT_AWAIT_SHOWN, .rank = 0, .all = true });
    cr_assert_eq(found(), 0);
    receive(0, 1);
    cr_assert_eq(found(), 3);
}
