/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that are snapshots, each in a slot of its rank: watched, ended, adopted. */
#ifndef LAUNCHER_SNAP_SLOT_H
#define LAUNCHER_SNAP_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/position.h"
#include "launcher/base/reap.h"

struct event;
struct ft_budget;
struct ft_job;

enum { FT_SNAP_SLOTS = 3 /* snapshot zero, a newer one, and one that is being made */ };

struct ft_snap_slot {
    volatile pid_t pid;        /* 0: empty */
    uint64_t number;           /* the rank's own, of this snapshot */
    struct ft_positions at;    /* where it stands */
    uint64_t closings;         /* ... after so many ways back were closed */
    uint64_t taken_ns;
    uint32_t threads;          /* that the rank had */
    bool condemned;            /* it is being ended */
    uint64_t unshared;         /* bytes that it did not share when that was last looked at */

    /* of the agent */
    int pidfd;
    struct event *gone;
    struct ft_snapshot *of;
};

/* Of one rank. In shared memory. */
struct ft_snapshot {
    struct ft_snap_slot slots[FT_SNAP_SLOTS];
    _Atomic uint32_t named;    /* slot + 1 of the one to be woken, 0: there is none */
    _Atomic uint32_t zero;     /* slot + 1 of the one that was made before the program's main, the same or an older one; 0: it is gone */
    uint64_t number;           /* of the one that is being made, in a free slot; 0: none is */
    uint64_t numbers;          /* given so far */
    uint64_t request;          /* of the rank for one: number `requested` is that */
    uint64_t requested;
    uint64_t named_number;     /* of the last one named */
    uint64_t asked_ns;         /* when it, or the last one, was asked for */
    uint64_t made;             /* so many */
    uint32_t refusals;         /* in a row */
    uint32_t lost;             /* in a row: it died before it waited */
    uint32_t reason;           /* of the last one, enum ft_image_reason, */
    uint64_t refused_ns;       /* how long the rank had stood still for it, */
    char stands[96];           /* and with FT_IMAGE_THREADS, in the rank's words: which thread, and where */
    uint32_t tries;            /* to wake it, in a row */
    uint64_t closings;         /* so often its ways back were closed, as far as it is told */
    uint64_t tells;            /* so many things it had to tell the user are told */
    uint64_t differs;          /* replays of this rank that have differed, */
    uint32_t differed;         /* and so many in a row of the one to be woken */
    uint64_t forsaken;         /* none is made before the rank has come to this unit: those before have led to its death */
    bool told;                 /* that it has none, and why */
    bool past_told;            /* that some calls went past the library */
    bool lost_told;            /* that its death would end the job */
    uint64_t closed_ns;        /* since when it has no way back at all, not even from its start; 0: it has one */
    bool oom;                  /* the kernel has killed one for want of memory, and that is not told yet */
    bool short_told;           /* that snapshots had to go: of the first rank, for all */
    uint32_t live;             /* the incarnation, + 1, that is known to be past all that is in its log; 0: none is */
    int score;                 /* what the kernel went by for the rank (ft_memory_score) before it made the last one */
    uint64_t stood_ns;         /* what the rank itself had counted of its standing still, */
    uint64_t still_ns;         /* and of that of its threads */
    uint64_t last_ns;          /* what the last one cost: standing still, forking, and the pages that the one before it made the rank copy */

    struct ft_job *job;        /* of the agent, as rank */
    uint32_t rank;
};

/* What the rank, its snapshots and this agent say to each other. */
struct ft_snap_words *ft_snap_words_of(const struct ft_snapshot *s);

/* The process is the rank's, alive or at least not waited for. */
bool ft_slot_is_ours(const struct ft_snapshot *s, pid_t pid);

/* A slot for the next one; -1: an older one is still being ended. */
int ft_slot_free(const struct ft_snapshot *s);

/* The slot has the number of a process: its death will empty the slot. False: it is dead
   already, or not our rank's. */
bool ft_slot_watch(struct ft_snapshot *s, int slot);

/* A process that is watched by nobody: it is ended, if it is the rank's. 0: there is none. */
void ft_slot_end(const struct ft_snapshot *s, pid_t pid);

/* The kernel is to kill that snapshot before anything of the program. What its rank was instead its next incarnation is again. */
void ft_slot_kill_first(struct ft_snapshot *s, int slot);
void ft_slot_spare(const struct ft_job *job, uint32_t rank, pid_t pid);

/* What is watched: its death has perhaps not been heard of. */
bool ft_slot_is_dead(const struct ft_snap_slot *slot);

/* Its process is to end: nobody needs it any more. */
void ft_slot_condemn(struct ft_snapshot *s, int slot);

/* It is not to be woken any more, whatever becomes of its process. */
void ft_slot_withdraw(struct ft_snapshot *s, int slot);

/* Empties it. */
void ft_slot_forget(struct ft_snapshot *s, int slot);

/* What a dead agent has left in it: nothing, a process that is dead, the snapshot that is named,
   or one that was being ended. */
void ft_slot_adopt(struct ft_snapshot *s, int slot);

/* ---- of all ranks ---- */

/* The slot of the one to be woken: the newest that has not been closed. -1: there is none. */
int ft_slot_usable(const struct ft_snapshot *s);

/* Zero can be woken, and is not the newest. */
bool ft_slot_has_zero(const struct ft_snapshot *s);

/* It has one, or one is being made. */
bool ft_slot_any(const struct ft_snapshot *s);

/* Rank has none, nor one that is being ended. */
bool ft_snapshots_gone(const struct ft_job *job, uint32_t rank);

/* Processes that are snapshots to be kept: n of them, 0 between them. */
const pid_t *ft_snapshots_kept(const struct ft_job *job, uint32_t *n);

/* Bytes that snapshots have for themselves. */
uint64_t ft_snapshots_bytes(const struct ft_job *job);

/* Whose processes are whose: the ranks, the process that stands by, and snapshots that are to be
   kept (reap.h). */
struct ft_leaders ft_leaders_of(const struct ft_job *job);

/* Of the agent, and all that is shared. */
struct ft_snapshooter {
    int bell;
    struct ft_snapshot *ranks;   /* in shared memory */
    uint64_t round_ns;           /* when all ranks were to be asked, last */
    struct ft_budget *budget;
    pid_t *kept;                 /* by rank and slot */
};

#endif
