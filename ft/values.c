/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ft/handle.h"
#include "ft/shm/box.h"
#include "ft/values/table.h"

enum { MS = 1000000 /* ns */ };

static const char *const verbs[FT_VALUE_OPS] = {
    [FT_VALUE_SET] = "sets", [FT_VALUE_GET] = "gets", [FT_VALUE_WAIT] = "waits for", [FT_VALUE_ADD] = "adds to",
    [FT_VALUE_COMPARE] = "compares",
};

static uint64_t next_number(struct ft *ft)
{
    struct ft_values_caller *c = &ft->values;

    if (c->version != ft_version(ft)) {
        c->version = ft_version(ft);
        c->calls = 0;
    }
    return ft_value_number(c->version, c->calls++);
}

/* ---- with ftrun: by the box ---- */

static uint64_t put(struct ft *ft, const struct ft_value_ask *ask)
{
    struct ft_box *box = ft_box(&ft->region, ft->world.rank);
    uint64_t times = ft_peek(&box->asked) + 1, one = 1;

    ft_box_use(&ft->region);
    ft_value_put_ask(ask, box->bytes);
    ft_note(&box->length, ft_value_ask_bytes(ask));
    ft_note(&box->newest, ft_max(ft_peek(&box->newest), ask->number + 1));
    ft_publish(&box->asked, times);
    if (write(ft->checkpoints.bell, &one, sizeof one) < 0) {
        /* the agent looks now and then */
    }
    return times;
}

static bool snapshot_due(const struct ft *ft) { return !ft->world.loading && ft_handle_due(ft); }

/* Makes one if it is due. True: this is what goes on from it, which did not sleep. */
static bool is_woken(struct ft *ft, struct ft_wait *w)
{
    if (!snapshot_due(ft))
        return false;
    ft_wait_over(w, &ft->patience);
    return ft_handle_snapshot(ft, NULL, 0);
}

/* When it has waited so long. */
static uint64_t time_up(const struct ft_value_ask *ask)
{
    uint64_t now;

    if (ask->op != FT_VALUE_WAIT || ask->wait_ms == UINT64_MAX)
        return UINT64_MAX;
    now = ft_clock_ns();
    return ask->wait_ms > (UINT64_MAX - now) / MS ? UINT64_MAX : now + ask->wait_ms * MS;
}

/* A snapshot may be made while it waits. What goes on from that asks once more: of who is dead nothing is answered. Its time is its own to
   count, and so that of a rank that is killed is never up. Then it asks once more, for an answer at once: what it did not wait for is
   remembered with the others. */
static void await(struct ft *ft, const struct ft_value_ask *ask)
{
    struct ft_box *box = ft_box(&ft->region, ft->world.rank);
    struct ft_value_ask now = *ask;
    uint64_t times = put(ft, &now), until = time_up(&now);
    struct ft_wait w = ft_wait_for_agent(&ft->patience);

    while (ft_look(&box->answered) < times) {
        if (is_woken(ft, &w)) {
            w = ft_wait_for_agent(&ft->patience);
            now.wait_ms = ask->wait_ms;
            times = put(ft, &now);
            until = time_up(&now);
        } else if (until != UINT64_MAX && ft_clock_ns() >= until) {
            now.wait_ms = 0;
            times = put(ft, &now);
            until = UINT64_MAX;
        } else {
            ft_wait_turn_within(&w, &ft->patience, until - ft_min(until, ft_clock_ns()));
        }
    }
    ft_wait_over(&w, &ft->patience);
}

static int take(struct ft *ft, const struct ft_value_ask *ask, struct ft_value_answer *answer, struct ft_error *e)
{
    struct ft_box *box = ft_box(&ft->region, ft->world.rank);
    struct ft_values_caller *c = &ft->values;
    size_t length = ft_peek(&box->answer_length);
    char *more;

    FT_INVARIANT(length <= FT_VALUE_ROOM, "an answer of the store fits into a rank's box");
    if (length > c->room) {
        more = realloc(c->answer, length);
        if (!more)
            return ft_err_set(e, FT_ENOMEM, "no memory for what the job's store has answered");
        c->answer = more;
        c->room = length;
    }
    memcpy(c->answer, ft_box_answer(box), length);
    if (!ft_value_get_answer(answer, c->answer, length) || answer->number != ask->number)
        return ft_err_set(e, FT_EJOB,
                          "rank %u on %s: what lies in its box is no answer of the job's store; has the program written to memory that is "
                          "not its own?", ft->world.me, ft->host);
    return 0;
}

