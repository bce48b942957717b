/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined datatypes, by exported name. `kind` is what a reduction sees; sizes follow from it but for
   pairs, whose extent has padding in it. */
#include "mpi_shim/layout.h"

#include <wchar.h>

/* Open MPI 4.1's header does not name these, but its library exports them. */
FTMPI_API extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub, ompi_mpi_c_complex, ompi_mpi_ldblcplex,
    ompi_mpi_integer16, ompi_mpi_real2, ompi_mpi_unavailable;

_Static_assert(sizeof(wchar_t) == sizeof(int32_t), "FT_WCHAR");
_Static_assert(sizeof(long) == sizeof(int64_t), "MPI_LONG is FT_I64");

/* X(object, MPI name, kind, C type of an element) */
#define PLAIN(X)                                                                        \
    X(char, "MPI_CHAR", FT_CHAR, char)                                                  \
    X(signed_char, "MPI_SIGNED_CHAR", FT_I8, int8_t)                                    \
    X(unsigned_char, "MPI_UNSIGNED_CHAR", FT_U8, uint8_t)                               \
    X(byte, "MPI_BYTE", FT_BYTE, uint8_t)                                               \
    X(short, "MPI_SHORT", FT_I16, short)                                                \
    X(unsigned_short, "MPI_UNSIGNED_SHORT", FT_U16, unsigned short)                     \
    X(int, "MPI_INT", FT_I32, int)                                                      \
    X(unsigned, "MPI_UNSIGNED", FT_U32, unsigned)                                       \
    X(long, "MPI_LONG", FT_I64, long)                                                   \
    X(unsigned_long, "MPI_UNSIGNED_LONG", FT_U64, unsigned long)                        \
    X(long_long_int, "MPI_LONG_LONG_INT", FT_I64, long long)                                \
    X(unsigned_long_long, "MPI_UNSIGNED_LONG_LONG", FT_U64, unsigned long long)         \
    X(float, "MPI_FLOAT", FT_F32, float)                                                \
    X(double, "MPI_DOUBLE", FT_F64, double)                                             \
    X(long_double, "MPI_LONG_DOUBLE", FT_FLD, long double)                              \
    X(wchar, "MPI_WCHAR", FT_WCHAR, wchar_t)                                            \
    X(packed, "MPI_PACKED", FT_OPAQUE, uint8_t)                                         \
    X(int8_t, "MPI_INT8_T", FT_I8, int8_t)                                              \
    X(uint8_t, "MPI_UINT8_T", FT_U8, uint8_t)                                           \
    X(int16_t, "MPI_INT16_T", FT_I16, int16_t)                                          \
    X(uint16_t, "MPI_UINT16_T", FT_U16, uint16_t)                                       \
    X(int32_t, "MPI_INT32_T", FT_I32, int32_t)                                          \
    X(uint32_t, "MPI_UINT32_T", FT_U32, uint32_t)                                       \
    X(int64_t, "MPI_INT64_T", FT_I64, int64_t)                                          \
    X(uint64_t, "MPI_UINT64_T", FT_U64, uint64_t)                                       \
    X(aint, "MPI_AINT", FT_I64, MPI_Aint)                                               \
    X(offset, "MPI_OFFSET", FT_I64, MPI_Offset)                                         \
    X(count, "MPI_COUNT", FT_I64, MPI_Count)                                            \
    X(c_bool, "MPI_C_BOOL", FT_BOOL, _Bool)                                             \
    X(c_complex, "MPI_C_COMPLEX", FT_C64, struct ft_c64)                                \
    X(c_float_complex, "MPI_C_COMPLEX", FT_C64, struct ft_c64)                    \
    X(c_double_complex, "MPI_C_DOUBLE_COMPLEX", FT_C128, struct ft_c128)                \
    X(c_long_double_complex, "MPI_C_LONG_DOUBLE_COMPLEX", FT_CLD, struct ft_cld)        \
    X(cxx_bool, "MPI_CXX_BOOL", FT_BOOL, _Bool)                                         \
    X(cxx_cplex, "MPI_CXX_FLOAT_COMPLEX", FT_C64, struct ft_c64)                        \
    X(cxx_dblcplex, "MPI_CXX_DOUBLE_COMPLEX", FT_C128, struct ft_c128)                  \
    X(cxx_ldblcplex, "MPI_CXX_LONG_DOUBLE_COMPLEX", FT_CLD, struct ft_cld)              \
    X(character, "MPI_CHARACTER", FT_CHAR, char)                                        \
    X(logical, "MPI_LOGICAL", FT_LOG32, int32_t)                                        \
    X(logical1, "MPI_LOGICAL1", FT_I8, int8_t)                                          \
    X(logical2, "MPI_LOGICAL2", FT_I16, int16_t)                                        \
    X(logical4, "MPI_LOGICAL4", FT_LOG32, int32_t)                                      \
    X(logical8, "MPI_LOGICAL8", FT_I64, int64_t)                                        \
    X(integer, "MPI_INTEGER", FT_I32, int32_t)                                          \
    X(integer1, "MPI_INTEGER1", FT_I8, int8_t)                                          \
    X(integer2, "MPI_INTEGER2", FT_I16, int16_t)                                        \
    X(integer4, "MPI_INTEGER4", FT_I32, int32_t)                                        \
    X(integer8, "MPI_INTEGER8", FT_I64, int64_t)                                        \
    X(real, "MPI_REAL", FT_F32, float)                                                  \
    X(real4, "MPI_REAL4", FT_F32, float)                                                \
    X(real8, "MPI_REAL8", FT_F64, double)                                               \
    X(real16, "MPI_REAL16", FT_F128, ft_quad)                                           \
    X(dblprec, "MPI_DOUBLE_PRECISION", FT_F64, double)                                  \
    X(cplex, "MPI_COMPLEX", FT_C64, struct ft_c64)                                      \
    X(complex8, "MPI_COMPLEX8", FT_C64, struct ft_c64)                                  \
    X(complex16, "MPI_COMPLEX16", FT_C128, struct ft_c128)                              \
    X(complex32, "MPI_COMPLEX32", FT_C256, struct ft_c256)                              \
    X(dblcplex, "MPI_DOUBLE_COMPLEX", FT_C128, struct ft_c128)                          \
    X(ldblcplex, "MPI_LONG_DOUBLE_COMPLEX", FT_CLD, struct ft_cld)

