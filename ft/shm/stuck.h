/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlock: ranks that wait for each other, so that none will ever go on, whatever the others do. Of a job on one node.

   A rank in a collective, or in a receive from one rank, needs all that it is said to wait for; one that takes a message from any rank needs
   one of the others. One that waits for memory of the log, of which nothing can be forgotten, needs that one of the others
   receives. So it is stuck if one, or all, of these are stuck themselves or have left MPI. What is looked at
   is what ranks have said and published, each at its own moment: it is true if nothing has changed for a while. */
#ifndef FT_SHM_STUCK_H
#define FT_SHM_STUCK_H

#include "ft/shm/inspect.h"

/* Fills stuck[0..nranks-1] for ranks as ft_inspect_read has read them; runs[q]: rank q has a process, which is not about to be another one.
   awaited[nranks] is scratch. How many are stuck. */
uint32_t ft_stuck_find(const struct ft_region *r, const struct ft_inspect *ranks, const bool *runs, bool *stuck, bool *awaited);

/* It waits for memory of the log, and there will be none as long as all others are stuck. */
bool ft_stuck_for_memory(const struct ft_region *r, const struct ft_inspect *ranks, uint32_t rank);

/* The first rank that `rank`, which is stuck, waits for, of those that are stuck or have left. Not of one that waits for
   memory. */
uint32_t ft_stuck_by(const struct ft_region *r, const struct ft_inspect *ranks, const bool *stuck, uint32_t rank, bool *awaited);

#endif
