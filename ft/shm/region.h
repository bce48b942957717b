/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping of agent-owned memory: created once by the agent, attached by every rank. */
#ifndef FT_SHM_REGION_H
#define FT_SHM_REGION_H

#include <stdbool.h>

#include "ft/shm/layout.h"

struct ft_region {
    int fd;                    /* the memfd; owned */
    char *base;
    struct ft_header *header;  /* == base */
    struct ft_stream_layout stream;
};

/* Agent: a new memfd (close-on-exec), sealed against any change of size (RULE 13). Its pages appear as
   they are touched; log memory is populated by the keeper. Processes forked from this one have the mapping too, so that
   one of them can go on when it is dead. Errors: FT_EINVAL, FT_ESYS. */
int ft_region_create(struct ft_region *r, const struct ft_params *params, struct ft_error *e);

/* Agent, before it starts ranks, if nnodes > 1: node k has places first[k] to first[k + 1] less one, rank_at[place] is the rank
   there; a node's ranks are, by their local index, those at its places in order. FT_EINVAL if that is not every rank once, and
   params' numbers. */
int ft_region_map(const struct ft_region *r, const uint32_t *first, const uint32_t *rank_at, struct ft_error *e);

/* What was given there; with one node rank and place are the same. */
uint32_t ft_region_rank_of(const struct ft_region *r, uint32_t local);           /* in the job */
int64_t ft_region_local(const struct ft_region *r, uint32_t rank);               /* -1: not of this node */
uint32_t ft_region_node_of(const struct ft_region *r, uint32_t rank);
const uint32_t *ft_region_first(const struct ft_region *r);                      /* NULL with one node */
const uint32_t *ft_region_rank_at(const struct ft_region *r);

struct ft_link_words *ft_region_link(const struct ft_region *r, uint32_t node);  /* nnodes > 1 */

/* Rank: maps what fd names after checking that it is ours. The mapping is not inherited by fork
   (RULE 15). fd is owned from then on, and inherited as before. Errors: FT_EJOB, FT_ESYS. */
int ft_region_open(struct ft_region *r, int fd, struct ft_error *e);

void ft_region_close(struct ft_region *r);

struct ft_rank_block *ft_region_rank(const struct ft_region *r, uint32_t rank);
struct ft_doorbell *ft_region_doorbell(const struct ft_region *r, uint32_t rank);

/* Memory for the outcomes of rank: params.outcome_bytes. NULL: none. */
void *ft_region_outcomes(const struct ft_region *r, uint32_t rank);

/* Agent: makes rank's block ready for incarnation i, which goes on from rank's cut; the previous one must have been reaped. */
void ft_region_start_rank(const struct ft_region *r, uint32_t rank, uint32_t incarnation);

/* Rank: whether a fork's child has the mapping, as a snapshot must (RULE 15). 0, or -1 with errno. */
int ft_region_fork_keeps(const struct ft_region *r, bool keep);

/* ---- cuts: where each rank can go on from (docs/internals/log.md, "Cuts and the released log").
   The agent's, one process at a time ---- */

/* Rank has a snapshot at p (ft_position) that can be woken from now on, and will not go back before it. Before its earlier
   snapshot is discarded, while the later one exists. Never lowers a cut. The keeper then releases what nobody needs any more:
   at once with ft_keeper_kick. */
void ft_region_register(const struct ft_region *r, uint32_t rank, const struct ft_position *p);

/* Rank has no snapshot any more and lives: it is to start from the beginning when it dies, or to load its checkpoint
   (ft_versions_loadable), if the log is all there from then on and it is not still on its way there; else nothing changes. */
void ft_region_unregister(const struct ft_region *r, uint32_t rank);

/* Rank is dead and reaped, and its snapshot is to be woken: is the log all there from its cut on? Before ft_region_start_rank. True
   is final: nothing of that is forgotten (FT_FULL_FORGET) before the woken one has left it behind. False is, too: the snapshot is
   of no use any more, the rank can only start over with all the others (ft_region_reset). */
bool ft_region_reaches(const struct ft_region *r, uint32_t rank);

/* Rank is dead and reaped, has no snapshot that can be woken, and is to start from the beginning, and perhaps to load its checkpoint: its
   cut is that then, or the start; and as ft_region_reaches. Whoever restarts a rank from the beginning asks this, not ft_region_whole: another rank's cut may advance
   meanwhile, or the log reach its limit. */
bool ft_region_withdraw(const struct ft_region *r, uint32_t rank);

/* The log is all there from rank's cut on, at this moment. */
bool ft_region_holds(const struct ft_region *r, uint32_t rank);

/* Nothing has been released: a start from the beginning is possible at this moment. */
bool ft_region_whole(const struct ft_region *r);

/* The unit of rank's registered cut, in stream 0; 0: none. */
uint64_t ft_region_cut(const struct ft_region *r, uint32_t rank);

/* All ranks and their snapshots are dead and reaped, and the keeper is stopped (ft_keeper_stop; ft_keeper_run afterwards):
   everything as new, the log included, for the restart of everybody; the newest checkpoint becomes what programs
   begin with (ft/shm/versions.h). Killed in the middle, it is finished by the ft_keeper_run of
   the next agent. */
void ft_region_reset(const struct ft_region *r);
bool ft_region_resetting(const struct ft_region *r);  /* and has not come to its end */

/* How far this rank ever came in stream 0, in units: the yardstick of RULE 19. */
uint64_t ft_region_progress(const struct ft_region *r, uint32_t rank);

/* Every rank has finished with this unit of stream 0. */
bool ft_region_committed(const struct ft_region *r, uint64_t unit);

/* Units that rank's incarnation has taken out of the log so far, since the start or its snapshot's cut. */
uint64_t ft_region_replayed(const struct ft_region *r, uint32_t rank);

/* Bytes of log, all streams: ever written; and of these, in extents that are released, the forgotten ones among them. The rest is in
   memory or spilled. */
uint64_t ft_region_log_bytes(const struct ft_region *r);
uint64_t ft_region_released_bytes(const struct ft_region *r);

/* Agent: the log has reached its limit for the first time in the job's life. True once. */
bool ft_region_tell_full(const struct ft_region *r);

#endif
