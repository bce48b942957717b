/* SPDX-License-Identifier: BSD-3-Clause */
/* What an agent that is one of several has above it: a node (launcher/node), which is told what
   becomes of the ranks and says when they may run. On one host there is none, and everything
   here does nothing. So neither ranks nor agent know of nodes, connections or leases. */
#ifndef LAUNCHER_JOB_ABOVE_H
#define LAUNCHER_JOB_ABOVE_H

#include <stdbool.h>

#include "ft/base/err.h"
#include "launcher/job/job.h"

struct ft_agent;

struct ft_above {
    /* Its life, in this order: made and opened (sockets) before the first fork; forgotten and
       served by each process that becomes the agent; left by it; freed by all. FT_ENOMEM, FT_ESYS,
       FT_EINVAL. */
    int (*make)(struct ft_node **n, struct ft_agent *a, struct ft_error *e);
    int (*open)(struct ft_node *n, struct ft_error *e);
    void (*forget)(struct ft_node *n);
    int (*serve)(struct ft_node *n);
    void (*leave)(struct ft_node *n);
    void (*free)(struct ft_node *n);

    /* Asked: may ranks be started? Do others take its ranks' place, or will, so that nothing they
       have started may go on? By the process that stands by: should the agent have ended its ranks
       by now? May the agent leave; `waiting`: not all that was printed has been acknowledged? The
       7th number of FTMPI_FDS, of local rank 0; -1: none. */
    bool (*is_ready)(const struct ft_node *n);
    bool (*is_fenced)(void *n);
    bool (*is_late)(void *n);
    bool (*may_leave)(struct ft_node *n, bool waiting);
    int (*socket)(const struct ft_node *n);

    /* Told: something has become of the ranks; their bell has rung; they cannot go on with the log
       that is here; there is more in the spool of what was printed. */
    void (*changed)(struct ft_node *n);
    void (*rung)(struct ft_node *n);
    void (*strand)(struct ft_node *n);
    void (*flush)(void *n);
};

static inline bool ft_above_is_ready(const struct ft_job *job)
{
    return !job->above || job->above->is_ready(job->node);
}

static inline bool ft_above_is_fenced(const struct ft_job *job)
{
    return job->above && job->above->is_fenced(job->node);
}

static inline void ft_above_changed(const struct ft_job *job)
{
    if (job->above)
        job->above->changed(job->node);
}

static inline void ft_above_rung(const struct ft_job *job)
{
    if (job->above)
        job->above->rung(job->node);
}

#endif
