/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/msg/decided.h"

#include <stdlib.h>

#include "ft/base/err.h"
#include "ft/base/hash.h"

/* Pairs are named by their place plus one, so that zeros name none. A chain goes through all pairs of one hash; those that are free are in
   a chain, too, through after_receive. */
enum { FIRST_ROOM = 64 };

static uint32_t *chain_of_receive(const struct ft_decided *d, uint64_t receive)
{
    return &d->by_receive[ft_hash_mix(receive, 0) & (d->room - 1)];
}

static uint32_t *chain_of_message(const struct ft_decided *d, int32_t source, uint64_t number)
{
    return &d->by_message[ft_hash_mix(number, (uint32_t)source) & (d->room - 1)];
}

static void enter(struct ft_decided *d, uint32_t name)
{
    struct ft_decided_pair *pair = &d->pairs[name - 1];
    uint32_t *receive = chain_of_receive(d, pair->receive), *message = chain_of_message(d, pair->source, pair->number);

    pair->after_receive = *receive;
    pair->after_message = *message;
    *receive = *message = name;
}

/* All pairs are in use. */
static int grow(struct ft_decided *d)
{
    uint32_t room = d->room ? 2 * d->room : FIRST_ROOM;
    struct ft_decided_pair *pairs;
    uint32_t *by_receive, *by_message;

    if (room < d->room)
        return FT_ENOMEM;
    by_receive = calloc(room, sizeof *by_receive);
    by_message = calloc(room, sizeof *by_message);
    pairs = realloc(d->pairs, room * sizeof *pairs);
    if (pairs)
        d->pairs = pairs;
    if (!by_receive || !by_message || !pairs) {
        free(by_receive);
        free(by_message);
        return FT_ENOMEM;
    }
    free(d->by_receive);
    free(d->by_message);
    d->by_receive = by_receive;
    d->by_message = by_message;
    d->room = room;
    for (uint32_t i = 0; i < d->n; i++)
        enter(d, i + 1);
    for (uint32_t i = d->n; i < room; i++) {
        d->pairs[i].after_receive = d->free;
        d->free = i + 1;
    }
    return 0;
}

int ft_decided_add(struct ft_decided *d, uint64_t receive, int32_t source, uint64_t number)
{
    uint32_t name;

    if (d->n == d->room && grow(d))
        return FT_ENOMEM;
    name = d->free;
    d->free = d->pairs[name - 1].after_receive;
    d->pairs[name - 1] = (struct ft_decided_pair){.receive = receive, .number = number, .source = source};
    d->n++;
    enter(d, name);
    return 0;
}

struct ft_decided_pair *ft_decided_of_receive(const struct ft_decided *d, uint64_t receive)
{
    struct ft_decided_pair *pair;

    if (!d->n)
        return NULL;
    for (uint32_t name = *chain_of_receive(d, receive); name; name = pair->after_receive) {
        pair = &d->pairs[name - 1];
        if (pair->receive == receive)
            return pair;
    }
    return NULL;
}

struct ft_decided_pair *ft_decided_of_message(const struct ft_decided *d, int32_t source, uint64_t number)
{
    struct ft_decided_pair *pair;

    if (!d->n)
        return NULL;
    for (uint32_t name = *chain_of_message(d, source, number); name; name = pair->after_message) {
        pair = &d->pairs[name - 1];
        if (pair->number == number && pair->source == source)
            return pair;
    }
    return NULL;
}

void ft_decided_drop(struct ft_decided *d, struct ft_decided_pair *pair)
{
    uint32_t name = (uint32_t)(pair - d->pairs) + 1;
    uint32_t *receive = chain_of_receive(d, pair->receive), *message = chain_of_message(d, pair->source, pair->number);

    while (*receive != name)
        receive = &d->pairs[*receive - 1].after_receive;
    while (*message != name)
        message = &d->pairs[*message - 1].after_message;
    *receive = pair->after_receive;
    *message = pair->after_message;
    pair->after_receive = d->free;
    d->free = name;
    d->n--;
}

void ft_decided_free(struct ft_decided *d)
{
    free(d->pairs);
    free(d->by_receive);
    free(d->by_message);
    *d = (struct ft_decided){0};
}
