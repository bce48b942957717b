/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of the log of outcomes whose memory goes back to the system (ft/outcome/log.h), beside the rank that writes. */
#include "ft/outcome/log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "ft/base/util.h"

enum { SLOTS = 4, MOST = 256 << 10 /* bytes of a record */ };

static char *memory;
static struct ft_outcome_log ranks, agents, waits; /* `waits`: of another thread of the rank */
static uint64_t bytes;

static void set_up(void)
{
    bytes = ft_align(sizeof(struct ft_outcome_words), 4096) + SLOTS * (uint64_t)FT_OUTCOME_EXTENT;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    ft_outcome_log_open(&ranks, memory, bytes);
    ft_outcome_log_open(&agents, memory, bytes);
    ft_outcome_log_open(&waits, memory, bytes);
    waits.thread = 1;
}

static void tear_down(void) { munmap(memory, bytes); }

TestSuite(outcome_log, .init = set_up, .fini = tear_down, .timeout = 60);

/* False: the log is full. */
static bool record(void)
{
    struct ft_outcome *o = ft_outcome_begin(&ranks, 1, 0, MOST, 0);

    if (!o)
        return false;
    memset(ft_outcome_data(o), 7, MOST);
    ft_outcome_done(&ranks, o, MOST, 0);
    return true;
}

static void fill(uint32_t slots)
{
    while (ft_outcome_log_slots(&ranks) < slots)
        cr_assert(record());
}

static void hold(uint64_t number, uint64_t extents) { ft_outcome_log_hold(ranks.words, number, extents * FT_OUTCOME_EXTENT); }

static void release(uint64_t extents) { hold(1, extents); }

Test(outcome_log, what_is_needed_is_not_taken)
{
    uint32_t slot = 0;

    cr_expect_null(ft_outcome_log_take(&agents, &slot)); /* none has ever been used */
    fill(3);
    cr_expect_null(ft_outcome_log_take(&agents, &slot));
    release(1);
    cr_assert(ft_outcome_log_take(&agents, &slot) == agents.slots);
    cr_expect(slot == 0);
    slot++;
    cr_expect_null(ft_outcome_log_take(&agents, &slot));
}

Test(outcome_log, what_is_taken_is_not_written_to)
{
    uint32_t slot = 0;

    fill(3);
    release(1);
    cr_assert(ft_outcome_log_take(&agents, &slot));
    memset(agents.slots, 0, FT_OUTCOME_EXTENT);
    fill(4);
    while (record()) /* to the end of the last one */
        ;
    for (size_t i = 0; i < FT_OUTCOME_EXTENT; i += 4096)
        cr_assert(agents.slots[i] == 0);
    ft_outcome_log_give(&agents, slot);
    cr_expect(ft_outcome_log_slots(&agents) == 3);
    cr_expect(record());
    cr_expect(agents.slots[4096] == 7);
}

/* The agent was killed in between. */
Test(outcome_log, a_successor_takes_what_was_taken)
{
    uint32_t slot = 0, again = 0;

    fill(2);
    release(1);
    cr_assert(ft_outcome_log_take(&agents, &slot));
    cr_expect(ft_outcome_log_take(&agents, &again) == agents.slots && again == slot);
}

/* ---- a call that waits long: poll, in a thread that does nothing else ---- */

static struct ft_outcome *begin_to_wait(void)
{
    struct ft_outcome *o = ft_outcome_begin(&waits, 2, 77, 64, 0);

    cr_assert(o);
    return o;
}

static void expect_kept(const struct ft_outcome *o)
{
    cr_expect(o->kind == 2 && o->what == 77 && o->thread == 1);
}

/* All that can be, bit by bit; it is empty then. */
static uint32_t take_all(void)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; ft_outcome_log_take(&agents, &i); i++) {
        ft_outcome_log_give(&agents, i);
        taken |= 1u << i;
    }
    return taken;
}

static bool can_be_taken(uint32_t slot) { return take_all() >> slot & 1; }

