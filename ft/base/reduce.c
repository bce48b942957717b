/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/reduce.h"

#include "ft/base/isa.h"
#include "ft/base/reduce_kernels.h"
#include "ft/base/util.h"

static ft_fold *const (*const tables[FT_NISAS])[FT_NREDUCTIONS] = {
    ft_reduce_baseline,
#ifdef FT_ISA_X86
    ft_reduce_avx2, ft_reduce_avx512
#endif
};

FT_HOT ft_fold *ft_reduce_find(enum ft_kind kind, enum ft_reduction op)
{
    if ((unsigned)kind >= FT_NKINDS || (unsigned)op >= FT_NREDUCTIONS)
        return NULL;
    return tables[ft_isa()][kind][op];
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
