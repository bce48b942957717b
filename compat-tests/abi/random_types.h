/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes, nested at random from a fixed seed, and a naive reference: a list of every basic element. Each rank has other data. */
#ifndef FTMPI_TEST_RANDOM_TYPES_H
#define FTMPI_TEST_RANDOM_TYPES_H

#include <stdbool.h>

#include "compat-tests/abi/world.h"

enum { MOST = 4000, ROOM = 1 << 16, MIDDLE = ROOM / 2, COPIES = 2 };

/* The reference. */
struct model {
    int n;                      /* basic elements, in order */
    int at[MOST], width[MOST];
    int lb, ub, align;
    bool bounded;
};

extern bool own;
extern int me, ranks;
extern char memory[ROOM]; /* elements begin in the middle */

/* PROGRAM [-n TYPES] [-s SEED] [-o]: so many types (400), not committed yet; who looks at one drops it. */
typedef void looker(int number, MPI_Datatype type, const struct model *m);
void each_type(int argc, char **argv, looker *look);

/* What rank r has in its memory. */
char content(int r, int at);
int extent(const struct model *m);
int size(const struct model *m);
/* Sizes and bounds are those of the reference. */
void figures(MPI_Datatype type, const struct model *m);
/* If it is not a predefined one. */
void drop(MPI_Datatype *type);

#endif
