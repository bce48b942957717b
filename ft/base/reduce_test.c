/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the reductions to reduce.h: every pair gives what MPI says, in place too, wraps where integers
   wrap, touches nothing beyond its end, and every instruction set gives the same bits. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/reduce_kernels.h"

enum { N = 1027, SPARE = 64 };

struct variant {
    const char *name;
    ft_fold *const (*table)[FT_NREDUCTIONS];
};

static int variants(struct variant v[3])
{
    int n = 0;

    v[n++] = (struct variant){"baseline", ft_reduce_baseline};
#ifdef FT_ISA_X86
    if (ft_isa() >= FT_ISA_AVX2)
        v[n++] = (struct variant){"avx2", ft_reduce_avx2};
    if (ft_isa() >= FT_ISA_AVX512)
        v[n++] = (struct variant){"avx512", ft_reduce_avx512};
#endif
    return n;
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Floating numbers get ordinary values and now and then zeros, infinities and NaN; everything else random bytes. */
static double number(uint64_t *seed)
{
    uint64_t r = next(seed);

    switch (r % 64) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return INFINITY;
    case 3: return NAN;
    default: return ((double)(int64_t)next(seed)) / (1 << 20);
    }
}

static void fill(enum ft_kind kind, void *p, size_t n, uint64_t *seed)
{
    unsigned char *bytes = p;

    memset(p, 0, n * ft_kind_size(kind));
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
#define FLOATS(kind, type, parts) \
        case kind: for (int j = 0; j < parts; j++) ((type *)p)[parts * i + j] = (type)number(seed); break;
        FLOATS(FT_F32, float, 1) FLOATS(FT_F64, double, 1) FLOATS(FT_FLD, long double, 1) FLOATS(FT_F128, ft_quad, 1)
        FLOATS(FT_C64, float, 2) FLOATS(FT_C128, double, 2) FLOATS(FT_CLD, long double, 2) FLOATS(FT_C256, ft_quad, 2)
        FLOATS(FT_F32_F32, float, 2) FLOATS(FT_F64_F64, double, 2)
#undef FLOATS
        case FT_FLD_INT: /* random bytes are no x87 numbers */
            ((struct ft_fld_int *)p)[i].value = (long double)(next(seed) % 5);
            ((struct ft_fld_int *)p)[i].index = (int)next(seed);
            break;
        default:
            for (size_t j = 0; j < ft_kind_size(kind); j++)
                bytes[i * ft_kind_size(kind) + j] = (unsigned char)(next(seed) % 7 ? next(seed) >> 8 : 0);
        }
    }
}

/* The same bits, except that a NaN is a NaN (which operand's payload survives is the compiler's choice)
   and padding is nothing. */
static bool same(enum ft_kind kind, const void *a, const void *b, size_t n)
{
    switch (kind) {
#define FLOATS(kind, type, parts)                                               \
    case kind:                                                                  \
        for (size_t i = 0; i < parts * n; i++) {                                \
            type x = ((const type *)a)[i], y = ((const type *)b)[i];            \
            if (!(x == y && signbit((double)x) == signbit((double)y)) && !(x != x && y != y)) \
                return false;                                                   \
        }                                                                       \
        return true;
    FLOATS(FT_F32, float, 1) FLOATS(FT_F64, double, 1) FLOATS(FT_FLD, long double, 1) FLOATS(FT_F128, ft_quad, 1)
    FLOATS(FT_C64, float, 2) FLOATS(FT_C128, double, 2) FLOATS(FT_CLD, long double, 2) FLOATS(FT_C256, ft_quad, 2)
    FLOATS(FT_F32_F32, float, 2) FLOATS(FT_F64_F64, double, 2)
#undef FLOATS
#define FIELDS(kind, type)                                                      \
    case kind:                                                                  \
        for (size_t i = 0; i < n; i++) {                                        \
            type x = ((const type *)a)[i], y = ((const type *)b)[i];            \
            if ((x.value != y.value && x.value == x.value) || x.index != y.index) \
                return false;                                                   \
        }                                                                       \
        return true;
    FIELDS(FT_F32_INT, struct ft_f32_int) FIELDS(FT_F64_INT, struct ft_f64_int) FIELDS(FT_I64_INT, struct ft_i64_int)
    FIELDS(FT_I16_INT, struct ft_i16_int) FIELDS(FT_FLD_INT, struct ft_fld_int)
#undef FIELDS
    default: return memcmp(a, b, n * ft_kind_size(kind)) == 0;
    }
}

