/* SPDX-License-Identifier: BSD-3-Clause */
/* When a rank is due for a snapshot, and what is told of those that cannot have one. */
#ifndef LAUNCHER_CADENCE_H
#define LAUNCHER_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

struct ft_snapshot;

/* --snapshot SECONDS: so long after the last one. auto: after a second, or when much has been logged since, but so
   long after the last one that what it cost is its share of the time. Later and later if it is refused. */
bool ft_cadence_due(const struct ft_snapshot *s, uint64_t now);

/* Once for each, when it has been refused often enough to last: which of n ranks have none, or none that is newer, and why. */
void ft_cadence_tell(struct ft_snapshot *ranks, uint32_t n);

/* Why the last one was refused: "it has more than one thread". */
const char *ft_cadence_reason(const struct ft_snapshot *s);

#endif
