/* SPDX-License-Identifier: BSD-3-Clause */
/* What the multi-rank test programs share: data that every rank can make for every other, and comparison
   that knows which bytes of an element are padding. */
#ifndef FTMPI_TEST_WORLD_H
#define FTMPI_TEST_WORLD_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A failed check names itself and ends the job. */
#define CHECK(condition, ...)                                                   \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);     \
            fprintf(stderr, __VA_ARGS__);                                       \
            fprintf(stderr, "\n");                                              \
            MPI_Abort(MPI_COMM_WORLD, 1);                                       \
        }                                                                       \
    } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS, "failed")

/* X(type, class, C type): i integers, o logical, r real, c complex, p pair, n no reductions. */
#define TYPES(X)                                                                                                \
    X(MPI_CHAR, i, char) X(MPI_SIGNED_CHAR, i, signed char) X(MPI_UNSIGNED_CHAR, i, unsigned char)              \
    X(MPI_BYTE, i, unsigned char) X(MPI_SHORT, i, short) X(MPI_UNSIGNED_SHORT, i, unsigned short)               \
    X(MPI_INT, i, int) X(MPI_UNSIGNED, i, unsigned) X(MPI_LONG, i, long) X(MPI_UNSIGNED_LONG, i, unsigned long) \
    X(MPI_LONG_LONG, i, long long) X(MPI_UNSIGNED_LONG_LONG, i, unsigned long long)                             \
    X(MPI_INT8_T, i, int8_t) X(MPI_UINT8_T, i, uint8_t) X(MPI_INT16_T, i, int16_t) X(MPI_UINT16_T, i, uint16_t) \
    X(MPI_INT32_T, i, int32_t) X(MPI_UINT32_T, i, uint32_t) X(MPI_INT64_T, i, int64_t)                          \
    X(MPI_UINT64_T, i, uint64_t) X(MPI_AINT, i, MPI_Aint) X(MPI_OFFSET, i, MPI_Offset) X(MPI_COUNT, i, MPI_Count) \
    X(MPI_CHARACTER, i, char) X(MPI_LOGICAL1, i, int8_t) X(MPI_LOGICAL2, i, int16_t) X(MPI_LOGICAL8, i, int64_t) \
    X(MPI_INTEGER, i, int) X(MPI_INTEGER1, i, int8_t) X(MPI_INTEGER2, i, int16_t) X(MPI_INTEGER4, i, int32_t)   \
    X(MPI_INTEGER8, i, int64_t) X(MPI_C_BOOL, o, unsigned char) X(MPI_CXX_BOOL, o, unsigned char)               \
    X(MPI_LOGICAL, o, int) X(MPI_LOGICAL4, o, int) X(MPI_FLOAT, r, float) X(MPI_DOUBLE, r, double)              \
    X(MPI_LONG_DOUBLE, r, long double) X(MPI_REAL, r, float) X(MPI_REAL4, r, float) X(MPI_REAL8, r, double)     \
    X(MPI_DOUBLE_PRECISION, r, double) X(MPI_REAL16, r, quad) X(MPI_C_COMPLEX, c, float)                        \
    X(MPI_C_DOUBLE_COMPLEX, c, double) X(MPI_C_LONG_DOUBLE_COMPLEX, c, long double) X(MPI_COMPLEX, c, float)    \
    X(MPI_DOUBLE_COMPLEX, c, double) X(MPI_COMPLEX8, c, float) X(MPI_COMPLEX16, c, double)                      \
    X(MPI_COMPLEX32, c, quad) X(MPI_CXX_FLOAT_COMPLEX, c, float) X(MPI_CXX_DOUBLE_COMPLEX, c, double)           \
    X(MPI_CXX_LONG_DOUBLE_COMPLEX, c, long double) X(MPI_FLOAT_INT, p, struct float_int)                        \
    X(MPI_DOUBLE_INT, p, struct double_int) X(MPI_LONG_INT, p, struct long_int)                                 \
    X(MPI_SHORT_INT, p, struct short_int) X(MPI_2INT, p, struct two_int) X(MPI_2INTEGER, p, struct two_int)     \
    X(MPI_LONG_DOUBLE_INT, p, struct ld_int) X(MPI_2REAL, p, struct two_float)                                  \
    X(MPI_2DOUBLE_PRECISION, p, struct two_double) X(MPI_WCHAR, n, int) X(MPI_PACKED, n, char)

#if defined(__x86_64__) || defined(__i386__)
typedef __float128 quad;
#else
typedef long double quad;
#endif
struct float_int { float v; int i; };
struct double_int { double v; int i; };
struct long_int { long v; int i; };
struct short_int { short v; int i; };
struct two_int { int v; int i; };
struct ld_int { long double v; int i; };
struct two_float { float v; float i; };
struct two_double { double v; double i; };

/* Small numbers: sums and products of a few ranks are exact in every type, so their order is free. */
static inline int small(int rank, uint64_t i)
{
    return (int)((i * 7 + (uint64_t)rank * 3 + (i >> 5)) % 5);
}

#endif
