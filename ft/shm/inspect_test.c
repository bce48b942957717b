/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom ranks wait for (ft/shm/inspect.h): the right ones, all of them, and nobody else. Calls and waits are published with the
   engine's own functions; that a rank which waits says the right thing is checked by the explorer. */
#include "ft/shm/inspect.h"

#include <criterion/criterion.h>
#include <string.h>

#include "ft/base/reduce.h"
#include "ft/core/stream.h"
#include "ft/shm/trail.h"
#include "ft/shm/versions.h"

enum { N = 4 };

static struct ft_region region;
static struct ft_stream stream[N];
static struct ft_inspect ranks[N];
static bool awaited[N];
static struct ft_patience patience;
static const struct ft_sig small = { .call = FT_CALL_ALLREDUCE, .reduction = FT_SUM, .kind = FT_F64, .root = -1, .elem = 8, .count = 4 };
static const struct ft_sig large = { .call = FT_CALL_ALLREDUCE, .reduction = FT_SUM, .kind = FT_F64, .root = -1, .elem = 8, .count = 1 << 20 };
static const struct ft_sig bcast = { .call = FT_CALL_BCAST, .kind = FT_I32, .root = 1, .elem = 4, .count = 2 };

static void attach(uint32_t rank, uint32_t incarnation)
{
    ft_region_start_rank(&region, rank, incarnation);
    ft_stream_open(&stream[rank], &region, rank, "WORLD", &patience, -1, -1);
    atomic_store(&ft_region_rank(&region, rank)->state, FT_RANK_ATTACHED);
}

static void begin(void)
{
    struct ft_params p;
    struct ft_error e;

    ft_params_default(&p, N, 2, 64u << 20);
    p.nstreams = 1 + N;
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    for (uint32_t r = 0; r < N; r++)
        attach(r, 0);
}

static void end(void)
{
    ft_region_close(&region);
}

TestSuite(inspect, .init = begin, .fini = end);

static void call_on(struct ft_stream *s, const struct ft_sig *sig, uint64_t site)
{
    struct ft_error e;

    cr_assert_eq(ft_stream_begin(s, sig, site, &e), 0);
}

static void call(uint32_t rank, const struct ft_sig *sig) { call_on(&stream[rank], sig, 77); }

static void contribute_on(struct ft_stream *s) { ft_publish(&ft_stream_short_slot(s, s->rank, s->unit)->unit, s->unit + 1); }

static void contribute(uint32_t rank) { contribute_on(&stream[rank]); }

/* It waits, for `whom` (ALL: everybody), in the unit that it is in. */
enum { ALL = -1 };
static void wait_for(uint32_t rank, enum ft_await_kind kind, int whom, uint64_t unit)
{
    struct ft_await a = { .kind = kind, .all = whom == ALL, .rank = whom == ALL ? 0 : (uint32_t)whom, .unit = unit };

    ft_await_say(&ft_region_doorbell(&region, rank)->awaits, &a);
}

static void contribute_and_wait(uint32_t rank)
{
    contribute(rank);
    wait_for(rank, FT_AWAIT_SHOWN, ALL, stream[rank].unit);
}

static void leave_on(struct ft_stream *s)
{
    ft_stream_done_quiet(s, s->unit + 1, (s->unit + 1) * 64);
    ft_stream_end(s, 1, (s->unit + 1) * 64);
}

static void leave(uint32_t rank) { leave_on(&stream[rank]); }

static uint32_t awaits(uint32_t rank)
{
    ft_inspect_read(&region, ranks);
    return ft_inspect_awaits(&region, ranks, rank, awaited);
}

static int64_t culprit(void)
{
    ft_inspect_read(&region, ranks);
    return ft_inspect_awaited(&region, ranks);
}

Test(inspect, nobody_in_a_call)
{
    for (uint32_t r = 0; r < N; r++) {
        cr_assert_eq(awaits(r), 0);
        cr_assert_not(ranks[r].in_call);
        cr_assert_eq(ranks[r].state, FT_RANK_ATTACHED);
    }
    cr_assert_eq(culprit(), -1);
}