/* X(object, MPI name, kind, C type, object of its first member, bytes of data in both) */
#define PAIRS(X)                                                                        \
    X(float_int, "MPI_FLOAT_INT", FT_F32_INT, struct ft_f32_int, float, 8)              \
    X(double_int, "MPI_DOUBLE_INT", FT_F64_INT, struct ft_f64_int, double, 12)          \
    X(long_int, "MPI_LONG_INT", FT_I64_INT, struct ft_i64_int, long, 12)                \
    X(short_int, "MPI_SHORT_INT", FT_I16_INT, struct ft_i16_int, short, 6)              \
    X(longdbl_int, "MPI_LONG_DOUBLE_INT", FT_FLD_INT, struct ft_fld_int, long_double, 20)

/* Calls that only move data take one byte for another, as Open MPI does: a broadcast of MPI_CHAR is
   received as MPI_BYTE. */
#define BASE(kind, type) (sizeof(type) == 1 ? FT_BYTE : kind)

#define X(id, text, its_kind, type)                                                                 \
    struct ompi_predefined_datatype_t ompi_mpi_##id = {.object = {                                  \
        .magic = SHIM_TYPE, .predefined = true, .committed = true, .name = text,                    \
        .kind = its_kind, .base = BASE(its_kind, type), .base_elem = sizeof(type), .per = 1,        \
        .size = sizeof(type), .extent = sizeof(type), .true_ub = sizeof(type), .contiguous = true,  \
        .align = _Alignof(type), .elements = 1}};
PLAIN(X)
#undef X

/* To what moves data a pair is a struct of two. */
#define X(id, text, its_kind, type, first, bytes)                                                   \
    static struct shim_part id##_parts[] = {                                                        \
        {.of = &ompi_mpi_##first.object, .blocks = 1, .n = 1},                                      \
        {.of = &ompi_mpi_int.object, .at = offsetof(type, index), .blocks = 1, .n = 1}};            \
    struct ompi_predefined_datatype_t ompi_mpi_##id = {.object = {                                  \
        .magic = SHIM_TYPE, .predefined = true, .committed = true, .name = text,                    \
        .kind = its_kind, .base = FT_BYTE, .base_elem = 1, .per = bytes, .size = bytes,             \
        .extent = sizeof(type), .true_ub = offsetof(type, index) + sizeof(int),                     \
        .contiguous = sizeof(type) == bytes,                                                        \
        .align = _Alignof(type), .elements = 1, .n_parts = 2, .parts = id##_parts}};
PAIRS(X)
#undef X

int shim_types_open(void)
{
    int err = MPI_SUCCESS;

#define X(id, text, its_kind, type, first, bytes) err = err ? err : shim_layout_commit(&ompi_mpi_##id.object);
    PAIRS(X)
#undef X
    return err;
}

/* Two of a kind. Those that reductions take are one element, as Open MPI has it. To a reduction two complex numbers are opaque. */
#define TWO(id, text, its_kind, its_base, type)                                                     \
    struct ompi_predefined_datatype_t ompi_mpi_##id = {.object = {                                  \
        .magic = SHIM_TYPE, .predefined = true, .committed = true, .name = text,                    \
        .kind = its_kind, .base = its_base, .base_elem = sizeof(type), .per = 2,                   \
        .size = 2 * sizeof(type), .extent = 2 * sizeof(type), .true_ub = 2 * sizeof(type),          \
        .contiguous = true, .align = _Alignof(type), .elements = its_kind == FT_OPAQUE ? 2 : 1}};
TWO(2int, "MPI_2INT", FT_INT_INT, FT_I32, int)
TWO(2integer, "MPI_2INTEGER", FT_INT_INT, FT_I32, int)
TWO(2real, "MPI_2REAL", FT_F32_F32, FT_F32, float)
TWO(2dblprec, "MPI_2DOUBLE_PRECISION", FT_F64_F64, FT_F64, double)
TWO(2cplex, "MPI_2COMPLEX", FT_OPAQUE, FT_C64, struct ft_c64)
TWO(2dblcplex, "MPI_2DOUBLE_COMPLEX", FT_OPAQUE, FT_C128, struct ft_c128)

/* Parts of a type that say where it begins and ends: MPI-1's, still in Fortran and in libraries. Not to be sent. */
#define MARKER(id, text, says)                                                                      \
    struct ompi_predefined_datatype_t ompi_mpi_##id = {.object = {                                  \
        .magic = SHIM_TYPE, .predefined = true, .name = text, .base = FT_BYTE, .base_elem = 1,      \
        .contiguous = true, .align = 1, .says = true}};
MARKER(lb, "MPI_LB", lb_said)
MARKER(ub, "MPI_UB", ub_said)

/* The null handle, and what this platform or this MPI does not have: never valid in a call. */
#define NONE(id, text) struct ompi_predefined_datatype_t ompi_mpi_##id = {.object = {.predefined = true, .name = text}};
NONE(datatype_null, "MPI_DATATYPE_NULL")
NONE(integer16, "MPI_INTEGER16")
NONE(real2, "MPI_REAL2")
NONE(unavailable, "unavailable")
