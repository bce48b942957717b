/* SPDX-License-Identifier: BSD-3-Clause */
/* See pack.h. The work is done in copy_blocks: a part of contiguous elements, or many elements that are each one block. */
#include "mpi_shim/pack.h"

#include <string.h>

/* Blocks of a size that the compiler knows become plain loads and stores. */
#define BLOCKS(width)                                       \
    for (uint64_t i = 0; i < blocks; i++) {                 \
        if (unpack)                                         \
            memcpy(memory, packed, width);                  \
        else                                                \
            memcpy(packed, memory, width);                  \
        memory += stride;                                   \
        packed += width;                                    \
    }

static inline __attribute__((always_inline)) char *copy_blocks(char *memory, int64_t stride, uint64_t blocks, uint64_t width, char *packed,
                                                               bool unpack)
{
    switch (width) {
    case 1: BLOCKS(1) break;
    case 2: BLOCKS(2) break;
    case 4: BLOCKS(4) break;
    case 8: BLOCKS(8) break;
    case 12: BLOCKS(12) break;
    case 16: BLOCKS(16) break;
    case 24: BLOCKS(24) break;
    case 32: BLOCKS(32) break;
    default: BLOCKS(width) break;
    }
    return packed;
}

/* count elements; returns where the packed bytes go on. */
static inline __attribute__((always_inline)) char *copy_many(MPI_Datatype type, uint64_t count, char *memory, char *packed, bool unpack);
static char *pack_many(MPI_Datatype type, uint64_t count, char *memory, char *packed);
static char *unpack_many(MPI_Datatype type, uint64_t count, char *memory, char *packed);

static inline __attribute__((always_inline)) char *copy_part(const struct shim_part *p, char *memory, char *packed, bool unpack)
{
    memory += p->at;
    if (p->of->contiguous)
        return copy_blocks(memory, p->stride, p->blocks, p->n * shim_packed(p->of), packed, unpack);
    for (uint64_t i = 0; i < p->blocks; i++)
        packed = (unpack ? unpack_many : pack_many)(p->of, p->n, memory + (int64_t)i * p->stride, packed);
    return packed;
}

static inline __attribute__((always_inline)) char *copy_many(MPI_Datatype type, uint64_t count, char *memory, char *packed, bool unpack)
{
    const struct shim_part *p = type->parts;

    if (type->contiguous)
        return copy_blocks(memory, 0, 1, count * shim_packed(type), packed, unpack);
    if (type->n_parts == 1 && p->blocks == 1 && p->of->contiguous)
        return copy_blocks(memory + p->at, type->extent, count, p->n * shim_packed(p->of), packed, unpack);
    for (uint64_t i = 0; i < count; i++, memory += type->extent)
        for (uint64_t k = 0; k < type->n_parts; k++)
            packed = copy_part(&p[k], memory, packed, unpack);
    return packed;
}

static char *pack_many(MPI_Datatype type, uint64_t count, char *memory, char *packed)
{
    return copy_many(type, count, memory, packed, false);
}

static char *unpack_many(MPI_Datatype type, uint64_t count, char *memory, char *packed)
{
    return copy_many(type, count, memory, packed, true);
}

void shim_pack(MPI_Datatype type, uint64_t count, const void *memory, void *packed)
{
    if (count * shim_packed(type) > 0)
        pack_many(type, count, (char *)(uintptr_t)memory, packed);
}

/* The first `bytes` of one element, fewer than all. */
static void unpack_some(MPI_Datatype type, char *memory, char *packed, uint64_t bytes)
{
    if (type->contiguous) {
        memcpy(memory, packed, bytes);
        return;
    }
    for (uint64_t k = 0; k < type->n_parts; k++) {
        const struct shim_part *p = &type->parts[k];
        uint64_t one = shim_packed(p->of);

        for (uint64_t i = 0; i < p->blocks * p->n && one > 0; i++) {
            char *to = memory + p->at + (int64_t)(i / p->n) * p->stride + (int64_t)(i % p->n) * p->of->extent;

            if (bytes < one) {
                if (bytes > 0)
                    unpack_some(p->of, to, packed, bytes);
                return;
            }
            packed = unpack_many(p->of, 1, to, packed);
            bytes -= one;
        }
    }
}

void shim_unpack(MPI_Datatype type, void *memory, const void *packed, uint64_t bytes)
{
    uint64_t one = shim_packed(type), whole = one ? bytes / one : 0;
    char *from = (char *)(uintptr_t)packed;

    if (whole > 0)
        from = unpack_many(type, whole, memory, from);
    if (one && bytes % one)
        unpack_some(type, (char *)memory + (int64_t)whole * type->extent, from, bytes % one);
}
