/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that are snapshots, each in a slot of its rank: watched, ended, adopted. */
#ifndef LAUNCHER_SNAP_SLOT_H
#define LAUNCHER_SNAP_SLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ft_snapshot;
struct ft_snap_slot;

/* The process is the rank's, alive or at least not waited for. */
bool ft_slot_is_ours(const struct ft_snapshot *s, pid_t pid);

/* The slot has the number of a process: its death will empty the slot. False: it is dead already, or not our rank's. */
bool ft_slot_watch(struct ft_snapshot *s, int slot);

/* What is watched: its death has perhaps not been heard of. */
bool ft_slot_is_dead(const struct ft_snap_slot *slot);

/* Its process is to end: nobody needs it any more. */
void ft_slot_condemn(struct ft_snapshot *s, int slot);

/* Empties it. */
void ft_slot_forget(struct ft_snapshot *s, int slot);

/* What a dead agent has left in it: nothing, a process that is dead, the snapshot that is named, or one that was being ended. */
void ft_slot_adopt(struct ft_snapshot *s, int slot);

/* Of the agent, and all that is shared. */
struct ft_snapshooter {
    int bell;
    struct ft_snapshot *ranks;   /* in shared memory */
    uint64_t round_ns;           /* when all ranks were to be asked, last */
    uint64_t looked_ns;          /* when, */
    bool room;                   /* and whether there was memory for all ranks to be rewritten */
    pid_t *kept;                 /* by rank and slot */
};

#endif
