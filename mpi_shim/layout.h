/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the data of a derived type lie (MPI 3.1 section 4.1): parts of other types, each so many blocks of so many elements. A vector
   is one part, whatever its length. A type is never changed once it is made. It lives as long as the program has a handle of it or
   another type is made of it. */
#ifndef FTMPI_LAYOUT_H
#define FTMPI_LAYOUT_H

#include "mpi_shim/shim.h"

#pragma GCC visibility push(hidden)

/* A new type of these parts, in order; the program has no handle of it yet. Of `model`, if there are no data, come the base elements.
   Parts without data are left out, once they have said where it begins or ends. *made is it, or NULL; MPI_ERR_NO_MEM, or MPI_ERR_COUNT: it would exceed 63 bits. */
int shim_layout_make(const struct shim_part *parts, uint64_t n, MPI_Datatype model, MPI_Datatype *made);

/* The same data as in `old`, with other bounds or the same. */
int shim_layout_copy(MPI_Datatype old, MPI_Datatype *made);
int shim_layout_bound(MPI_Datatype old, int64_t lb, int64_t extent, MPI_Datatype *made);

/* What the engine has to know of it: before it is used in a call. MPI_ERR_NO_MEM. */
int shim_layout_commit(MPI_Datatype type);

/* At MPI_Init: the engine's layouts of predefined types that have gaps. */
int shim_types_open(void);

/* References of derived types; of predefined ones there are none. */
MPI_Datatype shim_type_hold(MPI_Datatype type);
void shim_type_release(MPI_Datatype type);

/* In a predefined pair: bytes of its first member; 0: it is no pair. */
uint64_t shim_pair_first(MPI_Datatype type);

/* Basic elements in a type that another is made of. */
static inline uint64_t shim_elements(MPI_Datatype type) { return shim_pair_first(type) ? 2 : type->elements; }

/* Its packed bytes. */
static inline uint64_t shim_packed(MPI_Datatype type) { return type->per * type->base_elem; }

/* A type that the program may look at and build from: committed or not. */
static inline bool shim_type_known(MPI_Datatype type) { return type && type->magic == SHIM_TYPE; }

/* What made it goes with it (type_contents.c). */
void shim_made_drop(struct shim_made *made);

#pragma GCC visibility pop

#endif
