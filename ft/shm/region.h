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

struct ft_link_words *ft_region_link(const struct ft_region *r, uint32_t stream, uint32_t node);  /* nnodes > 1, stream <= spread */

/* Rank: maps what fd names after checking that it is ours. The mapping is not inherited by fork
   (RULE 15). fd is owned from then on, and inherited as before. Errors: FT_EJOB, FT_ESYS. */
int ft_region_open(struct ft_region *r, int fd, struct ft_error *e);

void ft_region_close(struct ft_region *r);

struct ft_rank_block *ft_region_rank(const struct ft_region *r, uint32_t rank);
struct ft_doorbell *ft_region_doorbell(const struct ft_region *r, uint32_t rank);

/* The parts of one stream: what each is has its type's comment, where it lies struct ft_stream_layout. Of a channel (ft/shm/channels.h): head,
   members, counters, slots, cells, table and acks; the others are NULL. */
struct ft_stream_parts {
    uint32_t n;                     /* members: all ranks, or a channel's two */
    uint32_t ntable;
    struct ft_stream_head *head;
    struct ft_member *members;      /* [n] */
    struct ft_stay *stays;          /* [n]; NULL: they are always in it */
    struct ft_counters *counters;   /* [n] */
    struct ft_trail *trails;        /* [nranks][trail] */
    char *shorts, *slots;           /* [nranks][short_depth] of short_bytes; [nranks][slot_depth] of slot_room */
    _Atomic uint64_t *table;        /* [ntable]: ft/shm/extent.h */
    char *cells;                    /* [FT_CHANNEL_SLOTS] of FT_CHANNEL_CELL, of a channel */
    _Atomic uint64_t *acks;         /* [FT_CHANNEL_ACKS], of a channel */
    char *partials;                 /* [slot_depth] of slot_bytes, if nnodes > 1 */
    _Atomic uint64_t *checks;       /* [nranks][check_units] */
};

struct ft_stream_parts ft_region_stream(const struct ft_region *r, uint32_t id);

/* Memory for the outcomes of rank: params.outcome_bytes. NULL: none. */
void *ft_region_outcomes(const struct ft_region *r, uint32_t rank);

/* Agent: makes rank's block ready for incarnation i, which goes on from rank's cut; the previous one must have been reaped. */
void ft_region_start_rank(const struct ft_region *r, uint32_t rank, uint32_t incarnation);

/* Rank: whether a fork's child has the mapping, as a snapshot must (RULE 15). 0, or -1 with errno. */
int ft_region_fork_keeps(const struct ft_region *r, bool keep);

/* All ranks and their snapshots are dead and reaped, and the keeper is stopped (ft_keeper_stop; ft_keeper_run afterwards):
   everything as new, the log included, for the restart of everybody; the newest checkpoint becomes what programs
   begin with (ft/shm/versions.h). Killed in the middle, it is finished by the ft_keeper_run of
   the next agent. */
void ft_region_reset(const struct ft_region *r);
bool ft_region_resetting(const struct ft_region *r);  /* and has not come to its end */

/* How far this rank ever came, in units of all its streams: the yardstick of RULE 19. */
uint64_t ft_region_progress(const struct ft_region *r, uint32_t rank);

/* In stream 0 alone. */
uint64_t ft_region_done(const struct ft_region *r, uint32_t rank);

/* Every rank has finished with this unit of stream 0. */
bool ft_region_committed(const struct ft_region *r, uint64_t unit);

/* Units that rank's incarnation has taken out of the log so far, since the start or its snapshot's cut. */
uint64_t ft_region_replayed(const struct ft_region *r, uint32_t rank);

/* Bytes of log, all streams: ever written; and of these, in extents that are released, the forgotten ones among them. The rest is in
   memory or spilled. */
uint64_t ft_region_log_bytes(const struct ft_region *r);
/* Of the streams that rank has been in, since those positions of it. */
uint64_t ft_region_log_since(const struct ft_region *r, uint32_t rank, const struct ft_positions *p);
uint64_t ft_region_released_bytes(const struct ft_region *r);

/* Agent: the log has reached its limit for the first time in the job's life. True once. */
bool ft_region_tell_full(const struct ft_region *r);

#endif
