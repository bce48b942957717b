/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/keys.h"

#include <stdlib.h>

#include "ft/base/err.h"
#include "ft/base/util.h"

/* The place of a hash, or the free one where it belongs. */
static struct ft_key *probe(const struct ft_keys *k, uint64_t hash)
{
    uint64_t i = hash;

    while (k->table[i & (k->size - 1)].hash && k->table[i & (k->size - 1)].hash != hash)
        i++;
    return &k->table[i & (k->size - 1)];
}

struct ft_key *ft_keys_find(const struct ft_keys *k, uint64_t hash)
{
    struct ft_key *key = k->size ? probe(k, hash) : NULL;

    return key && key->hash ? key : NULL;
}

static bool grow(struct ft_keys *k)
{
    struct ft_keys more = {.size = ft_max(64, 2 * k->size), .used = k->used};

    more.table = calloc(more.size, sizeof *more.table);
    if (!more.table)
        return false;
    for (uint64_t i = 0; i < k->size; i++)
        if (k->table[i].hash)
            *probe(&more, k->table[i].hash) = k->table[i];
    free(k->table);
    *k = more;
    return true;
}

struct ft_key *ft_keys_add(struct ft_keys *k, uint64_t hash)
{
    struct ft_key *key;

    if (2 * k->used >= k->size && !grow(k))
        return NULL;
    key = probe(k, hash);
    if (!key->hash) {
        key->hash = hash;
        k->used++;
    }
    return key;
}

void ft_keys_free(struct ft_keys *k)
{
    free(k->table);
    *k = (struct ft_keys){0};
}
