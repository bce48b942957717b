/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process knows of operations that are, or may be, in the bootstrap cache: private memory, by a hash of the key. For a
   key that the program gives, one place; for a place of call and a signature, one for all calls there. */
#ifndef FT_CORE_KEYS_H
#define FT_CORE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum { FT_KEYS_KEPT = 8 };  /* a place that is called more often in the first version is no bootstrap operation */

/* An entry of the cache. */
struct ft_kept {
    uint64_t at;       /* in the cache */
    uint64_t unit;     /* of the operation */
    bool served;       /* this life of the rank has had it, by position or out of the cache */
};

struct ft_key {
    uint64_t hash;     /* not 0 */
    struct ft_kept kept[FT_KEYS_KEPT];
    uint32_t nkept;
    uint32_t calls;    /* in this life, before a checkpoint was passed or loaded; given keys: any */
    uint64_t most;     /* rank 0 has seen so many in one later version: they are steps of the program, each time done anew */
    uint64_t version, now;  /* rank 0: so many in this one; without a key: that of the first call, plus one */
};

struct ft_keys {
    struct ft_key *table;
    uint64_t size, used;  /* a power of two, or 0 */
};

/* NULL if it is not there. Valid until the next ft_keys_add. */
struct ft_key *ft_keys_find(const struct ft_keys *k, uint64_t hash);

/* It, new if it is not there. NULL: no memory. */
struct ft_key *ft_keys_add(struct ft_keys *k, uint64_t hash);

void ft_keys_free(struct ft_keys *k);

#endif
