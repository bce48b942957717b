/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a rank is, told to a driver that kills it: a file DIR/rank.N of native words, written with pwrite, so that it is
   neither memory shared with others nor an offset that a copy of the process would share. */
#ifndef CHAOS_PROGRESS_H
#define CHAOS_PROGRESS_H

#include <stdint.h>

enum progress_phase { PROGRESS_STARTS, PROGRESS_IN_INIT, PROGRESS_RUNS, PROGRESS_IN_FINALIZE, PROGRESS_OVER };

/* What is in the file. The rank is replaying while ops < furthest. */
struct progress {
    uint64_t pid;      /* 0 while the other words change hands */
    uint64_t ops;      /* the operation that was finished last, from 1 */
    uint64_t base;     /* furthest when this process took over: above it, what it commits is new */
    uint64_t furthest; /* most operations any incarnation has finished */
    uint64_t phase;    /* enum progress_phase */
};

/* Before MPI_Init, so the rank is what ftrun says ($FTMPI_RANK). -1 with a line on stderr. Without it the other calls do nothing. */
int progress_open(const char *dir);
void progress_phase(enum progress_phase phase);
void progress_advance(uint64_t done);

#endif