Test(inspect, rank_outside_is_awaited_by_all)
{
    for (uint32_t r = 0; r < N; r++)
        if (r != 2) {
            call(r, &small);
            contribute_and_wait(r);
        }
    for (uint32_t r = 0; r < N; r++) {
        cr_assert_eq(awaits(r), r == 2 ? 0 : 1, "rank %u", r);
        cr_assert_eq(awaited[2], r != 2);
        cr_assert_eq(ranks[r].in_call, r != 2);
    }
    cr_assert_eq(ranks[0].unit, 0);
    cr_assert_eq(ranks[0].site, 77);
    cr_assert(ft_sig_equal(&ranks[0].sig, &small));
    cr_assert_eq(culprit(), 2);
}

Test(inspect, two_outside_are_no_culprit)
{
    for (uint32_t r = 0; r < 2; r++) {
        call(r, &small);
        contribute_and_wait(r);
    }
    cr_assert_eq(awaits(0), 2);
    cr_assert(awaited[2] && awaited[3] && !awaited[1]);
    cr_assert_eq(culprit(), -1);
}

Test(inspect, called_but_stopped_before_it_contributed)
{
    for (uint32_t r = 0; r < N; r++)
        call(r, &small);
    contribute_and_wait(0);
    contribute_and_wait(1);
    contribute_and_wait(3);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[2]);
    cr_assert_eq(culprit(), 2);
}

static struct ft_version_words *busy(uint32_t rank, enum ft_call call)
{
    struct ft_version_words *w = ft_versions_of(&region, rank);

    ft_note(&w->store_call, call);
    ft_note(&w->store_site, 78);
    ft_publish(&w->store_unit, stream[rank].unit + 1);
    return w;
}

static void look(void) { ft_inspect_read(&region, ranks); }

/* It was "outside MPI", and so --hang-timeout took it for the rank that hangs, or found two of them. */
Test(inspect, a_checkpoint_waits_for_who_has_not_consumed_the_last_one)
{
    for (uint32_t r = 0; r < N; r++)
        ft_publish(&busy(r, FT_CALL_CHECKPOINT)->consumed, 3);
    wait_for(1, FT_AWAIT_CONSUMED, ALL, 2);
    look();
    cr_assert(ranks[1].in_call && ranks[1].in_store && ranks[1].sig.call == FT_CALL_CHECKPOINT && ranks[1].site == 78);
    cr_assert_eq(awaits(1), 0, "it is busy with its models");
    ft_publish(&ft_versions_of(&region, 2)->consumed, 2);
    ft_publish(&ft_versions_of(&region, 2)->store_unit, 0);
    for (uint32_t r = 0; r < N; r++)
        if (r != 2)
            wait_for(r, FT_AWAIT_CONSUMED, ALL, 2);
    cr_assert_eq(awaits(1), 1);
    cr_assert(awaited[2]);
    cr_assert_eq(awaits(2), 0);
    cr_assert_not(ranks[2].in_call);
    cr_assert_eq(culprit(), 2);
}

Test(inspect, a_checkpoint_waits_for_its_commit)
{
    for (uint32_t r = 0; r < N; r++) {
        stream[r].unit = 5;
        ft_publish(&ft_region_stream(&region, 0).members[r].left, 5);
        ft_publish(&stream[r].counters[r].done, r == 3 ? 4 : 5);
    }
    for (uint32_t r = 0; r < 3; r++) {
        ft_note(&busy(r, FT_CALL_CHECKPOINT)->store_commits, 1);
        wait_for(r, FT_AWAIT_DONE, ALL, 4);
    }
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
    cr_assert_eq(culprit(), 3);
}

Test(inspect, a_checkpoint_waits_for_the_disk)
{
    ft_note(&busy(1, FT_CALL_CHECKPOINT)->slot[0].version, 7);
    for (uint32_t r = 0; r < N; r++)
        if (r != 1) {
            call(r, &small);
            contribute_and_wait(r);
        }
    look();
    cr_assert_not(ft_inspect_awaits_disk(ranks, 1));
    cr_assert_eq(culprit(), 1);
    ft_publish(&ft_versions_head(&region)->pinned, ft_pin_bit(FT_PIN_FILE, 0));
    look();
    cr_assert_not(ft_inspect_awaits_disk(ranks, 1), "it has not taken that slot yet");
    ft_publish(&ft_versions_of(&region, 1)->slot[0].version, 0);
    look();
    cr_assert(ft_inspect_awaits_disk(ranks, 1));
    cr_assert_eq(culprit(), -1, "nobody is killed for a slow disk");
}