/* The position alone would have to stay before it for as long as it waits: the log of a rank grew with the job. */
Test(outcome_log, what_is_around_a_long_call_is_used_again)
{
    const struct ft_outcome *o = begin_to_wait();

    fill(4);
    while (record()) /* full */
        ;
    ft_outcome_log_need(&ranks, 0, 5);
    hold(5, 3);
    for (int i = 0; i < 6; i++)
        cr_assert(record(), "%d", i);
    expect_kept(o);
    cr_expect_not(can_be_taken(0));
}

/* It has been done meanwhile, but that is not known in the copy. */
Test(outcome_log, what_a_copy_needs_is_kept_until_it_is_not_woken_any_more)
{
    struct ft_outcome *o = begin_to_wait();

    fill(3);
    ft_outcome_log_need(&ranks, 0, 5);
    ft_outcome_done(&waits, o, 64, 1);
    hold(3, 2); /* an older one is there, too */
    cr_expect_not(can_be_taken(0));
    hold(5, 2);
    cr_expect_not(can_be_taken(0));
    hold(6, 2);
    cr_expect(can_be_taken(0));
}

Test(outcome_log, the_newest_copy_that_needs_it_counts)
{
    begin_to_wait();
    fill(3);
    ft_outcome_log_need(&ranks, 0, 6);
    ft_outcome_log_need(&ranks, 0, 5); /* a rank that is late with one that was given up */
    hold(6, 2);
    cr_expect_not(can_be_taken(0));
}

Test(outcome_log, a_new_extent_is_needed_by_nobody)
{
    begin_to_wait();
    fill(3);
    ft_outcome_log_need(&ranks, 0, 5);
    hold(6, 2);
    fill(4);
    while (record())
        ;
    for (uint32_t i = 0; i < SLOTS; i++)
        cr_expect(atomic_load(&ranks.words->needed_by[i]) == 0, "slot %u", i);
}

/* ---- and there is no copy ---- */

/* Snapshots had gone for want of memory. The call came back, and its thread wrote into a record that was another one's by then. */
Test(outcome_log, a_call_under_way_has_its_record_without_any_copy)
{
    struct ft_outcome *o = begin_to_wait();

    fill(4);
    while (record())
        ;
    hold(5, 0);
    ft_outcome_log_alone(&agents, 8, 3 * (uint64_t)FT_OUTCOME_EXTENT);
    cr_expect_not(can_be_taken(0));
    for (int i = 0; i < 6; i++)
        cr_assert(record(), "%d", i);
    expect_kept(o);
}

Test(outcome_log, a_call_that_is_done_needs_nothing_without_any_copy)
{
    struct ft_outcome *o = begin_to_wait();

    fill(3);
    ft_outcome_log_alone(&agents, 8, 2 * (uint64_t)FT_OUTCOME_EXTENT);
    ft_outcome_done(&waits, o, 64, 1);
    cr_expect_not(can_be_taken(0));
    ft_outcome_log_alone(&agents, 8, 2 * (uint64_t)FT_OUTCOME_EXTENT);
    cr_expect(can_be_taken(0));
}

/* Then one is made in which the call is under way, and it is done before the agent has heard of that. */
Test(outcome_log, the_tail_does_not_go_back_behind_a_copy)
{
    struct ft_outcome *o = ft_outcome_begin(&waits, 1, 0, MOST, 0);
    uint64_t tail = atomic_load(&waits.words->tail);

    ft_outcome_log_stand(&waits, true);
    ft_outcome_log_stand(&ranks, false);
    ft_outcome_done(&waits, o, 8, 0); /* it has no use for the rest, which lies before the copy */
    cr_expect(atomic_load(&waits.words->tail) == tail);
    o = ft_outcome_begin(&waits, 1, 0, MOST, 0);
    ft_outcome_done(&waits, o, 8, 0);
    cr_expect(atomic_load(&waits.words->tail) < tail + MOST);
}

