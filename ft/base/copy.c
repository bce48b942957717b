/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "ft/base/copy_kernels.h"
#include "ft/base/util.h"

enum { SMALL = 1024, /* the order costs more than less than that wins */ LINE = 64 };

/* Of this processor. Relaxed will do: what it points to is constant, and two threads that look at once find the same. */
static const struct ft_copy_kernels *_Atomic chosen;

static const struct ft_copy_kernels *choose(void)
{
    static const struct ft_copy_kernels *const tables[FT_NISAS] = {
        &ft_copy_baseline,
#ifdef FT_ISA_X86
        &ft_copy_avx2, &ft_copy_avx512
#endif
    };
    const struct ft_copy_kernels *kernels = tables[ft_isa()];

    atomic_store_explicit(&chosen, kernels, memory_order_relaxed);
    return kernels;
}

static inline const struct ft_copy_kernels *get(void)
{
    const struct ft_copy_kernels *kernels = atomic_load_explicit(&chosen, memory_order_relaxed);

    return __builtin_expect(kernels != NULL, 1) ? kernels : choose();
}

/* Of n bytes those before the first whole line at p. */
static size_t head_of(const void *p, size_t n) { return ft_min(n, -(uintptr_t)p % LINE); }

static size_t whole_lines(size_t n) { return n / LINE * LINE; }

/* Before and behind whole lines there is nothing, most of the time. */
static inline void copy_rest(void *to, const void *from, size_t n)
{
    if (__builtin_expect(n > 0, 0))
        memcpy(to, from, n);
}

void ft_copy_past_cache_unordered(void *to, const void *from, size_t n)
{
    size_t head = head_of(to, n), lines = whole_lines(n - head), tail = head + lines;

    copy_rest(to, from, head);
    get()->past_cache((char *)to + head, (const char *)from + head, lines);
    copy_rest((char *)to + tail, (const char *)from + tail, n - tail);
}

void ft_copy_lines(void *to, const void *from, size_t n)
{
    size_t lines = n < SMALL ? 0 : whole_lines(n);

    if (lines)
        get()->lines(to, from, lines);
    copy_rest((char *)to + lines, (const char *)from + lines, n - lines);
}

void ft_copy_twice(void *to, void *log, const void *from, size_t n)
{
    size_t head = head_of(log, n), lines = whole_lines(n - head), tail = head + lines;

    copy_rest(to, from, head);
    copy_rest(log, from, head);
    get()->twice((char *)to + head, (char *)log + head, (const char *)from + head, lines);
    copy_rest((char *)to + tail, (const char *)from + tail, n - tail);
    copy_rest((char *)log + tail, (const char *)from + tail, n - tail);
}

/* weakly ordered stores, RULE 12 */
void ft_copy_order(bool past_cache)
{
#if defined(__SSE2__)
    if (past_cache)
        _mm_sfence();
#else
    (void)past_cache;
#endif
}

void ft_copy_past_cache(void *to, const void *from, size_t n)
{
    bool past = n >= SMALL;

    ft_copy_unordered(to, from, n, past);
    ft_copy_order(past);
}
