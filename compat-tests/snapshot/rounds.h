/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of this directory have in common: rounds, each of which ends with MPI calls, and one number that all that
   a program has done, read and received goes into. A rank that goes on anywhere but where it stood prints something else.

     PROGRAM [-n ROUNDS] [-w MICROSECONDS] [-p DIR] [-o DIR] [WHAT]

   -w  pause in each round
   -p  keeps DIR/rank.N up to date (compat-tests/chaos/progress.h)
   -o  where a program has its files
   Plain MPI and POSIX; without ftrun leave out -p. */
#ifndef SNAPSHOT_ROUNDS_H
#define SNAPSHOT_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct rounds {
    int rank, ranks;
    unsigned n, at;       /* rounds in all; this one, from 1 */
    unsigned pause_us;
    uint64_t sum;
    const char *dir, *what;
};

/* Options, MPI_Init; lines are written out as they end. Every argument that is wrong ends the program. */
void rounds_begin(struct rounds *r, int argc, char **argv);

/* for (rounds_begin(...); rounds_more(&r); ) { ... }: false after the last one. */
bool rounds_more(struct rounds *r);

/* Something done by this rank alone. */
void rounds_mix(struct rounds *r, uint64_t value);

/* A pseudo-random number of this rank and round: another one for every i; the same again in a replay. */
uint64_t rounds_draw(const struct rounds *r, unsigned i);

/* DIR/NAME.RANK, in a buffer that the next call overwrites. */
const char *rounds_path(const struct rounds *r, const char *name);

/* False: says which check of which program failed on which rank and ends the program. */
#define MUST(r, what) ((what) ? (void)0 : rounds_wrong((r), __FILE__, __LINE__, #what))
_Noreturn void rounds_wrong(const struct rounds *r, const char *file, int line, const char *what);

/* The last line, MPI_Finalize. What main returns. */
int rounds_end(struct rounds *r);

#endif