/* It was led back, and the next copy was made before it had come to its record. */
Test(outcome_log, a_thread_is_owed_its_call_by_the_next_copy)
{
    struct ft_outcome *o = ft_outcome_begin(&waits, 1, 0, MOST, 0);

    ft_outcome_log_stand(&waits, true);
    cr_assert(record());
    ft_outcome_log_follow(&waits);
    cr_expect(ft_outcome_owed(&waits) == o);
    ft_outcome_log_stand(&waits, false);
    ft_outcome_log_follow(&waits);
    cr_assert(ft_outcome_next(&waits) == o);
    ft_outcome_again(&waits, o, MOST);
    ft_outcome_done(&waits, o, 8, 0);
    ft_outcome_log_stand(&waits, false);
    cr_expect_null(ft_outcome_owed(&waits));
}

Test(outcome_log, what_the_first_copy_needs_is_kept_before_the_agent_knows_of_it)
{
    struct ft_outcome *o = begin_to_wait();

    fill(3);
    ft_outcome_log_alone(&agents, 8, 2 * (uint64_t)FT_OUTCOME_EXTENT);
    ft_outcome_log_need(&ranks, 0, 8);
    ft_outcome_done(&waits, o, 64, 1);
    cr_expect_not(can_be_taken(0));
    hold(8, 2);
    cr_expect_not(can_be_taken(0));
    hold(9, 2);
    cr_expect(can_be_taken(0));
}

/* A copy needed it, which is gone; the call is still under way. */
Test(outcome_log, a_call_under_way_outlives_the_copies_that_knew_it)
{
    begin_to_wait();
    fill(3);
    ft_outcome_log_need(&ranks, 0, 5);
    hold(5, 2);
    ft_outcome_log_alone(&agents, 8, 2 * (uint64_t)FT_OUTCOME_EXTENT);
    cr_expect_not(can_be_taken(0));
}

Test(outcome_log, what_cannot_be_read_is_kept)
{
    struct ft_outcome *o;

    fill(3);
    o = (struct ft_outcome *)(void *)ranks.slots;
    o->room = 0;
    ft_outcome_log_alone(&agents, 8, 2 * (uint64_t)FT_OUTCOME_EXTENT);
    cr_expect_eq(take_all(), 1u << 1);
}

Test(outcome_log, a_start_from_the_beginning_needs_nothing_of_before)
{
    atomic_store(&ranks.words->started, 1);
    begin_to_wait();
    fill(3);
    ft_outcome_log_need(&ranks, 0, 5);
    hold(5, 0);
    ft_outcome_log_restart(memory, 6);
    cr_expect(can_be_taken(0));
}

/* Its second replay took the first life's lock operations for its own, and was in vain. */
Test(outcome_log, a_start_from_the_beginning_has_no_lock_operations)
{
    atomic_store(&ranks.words->started, 1);
    atomic_store(&ranks.words->locks[0], 3);
    atomic_store(&ranks.words->locks[FT_OUTCOME_THREADS - 1], 5);
    ft_outcome_log_restart(memory, 6);
    for (int i = 0; i < FT_OUTCOME_THREADS; i++)
        cr_assert_eq(atomic_load(&ranks.words->locks[i]), 0);
}

/* A copy that closes those before it, `renews`, is good before that and after it, and closed by whatever is closed besides. (Two threads mapped files at a
   time: the closing of the one was taken for that of the other's copy, which lacked its mapping and stayed usable.) */
Test(outcome_log, a_copy_that_closes_those_before_it_is_closed_by_others)
{
    struct ft_outcome_words *words = ranks.words;
    uint64_t before, copy;

    ft_outcome_close(words, "first");
    before = atomic_load(&words->closings);
    copy = ft_outcome_renews(words);
    cr_expect(copy > before && atomic_load(&words->closings) == before, "not before it is there");
    ft_outcome_renewed(words, "second", copy);
    ft_outcome_renewed(words, "again", copy); /* by what was made of it */
    cr_expect(atomic_load(&words->closings) == copy && !strcmp(words->why, "second"));

    copy = ft_outcome_renews(words);
    ft_outcome_close(words, "another thread's");
    cr_expect(atomic_load(&words->closings) > copy);
    ft_outcome_renewed(words, "third", copy);
    cr_expect(atomic_load(&words->closings) == copy + 1 && !strcmp(words->why, "another thread's"));
}
