/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' snapshots (ft/outcome/copies.h, docs/internals/snapshots.md), as the rest of the agent sees them: when they are
   made, whether a rank has one, and waking it. What is known of them is in shared memory. What becomes of one is steps.h's.

   The first one, zero, is made before the program's main: to start over is to wake it. It stays when another one
   is named, until much has been logged since the beginning: the log is held for the oldest. */
#ifndef LAUNCHER_SNAP_SNAPSHOT_H
#define LAUNCHER_SNAP_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/slot.h"

struct ft_job;

/* All that outlives a launcher process; before the first fork. FT_ENOMEM, FT_ESYS. */
int ft_snapshots_new(struct ft_job *job, struct ft_error *e);
void ft_snapshots_free(struct ft_job *job);

/* The descriptor by which ranks tell of it; inherited by them. */
int ft_snapshots_bell(const struct ft_job *job);

/* This process is the agent. */
void ft_snapshots_watch(struct ft_job *job);
void ft_snapshots_unwatch(struct ft_job *job);

/* Asks those that are due, after memory has been looked at (scarce.h). To be called after ft_snapshots_tick_ms, which changes. */
uint64_t ft_snapshots_tick_ms(const struct ft_job *job);
void ft_snapshots_tick(struct ft_job *job);

/* A successor of the agent, before anything is decided about ranks: finds what is there. */
void ft_snapshots_adopt(struct ft_job *job);

/* The bell has rung, or a process has died: whatever ranks, or their snapshots, have said since. */
void ft_snapshots_look(struct ft_job *job);

/* Rank is about to be started from its beginning, with snapshot zero as the first thing it does. There
   is none of an earlier incarnation. */
void ft_snapshots_begin(struct ft_job *job, uint32_t rank);

/* Rank's process is dead. One that was being made counts if it waits already. */
void ft_snapshots_buried(struct ft_job *job, uint32_t rank);

/* What a killed rank was making of itself is dead, too. */
bool ft_snapshots_clear(struct ft_job *job, uint32_t rank);

/* The rank has asked for one, in its request `number`. True: there is an answer; *has: it has
   one that was made meanwhile. */
bool ft_snapshots_serve(struct ft_job *job, uint32_t rank, uint64_t number, bool *has);

/* Rank can be woken. */
bool ft_snapshots_usable(const struct ft_job *job, uint32_t rank);

/* Rank is being woken, and the snapshot that was told to do it stands, or has done it. */
bool ft_snapshots_wakes(const struct ft_job *job, uint32_t rank);

/* It could not fork: after a few more such attempts it is not usable any more. It could. */
void ft_snapshots_failed(struct ft_job *job, uint32_t rank);
void ft_snapshots_woken(struct ft_job *job, uint32_t rank);

/* What is to be woken. NULL: there is none. */
const struct ft_snap_slot *ft_snapshots_named(const struct ft_job *job, uint32_t rank);

/* That is the one that was made before the program's main. */
bool ft_snapshots_is_zero(const struct ft_job *job, uint32_t rank, const struct ft_snap_slot *slot);

/* Ends the snapshots of a rank, of all ranks. Their processes are gone a little later. */
void ft_snapshots_drop(struct ft_job *job, uint32_t rank);
void ft_snapshots_drop_all(struct ft_job *job);

/* What goes on from them dies: its newest is not woken again, if zero can be; or (all) none is, nor made before it has got further. False: there
   was none of that. Can be done twice. */
bool ft_snapshots_forsake(struct ft_job *job, uint32_t rank, bool all);

/* Rank has one, which is not to be woken: ft_outcomes_closed says why. */
bool ft_snapshots_closed(const struct ft_job *job, uint32_t rank);

/* Why rank has none, as ft_cadence_reason. NULL: there is nothing to tell. */
const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank, char text[static FT_CADENCE_REASON]);

/* The report is to have all that there is to say of them. */
void ft_snapshots_note(const struct ft_job *job);

#endif
