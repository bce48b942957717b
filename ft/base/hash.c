/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/hash.h"

#include <string.h>

static uint64_t word(const unsigned char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof w);
    return w;
}

static void mix_block(struct ft_hashing *h, const unsigned char *p)
{
    h->a = ft_hash_mix(word(p) ^ h->a, word(p + 8)); /* two chains: the products overlap */
    h->b = ft_hash_mix(word(p + 16) ^ h->b, word(p + 24));
}

static void mix_tail(struct ft_hashing *h, const unsigned char *p, size_t n)
{
    unsigned char tail[FT_HASH_BLOCK] = { 0 };

    if (!n)
        return;
    memcpy(tail, p, n);
    mix_block(h, tail);
}

void ft_hashing_begin(struct ft_hashing *h, uint64_t seed, size_t total)
{
    h->a = seed;
    h->b = ft_hash_mix(seed, total);
}

void ft_hashing_add(struct ft_hashing *h, const void *data, size_t n)
{
    struct ft_hashing chains = *h; /* in registers */
    const unsigned char *p = data;

    for (; n >= FT_HASH_BLOCK; p += FT_HASH_BLOCK, n -= FT_HASH_BLOCK)
        mix_block(&chains, p);
    mix_tail(&chains, p, n);
    *h = chains;
}

uint64_t ft_hashing_end(const struct ft_hashing *h)
{
    return ft_hash_mix(h->a, h->b ^ 0xa0761d6478bd642full);
}

uint64_t ft_hash(uint64_t seed, const void *data, size_t n)
{
    struct ft_hashing h;

    ft_hashing_begin(&h, seed, n);
    ft_hashing_add(&h, data, n);
    return ft_hashing_end(&h);
}