static void *buffer(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + SPARE + 63) & ~(size_t)63);

    cr_assert(p);
    return p;
}

/* In-place on either side, the widest and the narrowest set: one result. Nothing past the end is touched. */
Test(reduce, variants_and_in_place_agree)
{
    struct variant v[3];
    int nv = variants(v);
    static const size_t counts[] = {0, 1, 3, 16, 63, N};
    uint64_t seed = 42;

    for (int kind = 0; kind < FT_NKINDS; kind++) {
        size_t size = ft_kind_size(kind), bytes = N * size;
        char *a = buffer(bytes), *b = buffer(bytes), *want = buffer(bytes), *got = buffer(bytes);
        fill(kind, a, N, &seed);
        fill(kind, b, N, &seed);
        for (int op = 0; op < FT_NREDUCTIONS; op++) {
            if (!v[0].table[kind][op])
                continue;
            for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
                size_t n = counts[c];
                v[0].table[kind][op](a, b, want, n);
                for (int i = 0; i < nv; i++) {
                    ft_fold *fold = v[i].table[kind][op];
                    cr_assert(fold);
                    memset(got, 0x5a, bytes + SPARE);
                    fold(a, b, got, n);
                    cr_assert(same(kind, want, got, n), "%s %s %s", v[i].name, ft_kind_text(kind), ft_reduction_text(op));
                    for (size_t j = n * size; j < bytes + SPARE; j++)
                        cr_assert_eq(got[j], 0x5a);
                    memcpy(got, a, n * size);
                    fold(got, b, got, n);
                    cr_assert(same(kind, want, got, n), "%s %s %s out is a", v[i].name, ft_kind_text(kind), ft_reduction_text(op));
                    memcpy(got, b, n * size);
                    fold(a, got, got, n);
                    cr_assert(same(kind, want, got, n), "%s %s %s out is b", v[i].name, ft_kind_text(kind), ft_reduction_text(op));
                }
            }
        }
        free(a), free(b), free(want), free(got);
    }
}

/* Which pairs there are, word for word as Open MPI 4.1 has them (or more). */
Test(reduce, the_table_is_what_mpi_defines)
{
    static const char rows[FT_NKINDS][16] = {
        [FT_I8] = "i", [FT_U8] = "i", [FT_I16] = "i", [FT_U16] = "i", [FT_I32] = "i", [FT_U32] = "i",
        [FT_I64] = "i", [FT_U64] = "i", [FT_CHAR] = "i", [FT_BYTE] = "i", [FT_F32] = "f", [FT_F64] = "f",
        [FT_FLD] = "f", [FT_F128] = "f", [FT_C64] = "c", [FT_C128] = "c", [FT_CLD] = "c", [FT_C256] = "c",
        [FT_BOOL] = "l", [FT_LOG32] = "l", [FT_F32_INT] = "p", [FT_F64_INT] = "p", [FT_I64_INT] = "p",
        [FT_I16_INT] = "p", [FT_INT_INT] = "p", [FT_FLD_INT] = "p", [FT_F32_F32] = "p", [FT_F64_F64] = "p",
        [FT_WCHAR] = "-", [FT_OPAQUE] = "-"};
    static const char *const classes[FT_NREDUCTIONS] = {
        [FT_NONE] = "", [FT_MAX] = "if", [FT_MIN] = "if", [FT_SUM] = "ifc", [FT_PROD] = "ifc", [FT_LAND] = "il",
        [FT_BAND] = "i", [FT_LOR] = "il", [FT_BOR] = "i", [FT_LXOR] = "il", [FT_BXOR] = "i", [FT_MAXLOC] = "p",
        [FT_MINLOC] = "p", [FT_REPLACE] = "ifclp-", [FT_NO_OP] = "ifclp-", [FT_USER] = ""};

    for (int kind = 0; kind < FT_NKINDS; kind++)
        for (int op = 0; op < FT_NREDUCTIONS; op++)
            cr_expect_eq(ft_reduce_find(kind, op) != NULL, strchr(classes[op], rows[kind][0]) != NULL, "%s of %s",
                         ft_reduction_text(op), ft_kind_text(kind));
    cr_expect_null(ft_reduce_find(FT_NKINDS, FT_SUM));
    cr_expect_null(ft_reduce_find(FT_I8, FT_NREDUCTIONS));
}

