/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/reduce.h"

#include <stdatomic.h>

#include "ft/base/reduce_kernels.h"

struct isa {
    const char *name;
    ft_fold *const (*table)[FT_NREDUCTIONS];
};

static const struct isa baseline = {"baseline", ft_reduce_baseline};
#ifdef FT_REDUCE_X86
static const struct isa avx2 = {"avx2", ft_reduce_avx2};
static const struct isa avx512 = {"avx512", ft_reduce_avx512};
#endif

/* Relaxed will do: what it points to is constant, and two threads that look at once find the same. */
static const struct isa *_Atomic chosen;

static const struct isa *choose(void)
{
    const struct isa *isa = &baseline;

#ifdef FT_REDUCE_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        isa = &avx512;
    else if (__builtin_cpu_supports("avx2"))
        isa = &avx2;
#endif
    atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    return isa;
}

static inline const struct isa *get(void)
{
    const struct isa *isa = atomic_load_explicit(&chosen, memory_order_relaxed);

    return isa ? isa : choose();
}

ft_fold *ft_reduce_find(enum ft_kind kind, enum ft_reduction op)
{
    if ((unsigned)kind >= FT_NKINDS || (unsigned)op >= FT_NREDUCTIONS)
        return NULL;
    return get()->table[kind][op];
}

size_t ft_kind_size(enum ft_kind kind)
{
    static const size_t size[] = {
#define X(name, type, text) sizeof(type),
        FT_KINDS(X)
#undef X
    };

    return (unsigned)kind < FT_NKINDS ? size[kind] : 0;
}

const char *ft_kind_text(enum ft_kind kind)
{
    static const char *const texts[] = {
#define X(name, type, text) text,
        FT_KINDS(X)
#undef X
    };

    return (unsigned)kind < FT_NKINDS ? texts[kind] : "unknown kind";
}

const char *ft_reduction_text(enum ft_reduction op)
{
    static const char *const texts[] = {
#define X(name, text) text,
        FT_REDUCTIONS(X)
#undef X
    };

    return (unsigned)op < FT_NREDUCTIONS ? texts[op] : "unknown reduction";
}

const char *ft_reduce_isa(void)
{
    return get()->name;
}
