/* SPDX-License-Identifier: BSD-3-Clause */
/* What an agent that is one of several has above it: a node (launcher/node), which is told what becomes of the ranks and says when they may
   run. On one host there is none, and everything here does nothing. So neither ranks nor agent know of nodes, connections or leases. */
#ifndef LAUNCHER_JOB_ABOVE_H
#define LAUNCHER_JOB_ABOVE_H

#include <stdbool.h>

#include "ft/base/err.h"
#include "launcher/job/job.h"

struct ft_agent;

struct ft_above {
    /* its life, in this order: made and opened (sockets) before the first fork; forgotten and served by each process that becomes the
       agent; left by it; freed by all. FT_ENOMEM, FT_ESYS, FT_EINVAL */
    int (*make)(struct ft_node **n, struct ft_agent *a, struct ft_error *e);
    int (*open)(struct ft_node *n, struct ft_error *e);
    void (*forget)(struct ft_node *n);
    int (*serve)(struct ft_node *n);
    void (*leave)(struct ft_node *n);
    void (*free)(struct ft_node *n);

    /* asked */
    bool (*is_ready)(const struct ft_node *n);   /* ranks may be started */
    bool (*is_fenced)(void *n);                  /* others take its ranks' place, or will: nothing that they have started may go on */
    bool (*is_late)(void *n);                    /* the process that stands by asks: the agent should have ended its ranks by now */
    bool (*may_leave)(struct ft_node *n, bool waiting); /* waiting: not all that was printed has been acknowledged */
    int (*socket)(const struct ft_node *n);      /* 7th number of FTMPI_FDS, of local rank 0; -1: none */

    /* told */
    void (*changed)(struct ft_node *n);          /* something has become of the ranks */
    void (*rung)(struct ft_node *n);             /* the ranks' bell has rung */
    void (*strand)(struct ft_node *n);           /* its ranks cannot go on with the log that is here */
    void (*flush)(void *n);                      /* there is more in the spool of what was printed */
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
