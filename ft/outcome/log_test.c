/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of the log of outcomes whose memory goes back to the system (ft/outcome/log.h), beside the rank that writes. */
#include "ft/outcome/log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "ft/base/util.h"

enum { SLOTS = 4, MOST = 256 << 10 /* bytes of a record */ };

static char *memory;
static struct ft_outcome_log ranks, agents;
static uint64_t bytes;

static void set_up(void)
{
    bytes = ft_align(sizeof(struct ft_outcome_words), 4096) + SLOTS * (uint64_t)FT_OUTCOME_EXTENT;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    ft_outcome_log_open(&ranks, memory, bytes);
    ft_outcome_log_open(&agents, memory, bytes);
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

static void release(uint64_t extents) { atomic_store(&ranks.words->released, extents * FT_OUTCOME_EXTENT); }

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
