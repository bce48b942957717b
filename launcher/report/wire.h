/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node says for --report and --timeline (wire.h: REPORT, CELLS). All times are of its own monotonic clock, and each frame says
   what that shows now. Numbers of 8 bytes, little endian; pure, as all of wire.h.

     REPORT   now, 5 sums, number of restarts, number of ranks, then the restarts that are new or have changed, with their
              number in the node's list; then all ranks, or none
     CELLS    now, begin of the first cell, length of a cell, first rank, number of ranks, number of cells, then each rank's cells (8 counts of 2 bytes)

   Either may be said again: it says what is, a cell's counts are proportions. */
#ifndef LAUNCHER_REPORT_WIRE_H
#define LAUNCHER_REPORT_WIRE_H

#include "launcher/report/report.h"
#include "launcher/wire/wire.h"

enum { FT_WIRE_ROWS = 4096 };     /* of a REPORT: restarts, ranks */

struct ft_wire_restart {
    uint64_t index;
    struct ft_restart restart;    /* rank: local */
};

/* `restarts` of total counts those of this node's life; checkpoint_ns, cut_ns are not said. */
struct ft_wire_life {
    struct ft_rank_total total;
    uint64_t live_ns, replayed;   /* of its present incarnation, as in a restart */
};

struct ft_wire_report {
    uint64_t now_ns;
    uint64_t log_bytes, released_bytes, peak_log_bytes, spilled_bytes, peak_memory_bytes;
    uint32_t nrestarts, nranks;
    struct ft_wire_restart *restarts;
    struct ft_wire_life *ranks;   /* the receiver's to free: ft_wire_report_free */
};

struct ft_wire_cells {
    uint64_t now_ns, begin_ns, width_ns;
    uint32_t first, nranks, ncells;
    const uint8_t *data;          /* where it was received */
};

struct ft_wire_bytes ft_wire_put_report(const struct ft_wire_report *m);

/* 0; FT_EDAMAGED; FT_ENOMEM. */
int ft_wire_get_report(const struct ft_wire_frame *f, struct ft_wire_report *m, struct ft_error *e);
void ft_wire_report_free(struct ft_wire_report *m);

/* How many ranks fit into one frame with so many cells each; at least one does. */
uint32_t ft_wire_cells_ranks(uint32_t ncells);

/* m without data: cells of rank first + i are row(arg, first + i)[0..ncells-1]. */
struct ft_wire_bytes ft_wire_put_cells(const struct ft_wire_cells *m, const struct ft_cell *(*row)(const void *arg, uint32_t rank), const void *arg);

int ft_wire_get_cells(const struct ft_wire_frame *f, struct ft_wire_cells *m, struct ft_error *e);

/* Cell `cell` of rank first + rank. */
struct ft_cell ft_wire_cell(const struct ft_wire_cells *m, uint32_t rank, uint32_t cell);

#endif
