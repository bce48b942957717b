/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs without a library do with bytes: a copy that leaves no trace in the cache, as a log is written, and a sum of floats. */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { BYTES_LINE = 64 };

#if defined(__SSE2__)
/* Past the cache, and to `too` as usual if there is one: line by line. */
static inline void bytes_past_and(char *to, char *too, const char *from, size_t n)
{
    size_t i = 0;
    for (; i + BYTES_LINE <= n; i += BYTES_LINE)
        for (size_t k = 0; k < BYTES_LINE; k += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(from + i + k));
            _mm_stream_si128((__m128i *)(void *)(to + i + k), v);
            if (too) _mm_storeu_si128((__m128i *)(void *)(too + i + k), v);
        }
    memcpy(to + i, from + i, n - i);
    if (too) memcpy(too + i, from + i, n - i);
    if (n >= BYTES_LINE) _mm_sfence();
}
/* By lines, not by a string instruction, as memcpy is from some KiB on: that takes twice as long where another core has written. */
static inline void bytes_lines(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i + BYTES_LINE <= n; i += BYTES_LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(from + i)), b = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 32)), d = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 48));
        _mm_storeu_si128((__m128i *)(void *)(to + i), a);
        _mm_storeu_si128((__m128i *)(void *)(to + i + 16), b);
        _mm_storeu_si128((__m128i *)(void *)(to + i + 32), c);
        _mm_storeu_si128((__m128i *)(void *)(to + i + 48), d);
    }
    memcpy(to + i, from + i, n - i);
}
#else
static inline void bytes_lines(char *to, const char *from, size_t n) { memcpy(to, from, n); }

static inline void bytes_past_and(char *to, char *too, const char *from, size_t n)
{
    memcpy(to, from, n);
    if (too) memcpy(too, from, n);
}
#endif

static inline void bytes_add(float *restrict to, const float *restrict a, const float *restrict b, size_t n)
{
    size_t i = 0;
#if defined(__SSE2__)
    for (; i + 16 <= n; i += 16)
        for (size_t k = i; k < i + 16; k += 4) _mm_storeu_ps(to + k, _mm_add_ps(_mm_loadu_ps(a + k), _mm_loadu_ps(b + k)));
#endif
    for (; i < n; i++) to[i] = a[i] + b[i];
}

#endif
