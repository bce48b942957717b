/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends to the next one of a ring, which is itself if it is alone; bytes that say who sent them, and of which message they are. */
#ifndef FTMPI_TEST_RING_H
#define FTMPI_TEST_RING_H

#include "compat-tests/abi/start.h"

enum { LARGE = 5 << 20, TAG = 7 };

extern int next, before;
extern MPI_Comm world;
extern unsigned char out[LARGE], in[LARGE];

typedef void part(void);
/* After start: one after the other. What a rank sends in one is not asked for in another. */
void each_part(part *const parts[], int count);

unsigned char byte_of(int rank, int what, int i);
/* `out` with this rank's message; what of rank's has come into `in`. */
void fill(int what, int bytes);
void check(int rank, int what, int bytes);

int count_of(const MPI_Status *status, MPI_Datatype type);
void check_status(const MPI_Status *status, int source, int tag, int bytes);
void show(const char *what, const MPI_Status *status);

#endif
