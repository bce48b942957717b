/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of predefined element kinds (MPI 4.1 section 6.9.2-6.9.4), vectorised, the widest
   instruction set chosen at run time. No state, no allocation, no error but "there is none". */
#ifndef FT_BASE_REDUCE_H
#define FT_BASE_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* What an element is to a reduction, whatever MPI calls it (MPI_INT, MPI_INTEGER, MPI_INT32_T are one
   kind). X(name, C type, text). The order is part of the log's format. Kinds are what signatures compare. */
#define FT_KINDS(X)                                     \
    X(FT_I8, int8_t, "int8")                            \
    X(FT_U8, uint8_t, "uint8")                          \
    X(FT_I16, int16_t, "int16")                         \
    X(FT_U16, uint16_t, "uint16")                       \
    X(FT_I32, int32_t, "int32")                         \
    X(FT_U32, uint32_t, "uint32")                       \
    X(FT_I64, int64_t, "int64")                         \
    X(FT_U64, uint64_t, "uint64")                       \
    X(FT_F32, float, "float")                           \
    X(FT_F64, double, "double")                         \
    X(FT_FLD, long double, "long double")               \
    X(FT_C64, struct ft_c64, "float complex")           \
    X(FT_C128, struct ft_c128, "double complex")        \
    X(FT_CLD, struct ft_cld, "long double complex")     \
    X(FT_BOOL, uint8_t, "bool")                         \
    X(FT_LOG32, int32_t, "logical")                     \
    X(FT_BYTE, uint8_t, "byte")                         \
    X(FT_CHAR, char, "char")                            \
    X(FT_WCHAR, int32_t, "wchar")                       \
    X(FT_F32_INT, struct ft_f32_int, "float+int")       \
    X(FT_F64_INT, struct ft_f64_int, "double+int")      \
    X(FT_I64_INT, struct ft_i64_int, "long+int")        \
    X(FT_I16_INT, struct ft_i16_int, "short+int")       \
    X(FT_INT_INT, struct ft_int_int, "int+int")         \
    X(FT_FLD_INT, struct ft_fld_int, "long double+int") \
    X(FT_F32_F32, struct ft_f32_f32, "2 x float")       \
    X(FT_F64_F64, struct ft_f64_f64, "2 x double")      \
    X(FT_F128, ft_quad, "quad")                         \
    X(FT_C256, struct ft_c256, "quad complex")          \
    X(FT_OPAQUE, uint8_t, "bytes")

/* Fortran's REAL*16 as gfortran has it. */
#if defined(__x86_64__) || defined(__i386__)
typedef __float128 ft_quad;
#else
typedef long double ft_quad;
#endif

struct ft_c64 { float re, im; };
struct ft_c128 { double re, im; };
struct ft_cld { long double re, im; };
struct ft_c256 { ft_quad re, im; };
struct ft_f32_int { float value; int index; };
struct ft_f64_int { double value; int index; };
struct ft_i64_int { long value; int index; };
struct ft_i16_int { short value; int index; };
struct ft_int_int { int value; int index; };
struct ft_fld_int { long double value; int index; };
struct ft_f32_f32 { float value, index; };
struct ft_f64_f64 { double value, index; };

enum ft_kind {
#define X(name, type, text) name,
    FT_KINDS(X)
#undef X
    FT_NKINDS
};

/* X(name, text). FT_USER is a function of the program; FT_NONE stands where nothing is reduced. */
#define FT_REDUCTIONS(X)                                                                          \
    X(FT_NONE, "none") X(FT_MAX, "max") X(FT_MIN, "min") X(FT_SUM, "sum") X(FT_PROD, "prod")      \
    X(FT_LAND, "land") X(FT_BAND, "band") X(FT_LOR, "lor") X(FT_BOR, "bor") X(FT_LXOR, "lxor")    \
    X(FT_BXOR, "bxor") X(FT_MAXLOC, "maxloc") X(FT_MINLOC, "minloc") X(FT_REPLACE, "replace")     \
    X(FT_NO_OP, "no_op") X(FT_USER, "user function")

enum ft_reduction {
#define X(name, text) name,
    FT_REDUCTIONS(X)
#undef X
    FT_NREDUCTIONS
};

/* out[i] = a[i] op b[i] for n elements. out may be a or b (exactly), else it must not overlap them.
   Integer sums and products wrap. Ties of MAXLOC/MINLOC take the smaller index. */
typedef void ft_fold(const void *a, const void *b, void *out, size_t n);

/* The fold for a pair, or NULL where there is none (MAX of complex, BAND of double, anything but REPLACE and
   NO_OP of FT_OPAQUE and FT_WCHAR, ...). As lenient as Open MPI 4.1: FT_CHAR and FT_BYTE are integers. The first
   call looks at the processor; any thread may call it. */
ft_fold *ft_reduce_find(enum ft_kind kind, enum ft_reduction op);

size_t ft_kind_size(enum ft_kind kind);            /* bytes from one element to the next */
const char *ft_kind_text(enum ft_kind kind);
const char *ft_reduction_text(enum ft_reduction op);

#endif
