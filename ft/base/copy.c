/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/copy.h"

#include <stdint.h>
#include <string.h>

enum { SMALL = 1024 };  /* the order costs more than less than that wins */

#if defined(__SSE2__)
#include <emmintrin.h>

enum { VECTOR = 16, BLOCK = 64 };

void ft_copy_past_cache_unordered(void *to, const void *from, size_t n)
{
    char *d = to;
    const char *s = from;
    size_t head = -(uintptr_t)d % BLOCK;

    if (n < BLOCK) {
        memcpy(d, s, n);
        return;
    }
    memcpy(d, s, head);
    d += head;
    s += head;
    n -= head;
    for (; n >= BLOCK; d += BLOCK, s += BLOCK, n -= BLOCK) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + VECTOR));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + 2 * VECTOR));
        __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(s + 3 * VECTOR));

        _mm_stream_si128((__m128i *)(void *)d, a);
        _mm_stream_si128((__m128i *)(void *)(d + VECTOR), b);
        _mm_stream_si128((__m128i *)(void *)(d + 2 * VECTOR), c);
        _mm_stream_si128((__m128i *)(void *)(d + 3 * VECTOR), e);
    }
    memcpy(d, s, n);
}

/* weakly ordered stores, RULE 12 */
void ft_copy_order(bool past_cache)
{
    if (past_cache)
        _mm_sfence();
}
#else
void ft_copy_past_cache_unordered(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

void ft_copy_order(bool past_cache)
{
    (void)past_cache;
}
#endif

void ft_copy_past_cache(void *to, const void *from, size_t n)
{
    bool past = n >= SMALL;

    ft_copy_unordered(to, from, n, past);
    ft_copy_order(past);
}
