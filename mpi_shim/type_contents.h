/* SPDX-License-Identifier: BSD-3-Clause */
/* How a derived type was made: what MPI_Type_get_envelope and MPI_Type_get_contents tell (MPI 3.1 section 4.1.13). */
#ifndef FTMPI_TYPE_CONTENTS_H
#define FTMPI_TYPE_CONTENTS_H

#include "mpi_shim/layout.h"

#pragma GCC visibility push(hidden)

/* The arguments of a constructor, in the standard's order. */
enum { SHIM_MADE_PIECES = 8 };
struct shim_recipe {
    int combiner;
    struct {
        int n;
        const int *from;
    } ints[SHIM_MADE_PIECES];
    int n_addresses, n_types;
    const MPI_Aint *addresses;
    const MPI_Datatype *types;
};

/* The end of each constructor: `made` as the program's, with its recipe; or the error of the layout. */
int shim_type_give(const char *function, int err, MPI_Datatype made, const struct shim_recipe *recipe, MPI_Datatype *newtype);

#pragma GCC visibility pop

#endif
