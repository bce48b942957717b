/* SPDX-License-Identifier: BSD-3-Clause */
/* The widest instruction set that the loops of this library are built for and that this processor has. Results never depend on it. */
#ifndef FT_BASE_ISA_H
#define FT_BASE_ISA_H

#if defined(__x86_64__) || defined(__i386__)  /* the same question as configure.ac's FT_REDUCE_X86 */
#define FT_ISA_X86
#endif

enum ft_isa { FT_ISA_BASELINE, FT_ISA_AVX2, FT_ISA_AVX512 /* F, BW, DQ, VL */, FT_NISAS };

/* Found out once; after that a load. */
enum ft_isa ft_isa(void);

/* "baseline", "avx2", "avx512". */
const char *ft_isa_text(enum ft_isa isa);

#endif
