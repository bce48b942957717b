/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/values/server.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ft/values/table.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"

enum { LOOK_MS = 86400000 /* a timer is set for no longer */ };

/* A rank that waits for a key. */
struct waiter {
    TAILQ_ENTRY(waiter) link;
    bool waits;
    uint32_t rank;
    uint64_t until_ms;
    struct ft_value_ask ask;     /* its key is `key` */
    char *key;
};

struct ft_values_server {
    struct ft_values_server_config config;
    struct ft_values *values;
    struct event *late;
    TAILQ_HEAD(, waiter) waiters; /* the oldest first */
    struct waiter ranks[];
};

void *ft_values_memory_new(size_t *bytes)
{
    for (*bytes = FT_VALUES_MEMORY; *bytes >= FT_VALUES_LEAST; *bytes /= 2) {
        void *memory = ft_shared_new(*bytes);

        if (memory)
            return memory;
    }
    return NULL;
}

void ft_values_memory_free(void *memory, size_t bytes) { ft_shared_free(memory, bytes); }

static uint64_t now_ms(void) { return ft_timer_boot_ns() / 1000000; }

static void forget(struct ft_values_server *s, struct waiter *w)
{
    if (!w->waits)
        return;
    TAILQ_REMOVE(&s->waiters, w, link);
    free(w->key);
    w->waits = false;
}

static void answer(struct ft_values_server *s, uint32_t rank, const struct ft_value_answer *a)
{
    s->config.answer(s->config.arg, rank, a);
}

/* The timer, for whoever is late first. */
static void set_timer(struct ft_values_server *s)
{
    uint64_t first = UINT64_MAX, now = now_ms();
    const struct waiter *w;

    TAILQ_FOREACH(w, &s->waiters, link)
        first = w->until_ms < first ? w->until_ms : first;
    if (first == UINT64_MAX)
        event_del(s->late);
    else
        ft_timer_set(s->late, first <= now ? 1 : first - now < LOOK_MS ? first - now : LOOK_MS);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct ft_values_server *s = arg;
    uint64_t now = now_ms();
    struct ft_value_answer a;
    struct waiter *w, *next;

    (void)fd;
    (void)what;
    for (w = TAILQ_FIRST(&s->waiters); w; w = next) {
        next = TAILQ_NEXT(w, link);
        if (w->until_ms > now)
            continue;
        ft_values_give_up(s->values, w->rank, &w->ask, &a);
        forget(s, w);
        answer(s, w->rank, &a);
    }
    set_timer(s);
}

/* What they wait for is there. */
static void look(struct ft_values_server *s, const struct ft_value_ask *ask)
{
    struct ft_value_answer a;
    struct waiter *w, *next;

    for (w = TAILQ_FIRST(&s->waiters); w; w = next) {
        next = TAILQ_NEXT(w, link);
        if (w->ask.nkey != ask->nkey || memcmp(w->key, ask->key, ask->nkey) || !ft_values_do(s->values, w->rank, &w->ask, &a))
            continue;
        forget(s, w);
        answer(s, w->rank, &a);
    }
}

static void begin_waiting(struct ft_values_server *s, uint32_t rank, const struct ft_value_ask *ask)
{
    struct waiter *w = &s->ranks[rank];
    uint64_t now = now_ms();

    w->key = malloc(ask->nkey);
    if (!w->key) {
        answer(s, rank, &(struct ft_value_answer){.number = ask->number, .status = FT_VALUE_NO_MEMORY});
        return;
    }
    memcpy(w->key, ask->key, ask->nkey);
    w->ask = (struct ft_value_ask){.number = ask->number, .op = ask->op, .key = w->key, .nkey = ask->nkey};
    w->rank = rank;
    w->until_ms = ask->wait_ms < UINT64_MAX - now ? now + ask->wait_ms : UINT64_MAX;
    w->waits = true;
    TAILQ_INSERT_TAIL(&s->waiters, w, link);
    set_timer(s);
}

void ft_values_server_ask(struct ft_values_server *s, uint32_t rank, const struct ft_value_ask *ask)
{
    struct ft_value_answer a;

    forget(s, &s->ranks[rank]);
    if (!ft_values_do(s->values, rank, ask, &a)) {
        begin_waiting(s, rank, ask);
        return;
    }
    if (ask->op != FT_VALUE_GET && ask->op != FT_VALUE_WAIT)
        look(s, ask); /* before the answer, which may be written where what was asked lies */
    answer(s, rank, &a);
}

struct ft_values_server *ft_values_server_new(const struct ft_values_server_config *config)
{
    struct ft_values_server *s = calloc(1, sizeof *s + config->nranks * sizeof s->ranks[0]);

    if (!s)
        return NULL;
    s->config = *config;
    TAILQ_INIT(&s->waiters);
    s->values = ft_values_new(config->memory, config->bytes, config->nranks);
    s->late = evtimer_new(config->base, on_late, s);
    if (s->values && s->late)
        return s;
    ft_values_server_free(s);
    return NULL;
}

void ft_values_server_free(struct ft_values_server *s)
{
    if (!s)
        return;
    while (!TAILQ_EMPTY(&s->waiters))
        forget(s, TAILQ_FIRST(&s->waiters));
    ft_timer_free(s->late);
    ft_values_free(s->values);
    free(s);
}
