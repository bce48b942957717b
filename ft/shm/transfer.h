/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a job on several nodes as bytes: what one node's agent sends, and how another's fills its new region with it. The log is the
   same byte for byte on all nodes, except for what lies between the last record of an extent and its end.

   Whoever has the first n bytes knows which records are whole (walk.h), and these count. What is written is of stream 0,
   the only one between nodes. */
#ifndef FT_SHM_TRANSFER_H
#define FT_SHM_TRANSFER_H

#include "ft/shm/keeper.h"
#include "ft/shm/log.h"

/* ---- where it is read ---- */

/* In the agent, while ranks and keeper go on. */
struct ft_reader {
    struct ft_log log;
    const struct ft_counters *counters;
    uint64_t extent_bytes;
};

void ft_reader_open(struct ft_reader *t, const struct ft_region *r, uint32_t stream, int spill_fd);

/* All ranks of this node have finished with what is below this position: it does not change any more. */
uint64_t ft_reader_end(const struct ft_reader *t);

/* n bytes of one extent, below ft_reader_end. False: they are released, or the spill file cannot be read. */
bool ft_reader_read(struct ft_reader *t, uint64_t position, void *to, uint64_t n);

/* Reads as struct ft_walk wants it; arg is the reader. */
bool ft_reader_walks(void *arg, uint64_t position, void *to, uint64_t n);

/* ---- where it is written: no rank has been started ---- */

struct ft_writer {
    const struct ft_region *region;
    const struct ft_keeper *keeper;
    uint64_t extent_bytes;
    uint64_t at;         /* bytes that are there: the next ones go here */
    uint64_t unit, end;  /* of these so many units are whole; the last of them ends here. The counters say so */
};

/* Goes on from what is in the region, perhaps by a predecessor that was killed. FT_EDAMAGED: that is no log; what is whole
   before that counts all the same. */
int ft_writer_open(struct ft_writer *w, const struct ft_region *r, const struct ft_keeper *keeper, int spill_fd, struct ft_error *e);

/* How many bytes can be put now; 0: the keeper has been asked for memory, try again in a moment. */
uint64_t ft_writer_room(struct ft_writer *w);

/* Puts n bytes, no more than there is room for. FT_EDAMAGED: no log has these bytes there; what was whole before counts. */
int ft_writer_put(struct ft_writer *w, const void *bytes, uint64_t n, struct ft_error *e);

/* Nothing more comes from who sent these: what is not whole is thrown away, and the next bytes go behind what is. */
void ft_writer_cut(struct ft_writer *w);

#endif
