/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop per (kind, reduction), written so that gcc and clang vectorise it. Built several times, with
   FT_REDUCE_TABLE naming the table of each build (local.mk).

   -ffp-contract=off is part of the promise: a fused multiply-add in the wide build of a complex product
   would make the result depend on the processor a rank runs on. */
#include "ft/base/reduce_kernels.h"

#include <string.h>

/* out may be a or b itself, which hinders no vector loop: element i is read before it is written, and
   nothing else touches it. Both pragmas say so; without them the compilers add run-time overlap tests whose
   scalar branch is then taken exactly in the common in-place case. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* x87 and quad have no vectors, pairs not always */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* gcc 12's vectoriser turns a complex product into vfmaddsub wherever AVX-512 or FMA is allowed,
   -ffp-contract=off or not, and the elements left over at the end not: the bits would depend on where a
   segment ends. Without the two there is no such instruction to choose. */
#if (defined(__AVX512F__) || defined(__FMA__)) && !defined(__clang__)
#define UNFUSED __attribute__((target("no-avx512f,no-fma")))
#else
#define UNFUSED
#endif

#define FOLD(kind, name, type, expression)                                              \
    static void kind##_##name(const void *va, const void *vb, void *vout, size_t n)     \
    {                                                                                   \
        const type *a = va, *b = vb;                                                    \
        type *out = vout;                                                               \
        INDEPENDENT                                                                     \
        for (size_t i = 0; i < n; i++) {                                                \
            const type x = a[i], y = b[i];                                              \
            out[i] = expression;                                                        \
        }                                                                               \
    }

/* `wide` is an unsigned type of at least 32 bits: sums and products wrap in it without being undefined
   (two uint16_t multiply as int otherwise), and cutting back to `type` is modulo its size. */
#define INTEGER(kind, type, wide)                               \
    FOLD(kind, max, type, x > y ? x : y)                        \
    FOLD(kind, min, type, x < y ? x : y)                        \
    FOLD(kind, sum, type, (type)((wide)x + (wide)y))            \
    FOLD(kind, prod, type, (type)((wide)x * (wide)y))           \
    FOLD(kind, land, type, (type)((x != 0) & (y != 0)))         \
    FOLD(kind, lor, type, (type)((x != 0) | (y != 0)))          \
    FOLD(kind, lxor, type, (type)((x != 0) ^ (y != 0)))         \
    FOLD(kind, band, type, (type)(x & y))                       \
    FOLD(kind, bor, type, (type)(x | y))                        \
    FOLD(kind, bxor, type, (type)(x ^ y))

/* "x > y ? x : y" is the maxps instruction to the letter, signed zeros and NaN included. */
#define REAL(kind, type)                                        \
    FOLD(kind, max, type, x > y ? x : y)                        \
    FOLD(kind, min, type, x < y ? x : y)                        \
    FOLD(kind, sum, type, x + y)                                \
    FOLD(kind, prod, type, x * y)

/* The textbook product, not C's, which recovers infinities by a call per element. */
#define COMPLEX(kind, type)                                             \
    FOLD(kind, sum, type, ((type){x.re + y.re, x.im + y.im}))           \
    UNFUSED FOLD(kind, prod, type, ((type){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}))

#define LOGICAL(kind, type)                                     \
    FOLD(kind, land, type, (type)((x != 0) & (y != 0)))         \
    FOLD(kind, lor, type, (type)((x != 0) | (y != 0)))          \
    FOLD(kind, lxor, type, (type)((x != 0) ^ (y != 0)))

/* Ties take the smaller index (MPI 4.1 section 6.9.4). */
#define PAIR(kind, type)                                                                                \
    FOLD(kind, maxloc, type, (x.value > y.value || (x.value == y.value && x.index < y.index)) ? x : y)  \
    FOLD(kind, minloc, type, (x.value < y.value || (x.value == y.value && x.index < y.index)) ? x : y)

