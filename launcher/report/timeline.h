/* SPDX-License-Identifier: BSD-3-Clause */
/* --timeline: what each rank was doing, over the job's time. Samples go into a row of cells per rank; a cell is so much time, twice as
   much each time the row is full, when neighbours are merged: memory is bounded, whatever the job's length. All of it is in
   shared memory (shared.h), and in order whenever the agent is killed. svg.h draws it; when ranks died the report knows. */
#ifndef LAUNCHER_REPORT_TIMELINE_H
#define LAUNCHER_REPORT_TIMELINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/base/outfile.h"
#include "launcher/policy/phases.h"

/* One rank during one stretch of time. */
struct ft_cell {
    uint16_t seen[FT_ACTIVITIES];  /* so many times; only their proportions count. All 0: nobody looked */
    uint16_t cuts;                 /* snapshots taken */
};

struct ft_timeline {
    struct ft_outfile file;
    uint32_t nranks, ncells;
    uint64_t begin_ns, last_ns;    /* of the job; of the last sample */
    uint64_t said_ns;              /* a node of several: the controller has what was before */
    _Atomic uint32_t level;        /* cells are of FT_CELL_NS << level, and in cells[level % 2] */
    struct ft_cell *cells[2];      /* by rank, ncells each */
};

enum { FT_CELL_NS = 2000000 };     /* at first */

/* Finds out whether the file can be written. *t is NULL if path is (nothing is wanted). FT_ESYS or FT_ENOMEM with a line. */
int ft_timeline_open(struct ft_timeline **t, const char *path, uint32_t nranks, uint64_t now_ns, struct ft_error *e);

/* One that nobody draws: its owner says to another what is in it. NULL: no memory. */
struct ft_timeline *ft_timeline_new(uint32_t nranks, uint64_t now_ns);

/* How long the next sample may wait: a few per cell. */
uint64_t ft_timeline_every(const struct ft_timeline *t);

/* What the ranks do now is taken for what they have done since the last sample, if that is not long ago. */
void ft_timeline_sample(struct ft_timeline *t, uint64_t now_ns, const enum ft_activity *ranks);

/* A snapshot of rank was taken. */
void ft_timeline_cut(struct ft_timeline *t, uint32_t rank, uint64_t at_ns);

/* What rank did from one moment to another, as seen elsewhere. */
void ft_timeline_put(struct ft_timeline *t, uint32_t rank, uint64_t from_ns, uint64_t to_ns, const struct ft_cell *cell);

/* The cells of rank, each of ft_timeline_width: ncells, of which the job has come to some. */
const struct ft_cell *ft_timeline_row(const struct ft_timeline *t, uint32_t rank);
uint64_t ft_timeline_width(const struct ft_timeline *t);

/* *to += *cell. Scaled down together if they do not fit. */
void ft_timeline_add(struct ft_cell *to, const struct ft_cell *cell);

void ft_timeline_close(struct ft_timeline *t);

#endif
