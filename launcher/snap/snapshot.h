/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of the ranks' snapshots (ft/snap/snapshot.h, DESIGN section 5): when they are made, which one counts, what
   they cost. What is known of them is in shared memory, and every step can be done again by a successor of the agent:

     a slot gets a number       the rank is asked (`want`)
     the rank stands still      what it has printed and read is noted in the slot's mark; then it may go on
     the snapshot waits         the slot gets its pid, then `named` its number: from this store on it is what is woken;
                                its position becomes the rank's cut, and the snapshot of the other slot is ended

   A rank has a second snapshot only from `taken` until the older one is dead. */
#ifndef LAUNCHER_SNAP_SNAPSHOT_H
#define LAUNCHER_SNAP_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "ft/base/position.h"

struct event;
struct ft_job;
struct ft_proc;

enum { FT_SNAP_SLOTS = 2 };

struct ft_snap_slot {
    volatile pid_t pid;        /* 0: empty */
    struct ft_position at;
    uint64_t taken_ns;
    bool condemned;            /* it is being ended */

    /* of the agent */
    int pidfd;
    struct event *gone;
    struct ft_snapshot *of;
};

/* Of one rank. In shared memory. */
struct ft_snapshot {
    struct ft_snap_slot slots[FT_SNAP_SLOTS];
    _Atomic uint32_t named;    /* slot + 1 of the one to be woken, 0: there is none */
    uint64_t number;           /* of the one that is being made, in the other slot; 0: none is */
    uint64_t numbers;          /* given so far */
    uint64_t request;          /* of the rank for one: number `requested` is that */
    uint64_t requested;
    uint64_t named_number;     /* of the last one named */
    uint64_t asked_ns;         /* when it, or the last one, was asked for */
    uint64_t made;             /* so many */
    uint32_t refusals;         /* in a row */
    uint32_t lost;             /* in a row: it died before it waited */
    uint32_t reason;           /* of the last one, enum ft_image_reason */
    uint32_t tries;            /* to wake it, in a row */
    bool told;                 /* that it has none, and why */
    uint64_t stood_ns;         /* what the rank itself had counted of its standing still */
    uint64_t last_ns;          /* what the last one cost: standing still, forking, and the pages that the one before it made the rank copy */

    struct ft_job *job;        /* of the agent, as rank */
    uint32_t rank;
};

/* All that outlives a launcher process; before the first fork. FT_ENOMEM, FT_ESYS. */
int ft_snapshots_new(struct ft_job *job, struct ft_error *e);
void ft_snapshots_free(struct ft_job *job);

/* The descriptor by which ranks tell of it; inherited by them. */
int ft_snapshots_bell(const struct ft_job *job);

/* This process is the agent. */
void ft_snapshots_watch(struct ft_job *job);
void ft_snapshots_unwatch(struct ft_job *job);

/* Asks those that are due. To be called each ft_snapshots_tick_ms; 0: never. */
uint64_t ft_snapshots_tick_ms(const struct ft_job *job);
void ft_snapshots_tick(struct ft_job *job);

/* A successor of the agent, before anything is decided about ranks: finds what is there. */
void ft_snapshots_adopt(struct ft_job *job);

/* The bell has rung: whatever ranks, or their snapshots, have said since. */
void ft_snapshots_look(struct ft_job *job);

/* Rank's process is dead. One that was being made counts if it waits already. */
void ft_snapshots_buried(struct ft_job *job, uint32_t rank);

/* What a killed rank was making of itself is dead, too. */
bool ft_snapshots_clear(struct ft_job *job, uint32_t rank);

/* The rank has asked for one, in its request `number`. True: there is an answer; *has: it has one that was made meanwhile. */
bool ft_snapshots_serve(struct ft_job *job, uint32_t rank, uint64_t number, bool *has);

/* Rank can be woken. */
bool ft_snapshots_usable(const struct ft_job *job, uint32_t rank);

/* It could not fork: after a few more such attempts it is not usable any more. It could. */
void ft_snapshots_failed(struct ft_job *job, uint32_t rank);
void ft_snapshots_woken(struct ft_job *job, uint32_t rank);

/* The process and mark of what can be woken. */
const struct ft_snap_slot *ft_snapshots_named(const struct ft_job *job, uint32_t rank, int *mark);

/* Ends the snapshots of a rank, of all ranks. Their processes are gone a little later. */
void ft_snapshots_drop(struct ft_job *job, uint32_t rank);
void ft_snapshots_drop_all(struct ft_job *job);

/* Rank has none, nor one that is being ended. */
bool ft_snapshots_gone(const struct ft_job *job, uint32_t rank);

/* Processes that are snapshots to be kept: n of them, 0 between them. */
const pid_t *ft_snapshots_kept(const struct ft_job *job, uint32_t *n);

/* Bytes that snapshots have for themselves. */
uint64_t ft_snapshots_bytes(const struct ft_job *job);

/* Why rank has none: "more than one thread". NULL: there is nothing to tell. */
const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank);

#endif
