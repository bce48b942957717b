/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a communicator, and what each collective computes on it. */
#ifndef FTMPI_TEST_MEMBERS_H
#define FTMPI_TEST_MEMBERS_H

#include "compat-tests/abi/start.h"

enum { MOST = 64 };

/* world[r]: who is rank r. */
struct side {
    int n, world[MOST];
};
struct members {
    int mine;
    struct side all;
};

/* x -> a x + b modulo 2^32: composing two is associative and not commutative. */
struct affine { uint32_t a, b; };

extern MPI_Datatype pair; /* two ints */
extern MPI_Op composed;   /* of pairs that are affine */

/* After start, and before end. */
void members_start(void);
void members_end(void);

/* Frees the group. */
struct side side_of(MPI_Group group);
struct members members_of(MPI_Comm comm);
struct affine affine_of(int rank);
struct affine all_composed(const struct side *s);

/* Of the ranks of `from`: all of comm's, or those of the other group. */
void sum_of_many(MPI_Comm comm, const struct side *from);
void gather(MPI_Comm comm, const struct side *from, int mine);
/* Everything, on a communicator of one group. */
void compute(MPI_Comm comm, const struct members *m);
/* The same, and says who is in it. */
void try(const char *what, MPI_Comm comm);

/* If it is not null. */
void release(MPI_Comm *comm);
/* If neither is null. */
void show_compared(const char *what, MPI_Comm a, MPI_Comm b);

#endif