Test(inspect, a_load_shows_and_what_a_dead_rank_was_in_does_not)
{
    busy(1, FT_CALL_LOAD);
    look();
    cr_assert(ranks[1].in_store && ranks[1].sig.call == FT_CALL_LOAD);
    cr_assert_eq(awaits(1), 0);
    ft_stream_begin(&stream[1], &small, 77, &(struct ft_error){0});
    look();
    cr_assert(ranks[1].in_call && !ranks[1].in_store && ranks[1].sig.call == FT_CALL_ALLREDUCE);
}

static struct ft_version_words *ask(uint32_t rank)
{
    struct ft_version_words *w = ft_versions_of(&region, rank);

    ft_trail_write(&w->asking, stream[rank].unit, &small, 79);
    ft_publish(&w->doubt, stream[rank].unit + 1);
    wait_for(rank, FT_AWAIT_ASKED, ALL, stream[rank].unit);
    return w;
}

/* It was "outside MPI" while it asked the others, and --hang-timeout took it for the rank that hangs. */
Test(inspect, a_call_that_the_bootstrap_cache_may_have_waits_for_who_has_not_called)
{
    for (uint32_t r = 0; r < N - 1; r++)
        ask(r);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
    cr_assert(ranks[0].in_call && ranks[0].in_doubt && ranks[0].site == 79 && ft_sig_equal(&ranks[0].sig, &small));
    cr_assert_eq(culprit(), 3);
    ft_publish(&ask(3)->doubt, 0);
    cr_assert_eq(awaits(0), 1, "it is about to ask, and has not");
    ask(3);
    cr_assert_eq(awaits(0), 0, "all ask: they go on");
    ft_publish(&ft_versions_of(&region, 3)->asking.unit, 0);
    call(3, &small);
    cr_assert_eq(awaits(0), 0, "it sees what the unit is");
    cr_assert_not(ranks[3].in_doubt);
}

Test(inspect, a_bcast_waits_for_its_root_only)
{
    call(0, &bcast);
    contribute(0);
    wait_for(0, FT_AWAIT_SHOWN, 1, 0);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[1]);
    cr_assert_eq(culprit(), -1);
    call(1, &bcast);
    cr_assert_eq(awaits(1), 0);  /* the root: for nobody */
    contribute(1);
    cr_assert_eq(awaits(0), 0);
}

/* Rank 1 runs ahead with bcasts of its own until its slots are used up by the one who has not come: rank 3. */
Test(inspect, a_root_far_ahead_waits_for_its_slot)
{
    for (uint32_t k = 0; k < region.header->params.short_depth; k++)
        for (uint32_t r = 0; r < 3; r++) {
            call(r, &bcast);
            contribute(r);
            leave(r);
        }
    call(1, &bcast);
    wait_for(1, FT_AWAIT_DONE, ALL, 0);
    cr_assert_eq(awaits(1), 1);
    cr_assert(awaited[3]);
    cr_assert_eq(ranks[1].unit, region.header->params.short_depth);
    cr_assert_eq(ranks[1].done, ranks[1].unit);
}

Test(inspect, standard_operation_contribution_result)
{
    for (uint32_t r = 0; r < N - 1; r++) {
        call(r, &large);
        wait_for(r, FT_AWAIT_CONTRIBUTED, ALL, 0);
        ft_publish(&stream[0].counters[r].contributed, 3);
    }
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
    cr_assert_eq(culprit(), 3);
    call(3, &large);
    wait_for(3, FT_AWAIT_CONTRIBUTED, ALL, 1);
    for (uint32_t r = 0; r < N; r++) {
        ft_publish(&stream[0].counters[r].contributed, r == 1 ? 1 : 3);
        wait_for(r, FT_AWAIT_CONTRIBUTED, ALL, 1);
    }
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[1]);
    cr_assert_eq(awaits(1), 0);
    cr_assert_eq(culprit(), 1);
    ft_publish(&stream[0].counters[1].contributed, 3);
    for (uint32_t r = 0; r < N; r++) {
        ft_publish(&stream[0].counters[r].done, r == 2 ? 2 : 3);
        wait_for(r, FT_AWAIT_DONE, ALL, 2);
    }
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[2]);
    cr_assert_eq(culprit(), 2);
}

