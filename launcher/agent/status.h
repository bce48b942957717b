/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as JSON, for those who ask (control.h). Read out of shared memory while the ranks run: a moment old, never wrong in itself. */
#ifndef LAUNCHER_AGENT_STATUS_H
#define LAUNCHER_AGENT_STATUS_H

#include <jansson.h>

#include "launcher/agent/state.h"

/* {"job", "name" (or null), "pid" (of the process that the user started), "agent_pid", "standby_pid" (0: none), "host", "version",
   "ranks", "seconds", "started" (Unix time), "command": [...]}. NULL: no memory. */
json_t *ft_status_info(const struct ft_agent *a);

/* The same with "rank": one object for each rank:
     "rank", "state" (starting, outside MPI, in MPI, replaying, clearing, done, dead), "pid", "stopped" (by SIGSTOP or a debugger),
     "incarnation", "restarts", "units" (finished), "seconds" (in this state and call, as far as the agent has seen)
   for one in a call: "unit", "call", "operation" (in words), "count", "type" (or null), "reduction" (or null), "root" (or null), "site",
     "waits_for" (ranks, at most FT_STATUS_AWAITED of them), "waits_for_count", "waits_for_memory", "waits_for_disk",
     "waits_for_hosts" (of several: for others than this, or until the next one has a checkpoint)
   for one that replays: "replayed", "to_replay" (units).
   And "memory" of this host, in MiB: "limit" (the tightest one; "group": a control group's, not the machine's), "used" (of that, by
     whomever, without clean pages of files), and of it "programs", "snapshots" (what they do not share), "log", "slots" (the rest of
     the shared memory), "launcher"; "promised": what snapshots may come to need beyond that. */
enum { FT_STATUS_AWAITED = 16 };
json_t *ft_status_all(const struct ft_agent *a);

/* The objects of ranks alone, in an array; of a node of several, its own ranks by their numbers in the job, the first one with
   "memory". NULL: no memory. */
json_t *ft_status_ranks(const struct ft_agent *a);

/* The object "memory". NULL: no memory. */
json_t *ft_status_memory(const struct ft_agent *a);

#endif
