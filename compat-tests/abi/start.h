/* SPDX-License-Identifier: BSD-3-Clause */
/* How those programs of this folder start and end that print the same with any MPI, whoever is killed: each line begins with the rank.
   All have these options:

     -n  how many of what it does most
     -p  keeps DIR/rank.N up to date, see compat-tests/chaos/progress.h
     -o  also what is ftmpi's own */
#ifndef FTMPI_TEST_START_H
#define FTMPI_TEST_START_H

#include <stdbool.h>

#include "compat-tests/abi/world.h"

extern int me, ranks;
extern bool own;

#define SAY(...) do { printf("%d ", me); printf(__VA_ARGS__); putchar('\n'); } while (0)

/* Errors of the two predefined communicators are returned. Another option ends the program; *many stays without -n, and null has none. */
void start(int argc, char **argv, int *many);
void end(void);
/* One more operation is over, for whoever kills ranks. */
void step(void);

int class_of(int code);
#define CASE(call) SAY("%s -> %d", #call, class_of(call))
#define RAISES(class, call) CHECK(class_of(call) == (class), "wrong class")

#endif
