/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of the log: a thread that assigns memory to streams ahead of the ranks, populates it,
   and at the limit spills the oldest committed part to a file (DESIGN invariant 7, RULES 7, 13, 14). It is the only
   writer of the extent tables. Ranks that find no extent wait; they lose nothing if the keeper is slow. */
#ifndef FT_SHM_KEEPER_H
#define FT_SHM_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/shm/region.h"

struct ft_keeper;

struct ft_keeper_config {
    const char *spill_dir;    /* where the unlinked spill file is made when the limit is first met */
    uint64_t prepare;         /* bytes of log assigned and populated before ft_keeper_start returns */
    /* Called once, from the keeper's thread, when the log cannot go on (disk full, no memory). The line
       is for the user; ranks that wait for log memory will wait for ever, so the job has to end. */
    void (*failed)(void *arg, const char *line);
    void *arg;
};

struct ft_keeper_stats {
    uint64_t memory_bytes;    /* of log memory in use */
    uint64_t spilled_bytes;   /* written to the spill file */
};

/* Everything but the thread, and one turn of what the thread does: gives every stream what its ranks want.
   False if some want more than can be had now. For the explorer, which schedules the turns itself. */
int ft_keeper_open(struct ft_keeper **k, struct ft_region *r, const struct ft_keeper_config *c, struct ft_error *e);
bool ft_keeper_serve(struct ft_keeper *k);
void ft_keeper_close(struct ft_keeper *k);

/* ft_keeper_open and the thread. FT_ESYS: no thread, no descriptor, spill_dir not writable. */
int ft_keeper_start(struct ft_keeper **k, struct ft_region *r, const struct ft_keeper_config *c, struct ft_error *e);

/* The descriptors that ranks inherit, beside the region's: an eventfd to ask for memory with, and the
   spill file. Owned by the keeper, close-on-exec here. */
int ft_keeper_kick_fd(const struct ft_keeper *k);
int ft_keeper_spill_fd(const struct ft_keeper *k);

struct ft_keeper_stats ft_keeper_stats(const struct ft_keeper *k);  /* any thread */

/* Joins the thread, then ft_keeper_close. */
void ft_keeper_stop(struct ft_keeper *k);

#endif
