/* SPDX-License-Identifier: BSD-3-Clause */
/* What snapshots cost: the time that ranks lose to them (ft_snapshot.last_ns). What they cost in memory is budget.h's. */
#ifndef LAUNCHER_SNAP_COST_H
#define LAUNCHER_SNAP_COST_H

#include <stdbool.h>
#include <stdint.h>

struct ft_job;
struct ft_snap_slot;
struct ft_snapshot;

/* It has been made: what is counted from now on is its, with the time that the rank has just stood still for it. */
void ft_cost_begin(struct ft_snapshot *s);

/* So long has the rank stood still since this was last asked: for one that was not made. */
uint64_t ft_cost_stood(struct ft_snapshot *s);

/* For the report: how long its threads have stood still so far. */
void ft_cost_note(struct ft_snapshot *s);

/* The one in that slot ends, or is replaced: adds the pages that the rank has copied for it. */
void ft_cost_pages(struct ft_snapshot *s, const struct ft_snap_slot *slot);

/* Nanoseconds of the job's time that a snapshot of all ranks costs, by the last ones. */
uint64_t ft_cost_round(const struct ft_job *job, const struct ft_snapshot *ranks);

#endif
