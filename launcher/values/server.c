/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/values/server.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ft/values/table.h"
#include "launcher/base/shared.h"

/* A rank that waits for a key, until it says itself that its time is up: so for one that is dead it never is. */
struct waiter {
    TAILQ_ENTRY(waiter) link;
    bool waits;
    uint32_t rank;
    struct ft_value_ask ask;     /* its key is `key` */
    char *key;
};

struct ft_values_server {
    struct ft_values_server_config config;
    struct ft_values *values;
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

    w->key = malloc(ask->nkey);
    if (!w->key) {
        answer(s, rank, &(struct ft_value_answer){.number = ask->number, .status = FT_VALUE_NO_MEMORY});
        return;
    }
    memcpy(w->key, ask->key, ask->nkey);
    w->ask = (struct ft_value_ask){.number = ask->number, .op = ask->op, .key = w->key, .nkey = ask->nkey, .wait_ms = ask->wait_ms};
    w->rank = rank;
    w->waits = true;
    TAILQ_INSERT_TAIL(&s->waiters, w, link);
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
        look(s, ask);
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
    if (s->values)
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
    ft_values_free(s->values);
    free(s);
}
