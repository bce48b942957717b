/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the collective benchmarks, OSU's and some more. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bench.h"

enum { BENCH_TYPES = 4, BENCH_SIZES = 64 };

extern const struct bench_type bench_types[BENCH_TYPES];

struct bench_options {
    const char *sizes_text;         /* of -m; expanded for each type, whose size is where it begins */
    size_t sizes[BENCH_SIZES];
    int nsizes;
    int iterations[BENCH_SIZES], warmup[BENCH_SIZES];   /* of each size; 0, -1: by size, as OSU does */
    const char *line_file;          /* where ranks 0 and 1 meet to measure how far they are from each other, or NULL */
    int start_ms;                   /* of barriers before anything else */
    int settle_s;                   /* seconds of calls of the largest size before the first row */
    bool full, validate, wall, touch;
    size_t memory;                  /* bytes a rank may allocate */
    bool use[BENCH_TYPES];
    const struct bench_type *type;  /* the one that is running */
    int digits, root;
    int kill_rank;                  /* -1: nobody */
};

extern const char bench_options_usage[];

/* NULL, or what is wrong with the command line; "": help is wanted. */
const char *bench_options_parse(int argc, char **argv, const struct bench *b, int ranks, struct bench_options *o);

/* The sizes for o->type. false: there are none, or they are no sizes. */
bool bench_options_sizes(struct bench_options *o);

#endif
