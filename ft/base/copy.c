/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/copy.h"

#include <stdint.h>
#include <string.h>

#include "ft/base/util.h"

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

/* A line is read before it is written to either place. */
static inline __attribute__((always_inline)) void by_lines(char *d, char *log, const char *s, size_t n)
{
    for (; n >= BLOCK; d += BLOCK, s += BLOCK, n -= BLOCK) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + VECTOR));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + 2 * VECTOR));
        __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(s + 3 * VECTOR));

        _mm_storeu_si128((__m128i *)(void *)d, a);
        _mm_storeu_si128((__m128i *)(void *)(d + VECTOR), b);
        _mm_storeu_si128((__m128i *)(void *)(d + 2 * VECTOR), c);
        _mm_storeu_si128((__m128i *)(void *)(d + 3 * VECTOR), e);
        if (log) {
            _mm_stream_si128((__m128i *)(void *)log, a);
            _mm_stream_si128((__m128i *)(void *)(log + VECTOR), b);
            _mm_stream_si128((__m128i *)(void *)(log + 2 * VECTOR), c);
            _mm_stream_si128((__m128i *)(void *)(log + 3 * VECTOR), e);
            log += BLOCK;
        }
    }
    memcpy(d, s, n);
    if (log)
        memcpy(log, s, n);
}

void ft_copy_lines(void *to, const void *from, size_t n)
{
    if (n < SMALL)
        memcpy(to, from, n);
    else
        by_lines(to, NULL, from, n);
}

void ft_copy_twice(void *to, void *log, const void *from, size_t n)
{
    size_t head = ft_min(n, -(uintptr_t)log % BLOCK);

    memcpy(to, from, head);
    memcpy(log, from, head);
    by_lines((char *)to + head, (char *)log + head, (const char *)from + head, n - head);
}

/* weakly ordered stores, RULE 12 */
void ft_copy_order(bool past_cache)
{
    if (past_cache)
        _mm_sfence();
}
#else
void ft_copy_lines(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

void ft_copy_twice(void *to, void *log, const void *from, size_t n)
{
    memcpy(to, from, n);
    memcpy(log, from, n);
}

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
