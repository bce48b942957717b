/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/hash.h"

#include <float.h>
#include <string.h>

enum { PACK = 4096 };

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

/* The data in an element: at 0 and at `second`. */
struct data {
    size_t first, second_at, second;
};

/* x86's long double is 10 bytes in 16. */
enum { LONG_DOUBLE = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static struct data data_of(enum ft_kind kind)
{
    switch (kind) {
    case FT_FLD:
        return (struct data){ LONG_DOUBLE, 0, 0 };
    case FT_CLD:
        return (struct data){ LONG_DOUBLE, offsetof(struct ft_cld, im), LONG_DOUBLE };
    case FT_FLD_INT:
        return (struct data){ LONG_DOUBLE, offsetof(struct ft_fld_int, index), sizeof(int) };
    case FT_F64_INT:
        return (struct data){ sizeof(double), offsetof(struct ft_f64_int, index), sizeof(int) };
    case FT_I64_INT:
        return (struct data){ sizeof(long), offsetof(struct ft_i64_int, index), sizeof(int) };
    case FT_I16_INT:
        return (struct data){ sizeof(short), offsetof(struct ft_i16_int, index), sizeof(int) };
    default:
        return (struct data){ ft_kind_size(kind), 0, 0 };
    }
}

/* Elements with padding, packed a piece at a time. */
static uint64_t hash_packed(const struct data *d, size_t size, const unsigned char *from, size_t elements)
{
    unsigned char packed[PACK];
    size_t each = d->first + d->second, n = 0;
    uint64_t h = 0;

    for (; elements > 0; elements--, from += size) {
        memcpy(packed + n, from, d->first);
        memcpy(packed + n + d->first, from + d->second_at, d->second);
        n += each;
        if (n + each > PACK || elements == 1) {
            h = ft_hash(h, packed, n);
            n = 0;
        }
    }
    return h;
}

uint64_t ft_hash_elements(enum ft_kind kind, const void *data, size_t n)
{
    struct data d = data_of(kind);
    size_t size = ft_kind_size(kind);
    uint64_t h = d.first + d.second == size ? ft_hash(0, data, n) : hash_packed(&d, size, data, n / size);

    return h ? h : 1;
}
