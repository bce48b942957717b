/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping of agent-owned memory: created once by the agent, attached by every rank. */
#ifndef FT_SHM_REGION_H
#define FT_SHM_REGION_H

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

/* Rank: maps what fd names after checking that it is ours. The mapping is not inherited by fork
   (RULE 15). fd is owned from then on, and close-on-exec. Errors: FT_EJOB, FT_ESYS. */
int ft_region_attach(struct ft_region *r, int fd, struct ft_error *e);

void ft_region_close(struct ft_region *r);

struct ft_rank_block *ft_region_rank(const struct ft_region *r, uint32_t rank);

/* Agent: makes rank's block ready for incarnation i; the previous one must have been reaped. */
void ft_region_start_rank(const struct ft_region *r, uint32_t rank, uint32_t incarnation);

/* How far this rank ever came in stream 0, in units: the yardstick of RULE 19. */
uint64_t ft_region_progress(const struct ft_region *r, uint32_t rank);

/* Units that rank's incarnation has taken out of the log so far. */
uint64_t ft_region_replayed(const struct ft_region *r, uint32_t rank);

/* Bytes of log written so far, all streams: in memory and spilled. */
uint64_t ft_region_log_bytes(const struct ft_region *r);

#endif