/* From the last rank to the first, as a pipelined reduce does. */
Test(inspect, a_rank_waits_for_the_next_one_only)
{
    for (uint32_t r = 0; r < 3; r++) {
        call(r, &large);
        wait_for(r, FT_AWAIT_CONTRIBUTED, (int)r + 1, 0);
    }
    for (uint32_t r = 0; r < 3; r++) {
        cr_assert_eq(awaits(r), 1);
        cr_assert(awaited[r + 1]);
    }
    cr_assert_eq(culprit(), 3);
    ft_publish(&stream[3].counters[3].contributed, 1);
    cr_assert_eq(awaits(2), 0, "what it waited for has come");
    cr_assert_eq(awaits(1), 1);
}

/* A wait is told of the call it is in: what the last one waited for has come, or this one would not be. */
Test(inspect, what_was_waited_for_is_over)
{
    for (uint32_t r = 0; r < N; r++) {
        call(r, &small);
        contribute_and_wait(r);
    }
    for (uint32_t r = 0; r < N; r++)
        leave(r);
    call(0, &small);
    cr_assert_eq(awaits(0), 0);
    ft_region_start_rank(&region, 1, 1);
    cr_assert_eq(ft_await_read(&ft_region_doorbell(&region, 1)->awaits).kind, FT_AWAIT_NOBODY);
}

Test(inspect, a_replaying_rank_and_its_progress)
{
    for (uint32_t k = 0; k < 10; k++)
        for (uint32_t r = 0; r < N; r++) {
            call(r, &small);
            contribute(r);
            leave(r);
        }
    for (uint32_t r = 1; r < N; r++) {
        call(r, &small);
        contribute_and_wait(r);
    }
    ft_region_start_rank(&region, 0, 1);
    cr_assert_eq(culprit(), 0, "not there yet");
    cr_assert_eq(ranks[0].state, FT_RANK_ABSENT);
    attach(0, 1);
    for (uint32_t k = 0; k < 4; k++) {
        call(0, &small);
        cr_assert_eq(awaits(0), 0);
        cr_assert(ranks[0].in_call && ranks[0].replaying);
        cr_assert_eq(ranks[0].unit, k);
        stream[0].end = (k + 1) * 64;
        ft_stream_end(&stream[0], 1, (k + 1) * 64);
    }
    cr_assert_eq(culprit(), 0);
    cr_assert_not(ranks[0].in_call);
    cr_assert(ranks[0].replaying);
    cr_assert_eq(ranks[0].unit, 4);
    cr_assert_eq(ranks[0].replay_to, 10);
    cr_assert_eq(ranks[0].done, 10);
    cr_assert_eq(ranks[0].incarnation, 1);
    cr_assert_eq(ft_region_replayed(&region, 0), 4);
}

/* Killed after it has contributed: nobody waits for its successor, which is not there yet. */
Test(inspect, what_a_dead_rank_has_contributed_counts)
{
    for (uint32_t r = 0; r < N; r++) {
        call(r, &small);
        contribute_and_wait(r);
    }
    ft_region_start_rank(&region, 0, 1);
    cr_assert_eq(awaits(1), 0);
    attach(0, 1);
    cr_assert_eq(awaits(1), 0);
    cr_assert_not(ranks[0].in_call);
}

Test(inspect, the_agent_is_awaited_at_the_end_of_memory)
{
    struct ft_stream_head *head = stream[0].log.head;

    for (uint32_t r = 0; r < N; r++) {
        call(r, &small);
        contribute(r);
    }
    ft_publish(&head->ready, region.header->params.extent_bytes);
    ft_publish(&stream[0].counters[0].want, region.header->params.extent_bytes + 1);
    cr_assert_eq(awaits(0), 0);
    cr_assert(ft_inspect_awaits_memory(&region, ranks, 0));
    cr_assert_not(ft_inspect_awaits_memory(&region, ranks, 1));
    cr_assert_eq(culprit(), -1);
}