#define ONE(kind, op, type, x, y, want)                                                 \
    do {                                                                                \
        type a_[N], b_[N], o_[N];                                                       \
        for (int i_ = 0; i_ < N; i_++) a_[i_] = x, b_[i_] = y;                          \
        ft_reduce_find(kind, op)(a_, b_, o_, N);                                        \
        for (int i_ = 0; i_ < N; i_++) cr_assert_eq(o_[i_], want, #kind " " #op);       \
    } while (0)

Test(reduce, values)
{
    ONE(FT_I8, FT_SUM, int8_t, 100, 100, (int8_t)200);     /* Open MPI 4.1.4's vector code saturates */
    ONE(FT_U8, FT_SUM, uint8_t, 200, 100, 44);
    ONE(FT_U8, FT_PROD, uint8_t, 200, 3, (uint8_t)600);
    ONE(FT_CHAR, FT_SUM, char, 100, 100, (char)200);
    ONE(FT_U16, FT_PROD, uint16_t, 65535, 65535, 1);
    ONE(FT_I32, FT_SUM, int32_t, INT32_MAX, 1, INT32_MIN);
    ONE(FT_I64, FT_PROD, int64_t, INT64_MAX, 2, -2);
    ONE(FT_I16, FT_MAX, int16_t, -3, -4, -3);
    ONE(FT_U32, FT_MIN, uint32_t, UINT32_MAX, 1, 1);
    ONE(FT_I32, FT_LAND, int32_t, 4, 2, 1);
    ONE(FT_I32, FT_BAND, int32_t, 6, 3, 2);
    ONE(FT_U64, FT_LXOR, uint64_t, 4, 2, 0);
    ONE(FT_U64, FT_BXOR, uint64_t, 6, 3, 5);
    ONE(FT_LOG32, FT_LOR, int32_t, 0, -1, 1);
    ONE(FT_F32, FT_SUM, float, 0.1f, 0.2f, 0.1f + 0.2f);
    ONE(FT_F64, FT_PROD, double, 0.1, 0.2, 0.1 * 0.2);
    ONE(FT_FLD, FT_MAX, long double, 1.0L, 2.0L, 2.0L);
    ONE(FT_F128, FT_SUM, ft_quad, 1.5, 2.25, 3.75);
    ONE(FT_I32, FT_REPLACE, int32_t, 1, 2, 1);
    ONE(FT_I32, FT_NO_OP, int32_t, 1, 2, 2);
}

Test(reduce, complex_product)
{
    struct ft_c128 a = {1, 2}, b = {3, -4}, out;

    ft_reduce_find(FT_C128, FT_PROD)(&a, &b, &out, 1);
    cr_assert(out.re == 11 && out.im == 2);
}

Test(reduce, ties_take_the_smaller_index)
{
    struct ft_f64_int a = {1.5, 7}, b = {1.5, 3}, c = {2.5, 9}, out;

    ft_reduce_find(FT_F64_INT, FT_MAXLOC)(&a, &b, &out, 1);
    cr_assert_eq(out.index, 3);
    ft_reduce_find(FT_F64_INT, FT_MINLOC)(&b, &a, &out, 1);
    cr_assert_eq(out.index, 3);
    ft_reduce_find(FT_F64_INT, FT_MAXLOC)(&a, &c, &out, 1);
    cr_assert(out.index == 9 && out.value == 2.5);
}
