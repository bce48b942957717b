/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of any type between the program's memory and a buffer where they lie side by side. */
#ifndef FTMPI_PACK_H
#define FTMPI_PACK_H

#include "mpi_shim/layout.h"

#pragma GCC visibility push(hidden)

/* The first `bytes` packed ones of elements at `memory` to `packed`, and the other way round; the last element may be cut. */
static inline void shim_pack(MPI_Datatype type, const void *memory, uint64_t bytes, void *packed)
{
    ft_layout_pack(type->layout, memory, 0, bytes, packed);
}

static inline void shim_unpack(MPI_Datatype type, void *memory, uint64_t bytes, const void *packed)
{
    ft_layout_unpack(type->layout, memory, 0, bytes, packed);
}

/* count elements in the representation "external32" (MPI 3.1 section 13.5.2). Unpacking is of whole elements. */
uint64_t shim_external_size(MPI_Datatype type);
void shim_external_pack(MPI_Datatype type, uint64_t count, const void *memory, void *packed);
void shim_external_unpack(MPI_Datatype type, uint64_t count, void *memory, const void *packed);

#pragma GCC visibility pop

#endif