INTEGER(i8, int8_t, uint32_t)
INTEGER(u8, uint8_t, uint32_t)
INTEGER(i16, int16_t, uint32_t)
INTEGER(u16, uint16_t, uint32_t)
INTEGER(i32, int32_t, uint32_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
INTEGER(u64, uint64_t, uint64_t)
INTEGER(chr, char, uint32_t)
REAL(f32, float)
REAL(f64, double)
REAL(fld, long double)
REAL(f128, ft_quad)
COMPLEX(c64, struct ft_c64)
COMPLEX(c128, struct ft_c128)
COMPLEX(cld, struct ft_cld)
COMPLEX(c256, struct ft_c256)
LOGICAL(boolean, uint8_t)
LOGICAL(log32, int32_t)
PAIR(f32_int, struct ft_f32_int)
PAIR(f64_int, struct ft_f64_int)
PAIR(i64_int, struct ft_i64_int)
PAIR(i16_int, struct ft_i16_int)
PAIR(int_int, struct ft_int_int)
PAIR(fld_int, struct ft_fld_int)
PAIR(f32_f32, struct ft_f32_f32)
PAIR(f64_f64, struct ft_f64_f64)

/* MPI's convention is inout = in op inout: REPLACE takes what comes in, NO_OP leaves what is there. */
#define COPY(kind, type, text)                                                                     \
    static void kind##_replace(const void *a, const void *b, void *out, size_t n)                  \
    {                                                                                              \
        (void)b;                                                                                   \
        if (out != a && n > 0)                                                                     \
            memcpy(out, a, n * sizeof(type));                                                      \
    }                                                                                              \
    static void kind##_no_op(const void *a, const void *b, void *out, size_t n)                    \
    {                                                                                              \
        kind##_replace(b, a, out, n);                                                              \
    }
FT_KINDS(COPY)

#define ALWAYS(kind) [FT_REPLACE] = kind##_replace, [FT_NO_OP] = kind##_no_op
#define INTEGERS(kind)                                                                          \
    [FT_MAX] = kind##_max, [FT_MIN] = kind##_min, [FT_SUM] = kind##_sum, [FT_PROD] = kind##_prod, \
    [FT_BAND] = kind##_band, [FT_BOR] = kind##_bor, [FT_BXOR] = kind##_bxor, LOGICALS(kind)
#define LOGICALS(kind) [FT_LAND] = kind##_land, [FT_LOR] = kind##_lor, [FT_LXOR] = kind##_lxor
#define REALS(kind) [FT_MAX] = kind##_max, [FT_MIN] = kind##_min, COMPLEXES(kind)
#define COMPLEXES(kind) [FT_SUM] = kind##_sum, [FT_PROD] = kind##_prod
#define PAIRS(kind) [FT_MAXLOC] = kind##_maxloc, [FT_MINLOC] = kind##_minloc

ft_reduce_table FT_REDUCE_TABLE = {
    [FT_I8] = {INTEGERS(i8), ALWAYS(FT_I8)},
    [FT_U8] = {INTEGERS(u8), ALWAYS(FT_U8)},
    [FT_I16] = {INTEGERS(i16), ALWAYS(FT_I16)},
    [FT_U16] = {INTEGERS(u16), ALWAYS(FT_U16)},
    [FT_I32] = {INTEGERS(i32), ALWAYS(FT_I32)},
    [FT_U32] = {INTEGERS(u32), ALWAYS(FT_U32)},
    [FT_I64] = {INTEGERS(i64), ALWAYS(FT_I64)},
    [FT_U64] = {INTEGERS(u64), ALWAYS(FT_U64)},
    [FT_F32] = {REALS(f32), ALWAYS(FT_F32)},
    [FT_F64] = {REALS(f64), ALWAYS(FT_F64)},
    [FT_FLD] = {REALS(fld), ALWAYS(FT_FLD)},
    [FT_C64] = {COMPLEXES(c64), ALWAYS(FT_C64)},
    [FT_C128] = {COMPLEXES(c128), ALWAYS(FT_C128)},
    [FT_CLD] = {COMPLEXES(cld), ALWAYS(FT_CLD)},
    [FT_BOOL] = {LOGICALS(boolean), ALWAYS(FT_BOOL)},
    [FT_LOG32] = {LOGICALS(log32), ALWAYS(FT_LOG32)},
    [FT_BYTE] = {INTEGERS(u8), ALWAYS(FT_BYTE)},
    [FT_CHAR] = {INTEGERS(chr), ALWAYS(FT_CHAR)},
    [FT_WCHAR] = {ALWAYS(FT_WCHAR)},
    [FT_F32_INT] = {PAIRS(f32_int), ALWAYS(FT_F32_INT)},
    [FT_F64_INT] = {PAIRS(f64_int), ALWAYS(FT_F64_INT)},
    [FT_I64_INT] = {PAIRS(i64_int), ALWAYS(FT_I64_INT)},
    [FT_I16_INT] = {PAIRS(i16_int), ALWAYS(FT_I16_INT)},
    [FT_INT_INT] = {PAIRS(int_int), ALWAYS(FT_INT_INT)},
    [FT_FLD_INT] = {PAIRS(fld_int), ALWAYS(FT_FLD_INT)},
    [FT_F32_F32] = {PAIRS(f32_f32), ALWAYS(FT_F32_F32)},
    [FT_F64_F64] = {PAIRS(f64_f64), ALWAYS(FT_F64_F64)},
    [FT_F128] = {REALS(f128), ALWAYS(FT_F128)},
    [FT_C256] = {COMPLEXES(c256), ALWAYS(FT_C256)},
    [FT_OPAQUE] = {ALWAYS(FT_OPAQUE)},
};
