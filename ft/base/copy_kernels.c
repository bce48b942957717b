/* SPDX-License-Identifier: BSD-3-Clause */
/* A line is read before it is written to either place. Built several times, with FT_COPY_TABLE naming the table of each build (local.mk). */
#include "ft/base/copy_kernels.h"

#include <string.h>

enum { LINE = 64 };

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512i vector;
static inline vector load(const char *p) { return _mm512_loadu_si512((const void *)p); }
static inline void store(char *p, vector v) { _mm512_storeu_si512((void *)p, v); }
static inline void stream(char *p, vector v) { _mm512_stream_si512((void *)p, v); }
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i vector;
static inline vector load(const char *p) { return _mm256_loadu_si256((const void *)p); }
static inline void store(char *p, vector v) { _mm256_storeu_si256((void *)p, v); }
static inline void stream(char *p, vector v) { _mm256_stream_si256((void *)p, v); }
#elif defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i vector;
static inline vector load(const char *p) { return _mm_loadu_si128((const void *)p); }
static inline void store(char *p, vector v) { _mm_storeu_si128((void *)p, v); }
static inline void stream(char *p, vector v) { _mm_stream_si128((void *)p, v); }
#else
/* Nothing is known that goes past the cache. */
typedef struct { char bytes[LINE]; } vector;
static inline vector load(const char *p) { vector v; memcpy(&v, p, sizeof v); return v; }
static inline void store(char *p, vector v) { memcpy(p, &v, sizeof v); }
static inline void stream(char *p, vector v) { memcpy(p, &v, sizeof v); }
#endif

enum { VECTORS = LINE / sizeof(vector) };

/* to, past: NULL is nowhere. Inlined into each of the three, with the loops over one line unrolled. */
static inline __attribute__((always_inline)) void copy(char *to, char *past, const char *from, size_t n)
{
    for (size_t at = 0; at < n; at += LINE) {
        vector v[VECTORS];

        for (size_t i = 0; i < VECTORS; i++)
            v[i] = load(from + at + i * sizeof(vector));
        for (size_t i = 0; to && i < VECTORS; i++)
            store(to + at + i * sizeof(vector), v[i]);
        for (size_t i = 0; past && i < VECTORS; i++)
            stream(past + at + i * sizeof(vector), v[i]);
    }
}

static void past_cache(char *past, const char *from, size_t n) { copy(NULL, past, from, n); }

static void lines(char *to, const char *from, size_t n) { copy(to, NULL, from, n); }

static void twice(char *to, char *past, const char *from, size_t n) { copy(to, past, from, n); }

const struct ft_copy_kernels FT_COPY_TABLE = {past_cache, lines, twice};
