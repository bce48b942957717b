/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of the log: a thread that assigns memory to streams ahead of the ranks, populates it,
   at the limit, or where memory is short, spills the oldest committed part to a file, or forgets it, and releases what lies
   below every rank's cut, to use its memory again (DESIGN invariant 7, RULES 6, 7, 13, 14). It is the only
   writer of the extent tables. Ranks that find no extent wait; they lose nothing if the keeper is slow.

   The process it runs in may be killed at any instruction. What a keeper knows it knows from the extent tables, so
   another process that was forked from the one that called ft_keeper_open goes on from them with its own copy of
   struct ft_keeper, whatever is in that, as soon as the first process is dead: one keeper at a time. */
#ifndef FT_SHM_KEEPER_H
#define FT_SHM_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/region.h"

struct ft_keeper;

/* At the log's limit, the oldest extent ... */
enum ft_full {
    FT_FULL_SPILL,    /* goes to a file */
    FT_FULL_FORGET    /* is released, as soon as all ranks that run have left it behind, although some rank's cut is below: that one can
                         then start over only with all the others, until it has a later cut */
};

struct ft_keeper_config {
    enum ft_full full;
    const char *spill_dir;    /* where the unlinked spill file is made */
    uint64_t prepare;         /* bytes of log assigned and populated, with the slots, before ft_keeper_open returns; 0: some of it while ranks start */
};

/* Called once, from the keeper's thread, when the log cannot go on (disk full, no memory). The line is for the
   user; ranks that wait for log memory will wait for ever, so the job has to end. */
typedef void ft_keeper_failed(void *arg, const char *line);

struct ft_keeper_stats {
    uint64_t memory_bytes;    /* of shared memory in use, with the slots and the logs of outcomes */
    uint64_t log_bytes;       /* ... by the log, what it may use again among it */
    uint64_t spilled_bytes;   /* ever written to the spill file */
    uint64_t file_bytes;      /* ... that it has now, on disk */
};

/* What outlives a process: the descriptors, and the extents there are before a rank asks. No thread. The region must
   stay where it is, here and in the processes forked from this one. FT_ESYS: no descriptor, spill_dir not writable; FT_ENOMEM. */
int ft_keeper_open(struct ft_keeper **k, struct ft_region *r, const struct ft_keeper_config *c, struct ft_error *e);
void ft_keeper_close(struct ft_keeper *k);

/* Goes on where the tables are, as ft_keeper_adopt, and starts the thread in this process. FT_ESYS: no thread. */
int ft_keeper_run(struct ft_keeper *k, ft_keeper_failed *failed, void *arg, struct ft_error *e);

/* Has it look at once at what ranks want and at their cuts. */
void ft_keeper_kick(const struct ft_keeper *k);

/* Memory is short: as long as the whole shared memory has more than that, the log gives memory back, and what it wants it takes
   from its oldest part, as at its limit. It takes more only where nothing can go. Any thread; UINT64_MAX, as at the beginning:
   the limit alone. */
void ft_keeper_bound(struct ft_keeper *k, uint64_t bytes);

/* What went was before the limit was reached: there was no memory. */
bool ft_keeper_is_short(const struct ft_keeper *k);

/* Ends the thread and waits for that, if it runs in this process. */
void ft_keeper_stop(struct ft_keeper *k);

/* The two things the thread does, for the explorer, which schedules (and kills) it itself. adopt: forgets
   everything, takes it from the tables, and finishes what a killed predecessor had begun. serve: releases what no
   rank can need any more, and gives every stream what its ranks want; false if some want more than can be had now. */
void ft_keeper_adopt(struct ft_keeper *k, ft_keeper_failed *failed, void *arg);
bool ft_keeper_serve(struct ft_keeper *k);

/* The descriptors that ranks inherit, beside the region's: an eventfd to ask for memory with, and the
   spill file. Owned by the keeper, close-on-exec here. */
int ft_keeper_kick_fd(const struct ft_keeper *k);
int ft_keeper_spill_fd(const struct ft_keeper *k);

struct ft_keeper_stats ft_keeper_stats(const struct ft_keeper *k);  /* any thread of the process it runs in */

#endif