/* Before others see what this call does, what the predecessor has left open is settled. */
static void settle(const struct ft *ft, uint64_t number)
{
    if (ft->door && !*ft->door->switched)
        ft_order_live(ft, number >= ft_peek(&ft_box(&ft->region, ft->world.rank)->newest));
}

static int ask_agent(struct ft *ft, const struct ft_value_ask *ask, struct ft_value_answer *answer, struct ft_error *e)
{
    bool says = ft_handle_begin(ft);
    int err;

    if (snapshot_due(ft))
        ft_handle_snapshot(ft, NULL, 0);
    settle(ft, ask->number);
    await(ft, ask);
    err = take(ft, ask, answer, e);
    ft_handle_end(ft, says);
    return err;
}

/* ---- without: in this process ---- */

static int ask_here(struct ft *ft, struct ft_value_ask *ask, struct ft_value_answer *answer, struct ft_error *e)
{
    struct ft_values_caller *c = &ft->values;

    for (size_t bytes = FT_VALUES_MEMORY; !c->memory && bytes >= FT_VALUES_LEAST; bytes /= 2) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        c->memory = memory == MAP_FAILED ? NULL : memory;
        c->bytes = bytes;
    }
    if (c->memory && !c->alone)
        c->alone = ft_values_new(c->memory, c->bytes, 1);
    if (!c->alone)
        return ft_err_set(e, FT_ENOMEM, "no memory for a store");
    ask->wait_ms = 0; /* there is nobody else */
    ft_values_do(c->alone, 0, ask, answer);
    return 0;
}

/* ---- both ---- */

static int judge(const struct ft *ft, const struct ft_value_ask *ask, const struct ft_value_answer *answer, struct ft_error *e)
{
    switch (answer->status) {
    case FT_VALUE_OTHER:
        return ft_err_set(e, FT_EDIVERGED,
                          "rank %u on %s %s \"%.*s\" in the job's store, as its call %u since checkpoint %llu, and in an earlier life "
                          "that was another call: the program is not the same each time", ft->world.me, ft->host, verbs[ask->op],
                          (int)ft_min(ask->nkey, 64), ask->key, (unsigned)(ask->number & UINT32_MAX) + 1,
                          (unsigned long long)ft_value_version(ask->number));
    case FT_VALUE_BAD:
        return ft_err_set(e, FT_EJOB,
                          "rank %u on %s: ftrun did not understand what it asked of the job's store; has the program written to memory "
                          "that is not its own?", ft->world.me, ft->host);
    case FT_VALUE_NO_MEMORY:
        return ft_err_set(e, FT_ENOMEM, "ftrun has no memory for the job's store");
    default:
        return 0;
    }
}

/* A rank asks one thing at a time. Which of its threads has its turn is in the order of their calls. */
static void begin_ask(struct ft *ft)
{
    struct ft_wait w = { 0 };

    while (ft->order && (ft->values.asks || (ft_order_replays(ft) ? !ft_order_is_mine(ft) : ft_order_settles(ft))))
        ft_order_turn(ft, &w);
    if (w.turns)
        ft_wait_over(&w, &ft->patience);
    ft_order_step(ft);
    ft->values.asks = true;
}

static void end_ask(struct ft *ft)
{
    ft->values.asks = false;
    if (ft->block)
        ft_wait_stir(&ft->patience);
}

int ft_value(struct ft *ft, struct ft_value_ask *ask, struct ft_value_answer *answer, struct ft_error *e)
{
    int err;

    begin_ask(ft);
    ask->number = next_number(ft);
    if (!ft->host[0])
        ft_host(ft->host, sizeof ft->host);
    err = ft->block ? ask_agent(ft, ask, answer, e) : ask_here(ft, ask, answer, e);
    end_ask(ft);
    return err ? err : judge(ft, ask, answer, e);
}

void ft_values_caller_close(struct ft_values_caller *c)
{
    ft_values_free(c->alone);
    if (c->memory)
        munmap(c->memory, c->bytes);
    free(c->answer);
}
