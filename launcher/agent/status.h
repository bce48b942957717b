/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as JSON, for those who ask (control.h). Read out of shared memory while the ranks run: a moment old, never wrong in itself. */
#ifndef LAUNCHER_AGENT_STATUS_H
#define LAUNCHER_AGENT_STATUS_H

#include <jansson.h>

#include "launcher/agent/state.h"

/* Brings the job's report up to date with what is now. */
void ft_status_note(struct ft_job *job);

/* Who runs it, of what ftrun, since when (docs/report.schema.json: `info`). NULL: no memory. */
json_t *ft_status_info(const struct ft_agent *a);

/* The report of now, and what is only of now (docs/report.schema.json: `status`). */
enum { FT_STATUS_AWAITED = 16 };
json_t *ft_status_all(struct ft_agent *a);

/* The objects of ranks alone, in an array; of a node of several, its own ranks by their numbers in the job, the first one with
   "memory". NULL: no memory. */
json_t *ft_status_ranks(const struct ft_agent *a);

/* The object "memory". NULL: no memory. */
json_t *ft_status_memory(const struct ft_agent *a);

#endif
