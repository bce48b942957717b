/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash of what a rank contributes: fast, the same in every process of a job, not cryptographic. */
#ifndef FT_BASE_HASH_H
#define FT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "ft/base/reduce.h"

/* Multiply two words and fold the 128-bit product: the step of wyhash (Wang Yi, public domain); the constants are
   digits of the golden ratio and of square roots. */
static inline uint64_t ft_hash_mix(uint64_t a, uint64_t b)
{
    __uint128_t p = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd1b54a32d192ed03ull);

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* n bytes; seed: what came before, or 0. About 10 bytes a nanosecond. */
uint64_t ft_hash(uint64_t seed, const void *data, size_t n);

/* The same of bytes that come in pieces, all but the last of them multiples of 32 bytes long; `total`: of all. */
struct ft_hashing {
    uint64_t a, b;
};

enum { FT_HASH_BLOCK = 32 };

void ft_hashing_begin(struct ft_hashing *h, uint64_t seed, size_t total);
void ft_hashing_add(struct ft_hashing *h, const void *data, size_t n);
uint64_t ft_hashing_end(const struct ft_hashing *h);

/* ft_hashing_add and a memcpy in one, in the time of the latter if data is not in the cache. Ordered as plain stores are. */
void ft_hashing_copy(struct ft_hashing *h, void *to, const void *data, size_t n);

/* n bytes of elements of a kind, without the padding some have inside (long double, double+int, ...), which is no
   data and may hold anything. Never 0. */
uint64_t ft_hash_elements(enum ft_kind kind, const void *data, size_t n);

#endif
