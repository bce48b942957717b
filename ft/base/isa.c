/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/isa.h"

#include <stdatomic.h>

#include "ft/base/util.h"

/* One more than it is; 0: not known yet. Relaxed will do: two threads that look at once find the same. */
static _Atomic int known;

static enum ft_isa find(void)
{
    enum ft_isa isa = FT_ISA_BASELINE;

#ifdef FT_ISA_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        isa = FT_ISA_AVX512;
    else if (__builtin_cpu_supports("avx2"))
        isa = FT_ISA_AVX2;
#endif
    atomic_store_explicit(&known, (int)isa + 1, memory_order_relaxed);
    return isa;
}

FT_HOT enum ft_isa ft_isa(void)
{
    int isa = atomic_load_explicit(&known, memory_order_relaxed);

    return isa ? (enum ft_isa)(isa - 1) : find();
}

const char *ft_isa_text(enum ft_isa isa)
{
    static const char *const texts[FT_NISAS] = {"baseline", "avx2", "avx512"};

    return (unsigned)isa < FT_NISAS ? texts[isa] : "unknown";
}
