/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collective benchmarks share: OSU's command line (options.h) and columns, the timed loop, validation.
   Plain MPI, no header of ftmpi: every program here compiles with any mpicc.

     cc allreduce.c bench.c options.c            (three files a program)

   A program describes its collective in one struct bench and hands over with bench_main. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_kind { BENCH_CHAR, BENCH_INT, BENCH_FLOAT, BENCH_DOUBLE };

struct bench_type {
    const char *name;        /* as -T takes it */
    MPI_Datatype mpi;
    size_t size;             /* bytes */
    enum bench_kind kind;
};

/* One message size being measured, as one rank sees it. */
struct bench_case {
    int rank, ranks, root;
    const struct bench_type *type;
    int count;               /* elements each rank contributes */
    size_t bytes;            /* count * type->size: what the Size column says */
    void *send, *recv;       /* as large as struct bench asks for */
    int *counts, *displs;    /* of ranks, for v-operations: count each, packed */
    double entered, left;    /* microseconds: this rank's last call, for check */
    size_t writes, reads;    /* --touch: bytes of send that this rank contributes, and of recv that it receives; else 0 */
};

struct bench {
    const char *title;       /* "Allreduce" */
    bool unsized;            /* no Size column (barrier) */
    bool send_all, recv_all; /* that buffer holds `ranks` parts, not one */
    bool recv_is_send;       /* one buffer (bcast) */
    bool same;               /* every rank receives the same bytes */
    bool rooted;             /* -k means something */
    bool adds;               /* reductions: floats by default, chars otherwise */
    bool pairs;              /* wants an even number of ranks (pairs.h) */
    int messages;            /* a call is so many messages one after the other, and microseconds are of one; 0: of a call */
    bool streams;            /* also MB/s and messages per second of all pairs, messages of both ways of each counted */
    /* Back-to-back calls overlap when some ranks need not wait for others (bcast, reduce): then each call starts
       behind a barrier and is timed until the last rank is out of it. */
    bool separate;
    void (*call)(const struct bench_case *c);
    /* -c: before and after every iteration. check returns how many elements are wrong on this rank; every byte is looked at.
       It may communicate. */
    void (*fill)(const struct bench_case *c, int iteration);
    int64_t (*check)(const struct bench_case *c, int iteration);
};

/* The whole program; returns its exit code. */
int bench_main(int argc, char **argv, const struct bench *b);

/* Writes element i of a buffer as a value that every type holds exactly, also summed over 512 ranks. */
void bench_put(const struct bench_type *t, void *buffer, size_t i, int64_t value);
/* Elements of buffer that are not value(i), i < count, bit for bit. */
int64_t bench_wrong(const struct bench_type *t, const void *buffer, size_t count, int64_t (*value)(size_t i, int a, int b),
                    int a, int b);

/* The input of one rank in one iteration, and its sum over all ranks. */
int64_t bench_input(size_t i, int rank, int iteration);
int64_t bench_sum(size_t i, int ranks, int iteration);
/* Fills one part with bench_input. */
void bench_fill_part(const struct bench_case *c, void *part, int rank, int iteration);

/* fill and check of most: the rank's own input in send; recv has the sum; recv has every rank's input. */
void bench_fill(const struct bench_case *c, int iteration);
int64_t bench_check_sum(const struct bench_case *c, int iteration);
int64_t bench_check_gathered(const struct bench_case *c, int iteration);

#endif
