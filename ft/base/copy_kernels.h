/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of copy.c over whole cache lines, compiled once per instruction set from copy_kernels.c. What goes past the cache does so 1.3 times as fast in
   stores of 32 bytes as of 16 (docs/internals/sizes.md, "How wide"). */
#ifndef FT_BASE_COPY_KERNELS_H
#define FT_BASE_COPY_KERNELS_H

#include <stddef.h>

#include "ft/base/isa.h"

/* n: a multiple of 64 bytes. What goes past the cache is unordered, and goes to whole lines of the destination, `past`. */
struct ft_copy_kernels {
    void (*past_cache)(char *past, const char *from, size_t n);
    void (*lines)(char *to, const char *from, size_t n);
    void (*twice)(char *to, char *past, const char *from, size_t n);
};

extern const struct ft_copy_kernels ft_copy_baseline;
#ifdef FT_ISA_X86
extern const struct ft_copy_kernels ft_copy_avx2, ft_copy_avx512;
#endif

#endif