Test(inspect, a_finalized_rank_does_not_count)
{
    atomic_store(&ft_region_rank(&region, 3)->state, FT_RANK_FINALIZED);
    for (uint32_t r = 0; r < 3; r += 2) {
        call(r, &bcast);
        contribute(r);
        wait_for(r, FT_AWAIT_SHOWN, 1, 0);
    }
    cr_assert_eq(culprit(), 1);
}

/* ---- a second stream, of three of them ---- */

enum { SECOND = 2, CREW = 3, FIRST_UNIT = 5 };

static struct ft_stream second[N];  /* [CREW] are there */
static const uint32_t crew[CREW] = { 0, 1, 3 };
static const struct ft_use use = { .stream = SECOND, .use = 1, .unit = FIRST_UNIT, .end = FIRST_UNIT * 64 };

/* Its own words of having come in; the others' it does not wait for here: they have said so, or do right after. */
static void come_in(void)
{
    struct ft_stay *stays = ft_region_stream(&region, SECOND).stays;

    for (uint32_t i = 0; i < CREW; i++)
        ft_publish(&stays[crew[i]].use, 1);
    for (uint32_t i = 0; i < CREW; i++) {
        ft_publish(&ft_region_stream(&region, SECOND).counters[crew[i]].done, FIRST_UNIT);
        ft_stream_join(&second[i], &stream[crew[i]], &use, crew, CREW, i, "SECOND");
    }
}

static void say_on(struct ft_stream *s, enum ft_await_kind kind, int whom, uint64_t unit)
{
    struct ft_await a = { .kind = kind, .all = whom == ALL, .rank = whom == ALL ? 0 : (uint32_t)whom, .unit = unit };

    a = ft_stream_await_of(s, a);
    ft_await_say(&ft_region_doorbell(&region, ft_stream_local(s, s->rank))->awaits, &a);
}

static void wait_on(struct ft_stream *s, const struct ft_sig *sig)
{
    call_on(s, sig, 90 + s->number);
    contribute_on(s);
    say_on(s, FT_AWAIT_SHOWN, ALL, s->unit);
}

/* Rank 2 is not in it, and has a world that is further than the stream's units. */
Test(inspect, a_call_on_another_stream_waits_for_its_members)
{
    for (uint32_t k = 0; k < 9; k++)
        for (uint32_t r = 0; r < N; r++) {
            call(r, &small);
            contribute(r);
            leave(r);
        }
    come_in();
    look();
    for (uint32_t r = 0; r < N; r++)
        cr_assert(!ranks[r].in_call && ranks[r].stream == 0 && ranks[r].unit == 9, "rank %u", r);
    wait_on(&second[0], &small);
    wait_on(&second[2], &small);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[1]);
    cr_assert(ranks[3].in_call && ranks[3].stream == SECOND && ranks[3].first == FIRST_UNIT && ranks[3].site == 92);
    cr_assert(ft_sig_equal(&ranks[3].sig, &small));
    cr_assert(ranks[3].unit == 9 && ranks[3].called == 9 && ranks[3].done == 9, "of the world as ever");
    cr_assert_eq(culprit(), -1, "rank 2 waits for nobody either");
    call(2, &small);
    contribute_and_wait(2);
    cr_assert_eq(awaits(2), 3, "who is in another stream has not called it");
    cr_assert_eq(culprit(), 1, "over both streams");
    contribute_on(&second[1]);
    call_on(&second[1], &small, 93);
    look();
    cr_assert(ranks[1].in_call && ranks[1].stream == SECOND && ranks[1].site == 93, "it has not waited yet");
    cr_assert_eq(awaits(0), 0);
}

Test(inspect, what_a_rank_does_in_another_stream_is_progress)
{
    uint64_t before;

    come_in();
    look();
    before = ranks[0].progress;
    call_on(&second[0], &small, 91);
    look();
    cr_assert_neq(ranks[0].progress, before);
    before = ranks[0].progress;
    contribute_on(&second[0]);
    leave_on(&second[0]);
    look();
    cr_assert_neq(ranks[0].progress, before);
    cr_assert_not(ranks[0].in_call);
}

