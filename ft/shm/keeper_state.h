/* SPDX-License-Identifier: BSD-3-Clause */
/* What a keeper is made of: for keeper.c, which decides, and keeper_thread.c. */
#ifndef FT_SHM_KEEPER_STATE_H
#define FT_SHM_KEEPER_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "ft/shm/keeper.h"
#include "ft/shm/places.h"
#include "ft/shm/spill.h"

struct keeper_stream {
    struct ft_stream_head *head;
    struct ft_member *members;
    struct ft_stay *stays;
    struct ft_counters *counters;
    _Atomic uint64_t *table;
    uint32_t n, ntable;
    bool whole;   /* its extents have memory as a whole, or as they are needed (part_of) */
    /* Extents from the start of the log: released <= spilled <= assigned. Those between the first two are in the file, the
       others in memory. */
    uint64_t assigned, spilled, released;
    uint64_t ready;  /* bytes: the last extent has memory up to there */
};

struct ft_keeper {
    /* the same in every process */
    struct ft_region *region;
    struct ft_keeper_config config;
    uint64_t extent_bytes;
    int kick_fd;

    /* what the tables say: ft_keeper_adopt */
    struct keeper_stream *streams;
    struct ft_places memory;
    struct ft_spill file;

    /* of this process */
    ft_keeper_failed *tell;
    void *arg;
    bool failed;                   /* and told so */
    bool disk_full;                /* nothing is spilled but at the limit */
    uint64_t refused_ns;           /* since then the system gives no memory; 0: it does */
    _Atomic uint64_t bound;        /* of the whole shared memory (ft_keeper_bound) */
    uint64_t bytes;                /* of memory that extents have, or had and may have again */
    _Atomic uint64_t full;         /* ... for other threads */
    atomic_bool is_short;          /* the oldest went before the limit was reached */
    bool runs;
    atomic_bool stopping;
    pthread_t thread;
    sem_t begun;
};

/* Tells, once, that the log cannot go on: `format` has one %s, for `detail`. */
void ft_keeper_fail(struct ft_keeper *k, const char *format, const char *detail);

/* Where extent `place` of memory is. */
char *ft_keeper_extent(const struct ft_keeper *k, uint64_t place);

/* Memory that no rank has been given yet. -1: there is none (errno), and a rank that is given it all the same dies of SIGBUS. */
int ft_keeper_make(const struct ft_keeper *k, char *from, uint64_t bytes);

/* That all of the shared memory takes. */
uint64_t ft_keeper_bytes(const struct ft_keeper *k);

/* The stream gets that memory. Killed before the first store: the memory is free, as no table names it. After it: the successor counts the
   extent, and tells. */
void ft_keeper_assign(struct ft_keeper *k, struct keeper_stream *s, uint64_t place);

/* Makes pages ready while the ranks start; ends early if the keeper is to stop. */
void ft_keeper_populate(struct ft_keeper *k);

#endif
