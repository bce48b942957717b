/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the ranks ten times a second (or as often as costs 2 percent of a processor): since when each has been where it is, for
   `ftrun status`; ranks that others wait for while they replay, and --hang-timeout. No rank reads a clock for it. */
#ifndef LAUNCHER_AGENT_WATCH_H
#define LAUNCHER_AGENT_WATCH_H

#include "ft/shm/inspect.h"
#include "launcher/job/job.h"

struct ft_deadlines;
struct ft_watch;

/* Needs the event loop and the job's memory. NULL: no memory. */
struct ft_watch *ft_watch_new(struct ft_job *job, struct ft_deadlines *deadlines);

/* Looks now. Of all ranks; good until the event loop goes on. */
const struct ft_inspect *ft_watch_look(struct ft_watch *w);

/* Since when rank has been in the same call, or in the same stretch of the program's own code, as far as it was seen. */
uint64_t ft_watch_since(const struct ft_watch *w, uint32_t rank);

/* ", and rank 0 waits for it (MPI_Barrier at a.out+0x118e)" of the first rank that waits for this one, now; nothing if none does. Returns text. */
const char *ft_watch_waiting(struct ft_watch *w, uint32_t rank, char *text, size_t size);

void ft_watch_free(struct ft_watch *w);

#endif
