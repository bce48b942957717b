/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint's copy: what is copied has to be hashed, and memory is slower than both, so it is read once. */
#include <stdbool.h>
#include <string.h>

#include "ft/base/hash.h"

#if defined(__SSE2__)
#include <emmintrin.h>

/* From LARGE on the copy would only drive other things out of the cache. AHEAD: what the processor does not fetch by itself as
   early as a memcpy of the C library does. */
enum { LARGE = 4 << 20, LINE = 64, VECTOR = 16, AHEAD = 2048 };

static void mix_line(struct ft_hashing *h, const unsigned char *p)
{
    uint64_t w[LINE / 8];

    memcpy(w, p, sizeof w);
    h->a = ft_hash_mix(w[0] ^ h->a, w[1]);
    h->b = ft_hash_mix(w[2] ^ h->b, w[3]);
    h->a = ft_hash_mix(w[4] ^ h->a, w[5]);
    h->b = ft_hash_mix(w[6] ^ h->b, w[7]);
}

static void stream_line(char *to, const char *from)
{
    for (int i = 0; i < LINE; i += VECTOR)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}

void ft_hashing_copy(struct ft_hashing *h, void *to, const void *data, size_t n)
{
    struct ft_hashing chains = *h;
    const char *from = data;
    char *d = to;
    bool past_cache = n >= LARGE && (uintptr_t)to % VECTOR == 0;

    for (; n >= LINE; d += LINE, from += LINE, n -= LINE) {
        if (past_cache) {
            _mm_prefetch(from + AHEAD, _MM_HINT_T0);
            stream_line(d, from);
        } else {
            memcpy(d, from, LINE);
        }
        mix_line(&chains, (const unsigned char *)from);
    }
    if (past_cache)
        _mm_sfence(); /* weakly ordered stores, RULE 12 */
    *h = chains;
    memcpy(d, from, n);
    ft_hashing_add(h, from, n);
}
#else
enum { PIECE = 16384 };

void ft_hashing_copy(struct ft_hashing *h, void *to, const void *data, size_t n)
{
    const char *from = data;
    char *d = to;

    for (size_t piece; n > 0; d += piece, from += piece, n -= piece) {
        piece = n < PIECE ? n : PIECE;
        memcpy(d, from, piece);
        ft_hashing_add(h, from, piece);
    }
}
#endif
