/* SPDX-License-Identifier: BSD-3-Clause */
/* When a rank is due for a snapshot, and what is told of those that cannot have one. */
#ifndef LAUNCHER_SNAP_CADENCE_H
#define LAUNCHER_SNAP_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

struct ft_job;
struct ft_snapshot;

/* Ranks wait for each other in collectives, so what one of them loses all do: they are asked in rounds, all at once, and what that
   costs is that of one. `since` nanoseconds after the last round, is there to be another? --snapshot SECONDS: this often. auto: after a
   second, or when much has been logged since, of messages or by one rank of its outcomes, but so long after the last one that what it cost
   is its share of the time. */
bool ft_cadence_round(const struct ft_job *job, const struct ft_snapshot *ranks, uint64_t since);

/* Whether a rank is to be asked: not yet in the round that began then, or, if it refused, later and later. Because of a thread that could not
   be stopped, which may be elsewhere the next time: soon, but so that it does not cost more than its share either. */
bool ft_cadence_due(const struct ft_snapshot *s, uint64_t round, uint64_t now);

/* Its process says what it does: the library is in it. */
bool ft_cadence_is_recorded(const struct ft_snapshot *s);

/* It has not come further than where what went on from its snapshots has died. */
bool ft_cadence_is_forsaken(const struct ft_snapshot *s);

/* What this agent sees that keeps a rank from having one, before it is asked: enum ft_image_reason, or one that ft_cadence_reason knows. None: memory is
   promised to it. */
uint32_t ft_cadence_hindrance(const struct ft_snapshot *s);

/* Once for each, when it has been refused often enough to last: which of n ranks have none, or none that is newer, and why. */
void ft_cadence_tell(struct ft_snapshot *ranks, uint32_t n);

enum { FT_CADENCE_REASON = 320 };

/* Nothing that it does is recorded any more: it gets none, and is asked for none. */
bool ft_cadence_has_ended(const struct ft_snapshot *s);

/* Why the last one was refused: "it has timers of timer_create()". */
const char *ft_cadence_reason(const struct ft_snapshot *s, char text[static FT_CADENCE_REASON]);

#endif
