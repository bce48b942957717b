/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for a key of the job's store, and who waits no more. */
#include "config.h"
#include "launcher/values/server.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, MEMORY = 1 << 20, TIME = 60000 };

static void *memory;
static struct ft_values_server *server;
static struct { unsigned n; enum ft_value_status status; bool there; uint64_t number; } heard[RANKS];
static uint32_t order[16], answers;

static void answer(void *arg, uint32_t rank, const struct ft_value_answer *a)
{
    cr_assert_eq(arg, &server);
    heard[rank].n++;
    heard[rank].status = a->status;
    heard[rank].there = a->there;
    heard[rank].number = a->number;
    order[answers++] = rank;
}

static void serve(void)
{
    const struct ft_values_server_config config = {.memory = memory, .bytes = MEMORY, .nranks = RANKS, .answer = answer, .arg = &server};

    server = ft_values_server_new(&config);
    cr_assert(server != NULL);
}

static void begin(void)
{
    memory = aligned_alloc(64, MEMORY);
    memset(memory, 0, MEMORY);
    serve();
}

static void end(void)
{
    ft_values_server_free(server);
    free(memory);
}

TestSuite(values_server, .init = begin, .fini = end, .timeout = 60);

static void wait_for(uint32_t rank, uint64_t number, const char *key, uint64_t ms)
{
    ft_values_server_ask(server, rank, &(struct ft_value_ask){.number = number, .op = FT_VALUE_WAIT, .key = key,
                                                              .nkey = (uint32_t)strlen(key), .wait_ms = ms});
}

static void set(uint32_t rank, uint64_t number, const char *key)
{
    ft_values_server_ask(server, rank, &(struct ft_value_ask){.number = number, .op = FT_VALUE_SET, .key = key,
                                                              .nkey = (uint32_t)strlen(key), .value = "v", .nvalue = 1});
}

Test(values_server, who_has_waited_long_enough_says_so)
{
    wait_for(0, 0, "k", TIME);
    cr_expect_eq(heard[0].n, 0);
    wait_for(0, 0, "k", 0);
    cr_expect(heard[0].n == 1 && heard[0].status == FT_VALUE_LATE && !heard[0].there);
    set(1, 0, "k");
    cr_expect_eq(heard[0].n, 1, "it waits no more");
    wait_for(0, 1, "k", 0);
    cr_expect(heard[0].n == 2 && heard[0].status == FT_VALUE_DONE && heard[0].there && heard[0].number == 1);
}

/* What it waited for was once called late by a clock of the server's, after its death: its successor had no time at all. */
Test(values_server, a_dead_rank_is_never_late)
{
    wait_for(0, 0, "k", 1); /* and it is killed */
    cr_expect_eq(heard[0].n, 0);
    wait_for(0, 0, "k", 1); /* its successor */
    set(1, 0, "k");
    cr_expect(heard[0].n == 1 && heard[0].status == FT_VALUE_DONE && heard[0].there);
}

/* Killed once it has been told: the same is told again, whatever is there by then. */
Test(values_server, what_was_late_stays_late)
{
    wait_for(0, 0, "k", 0);
    set(1, 0, "k");
    wait_for(0, 0, "k", TIME);
    cr_expect(heard[0].n == 2 && heard[0].status == FT_VALUE_LATE);
    ft_values_server_free(server);
    serve();
    wait_for(0, 0, "k", TIME);
    cr_expect(heard[0].n == 3 && heard[0].status == FT_VALUE_LATE);
}

Test(values_server, all_who_wait_for_a_key_are_answered_before_who_sets_it)
{
    wait_for(2, 0, "k", TIME);
    wait_for(0, 0, "l", TIME);
    set(1, 0, "k");
    cr_expect(answers == 2 && order[0] == 2 && order[1] == 1);
    wait_for(0, 1, "other", TIME); /* another call than before: that one is not waited for any more */
    set(1, 1, "l");
    cr_expect(answers == 3 && order[2] == 1);
    set(1, 2, "other");
    cr_expect(answers == 5 && order[3] == 0 && heard[0].number == 1);
}