Test(inspect, a_wait_for_others_to_come_into_a_stream)
{
    struct ft_stay *stays = ft_region_stream(&region, SECOND).stays;

    come_in();
    ft_publish(&stays[3].use, 0);
    say_on(&second[0], FT_AWAIT_JOINED, 2, 0);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
    cr_assert(ranks[0].in_call && ranks[0].in_join && ranks[0].stream == SECOND && ranks[0].first == FIRST_UNIT);
    ft_publish(&stays[3].use, 1);
    cr_assert_eq(awaits(0), 0);
    cr_assert(!ranks[0].in_call && !ranks[0].in_join);
}

/* Of a call on each stream the one is shown that it has said last. */
Test(inspect, a_rank_in_two_calls)
{
    come_in();
    wait_on(&second[0], &small);
    call(0, &large);
    look();
    cr_assert(ranks[0].stream == SECOND && ft_sig_equal(&ranks[0].sig, &small));
    cr_assert_eq(awaits(0), 2);
    wait_for(0, FT_AWAIT_CONTRIBUTED, ALL, 0);
    look();
    cr_assert(ranks[0].stream == 0 && ft_sig_equal(&ranks[0].sig, &large));
    cr_assert_eq(awaits(0), 3);
}

Test(inspect, who_has_left_a_stream_is_not_awaited_there)
{
    come_in();
    wait_on(&second[0], &small);
    cr_assert_eq(awaits(0), 2);
    ft_stream_leave_use(&second[1]);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
}

/* Its predecessor was in a call there: so is the successor only when it has come there again. */
Test(inspect, a_successor_comes_into_its_streams_again)
{
    come_in();
    for (uint32_t i = 0; i < CREW; i++) {
        call_on(&second[i], &small, 91);
        contribute_on(&second[i]);
        leave_on(&second[i]);
    }
    wait_on(&second[0], &small);
    wait_on(&second[1], &small);
    call_on(&second[2], &small, 91);
    attach(3, 1);
    cr_assert_eq(awaits(0), 1);
    cr_assert(awaited[3]);
    cr_assert(!ranks[3].in_call && !ranks[3].replaying);
    ft_stream_join(&second[2], &stream[3], &use, crew, CREW, 2, "SECOND");
    look();
    cr_assert(!ranks[3].in_call && ranks[3].replaying);
    cr_assert(ranks[3].replayed == FIRST_UNIT && ranks[3].replay_to == FIRST_UNIT + 1);
    call_on(&second[2], &small, 91);
    look();
    cr_assert(ranks[3].in_call && ranks[3].stream == SECOND && ranks[3].first == FIRST_UNIT);
    ft_stream_end(&second[2], 1, (FIRST_UNIT + 1) * 64);
    contribute_on(&second[2]);
    cr_assert_eq(awaits(0), 0, "its predecessor had called it");
    cr_assert_not(ranks[3].replaying);
}

Test(inspect, the_agent_is_awaited_for_memory_of_another_stream)
{
    struct ft_stream_parts parts = ft_region_stream(&region, SECOND);

    come_in();
    ft_publish(&parts.head->ready, region.header->params.extent_bytes);
    ft_publish(&parts.counters[0].want, region.header->params.extent_bytes + 1);
    look();
    cr_assert_not(ft_inspect_awaits_memory(&region, ranks, 0));
    call_on(&second[0], &small, 91);
    say_on(&second[0], FT_AWAIT_MEMORY, 0, region.header->params.extent_bytes);
    look();
    cr_assert(ft_inspect_awaits_memory(&region, ranks, 0));
    cr_assert_eq(culprit(), -1);
}

/* Another node's frame is shown in the line about mismatched calls: its numbers index nothing (found by fuzz_frames). */
Test(inspect, a_call_that_is_none_is_printed_all_the_same)
{
    struct ft_sig sig = {.call = 255, .reduction = 255, .kind = 254, .cached = FT_CACHED_DECLARED, .root = -1, .count = 1};
    char text[128];

    cr_expect_str_eq(ft_sig_print(&sig, text, sizeof text), "an unknown call(?, 1 x ?)");
}
