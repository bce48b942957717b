/* SPDX-License-Identifier: BSD-3-Clause */
/* The folds, compiled once per instruction set from reduce_kernels.c. Every variant gives the same bits:
   they differ in how many elements a register holds, never in the order or precision of an operation. */
#ifndef FT_BASE_REDUCE_KERNELS_H
#define FT_BASE_REDUCE_KERNELS_H

#include "ft/base/isa.h"
#include "ft/base/reduce.h"

/* NULL where a kind has no such reduction. */
typedef ft_fold *const ft_reduce_table[FT_NKINDS][FT_NREDUCTIONS];

extern ft_reduce_table ft_reduce_baseline;
#ifdef FT_ISA_X86
extern ft_reduce_table ft_reduce_avx2;
extern ft_reduce_table ft_reduce_avx512;  /* F, BW, DQ, VL */
#endif

#endif
