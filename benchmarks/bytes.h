/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs without a library do with bytes: a copy that leaves no trace in the cache, as a log is written, and a sum of floats. */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { BYTES_LINE = 64 };

/* In the widest registers that the program is built for. */
#if defined(__AVX512F__)
typedef __m512i bytes_vector;
static inline bytes_vector bytes_load(const char *p) { return _mm512_loadu_si512((const void *)p); }
static inline void bytes_store(char *p, bytes_vector v) { _mm512_storeu_si512((void *)p, v); }
static inline void bytes_stream(char *p, bytes_vector v) { _mm512_stream_si512((void *)p, v); }
#elif defined(__AVX2__)
typedef __m256i bytes_vector;
static inline bytes_vector bytes_load(const char *p) { return _mm256_loadu_si256((const void *)p); }
static inline void bytes_store(char *p, bytes_vector v) { _mm256_storeu_si256((void *)p, v); }
static inline void bytes_stream(char *p, bytes_vector v) { _mm256_stream_si256((void *)p, v); }
#elif defined(__SSE2__)
typedef __m128i bytes_vector;
static inline bytes_vector bytes_load(const char *p) { return _mm_loadu_si128((const void *)p); }
static inline void bytes_store(char *p, bytes_vector v) { _mm_storeu_si128((void *)p, v); }
static inline void bytes_stream(char *p, bytes_vector v) { _mm_stream_si128((void *)p, v); }
#endif

#if defined(__SSE2__)
/* Past the cache, and to `too` as usual if there is one: line by line. */
static inline void bytes_past_and(char *to, char *too, const char *from, size_t n)
{
    size_t i = 0;
    for (; i + BYTES_LINE <= n; i += BYTES_LINE)
        for (size_t k = 0; k < BYTES_LINE; k += sizeof(bytes_vector)) {
            bytes_vector v = bytes_load(from + i + k);
            bytes_stream(to + i + k, v);
            if (too) bytes_store(too + i + k, v);
        }
    memcpy(to + i, from + i, n - i);
    if (too) memcpy(too + i, from + i, n - i);
    if (n >= BYTES_LINE) _mm_sfence();
}

/* By lines, not by a string instruction, as memcpy is from some KiB on: that takes twice as long where another core has written. */
static inline void bytes_lines(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i + BYTES_LINE <= n; i += BYTES_LINE)
        for (size_t k = 0; k < BYTES_LINE; k += sizeof(bytes_vector)) bytes_store(to + i + k, bytes_load(from + i + k));
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
