/* SPDX-License-Identifier: BSD-3-Clause */
/* --timeout and the times of --hang-timeout: absolute, in memory that outlives the agent, so that a successor keeps them. */
#ifndef LAUNCHER_AGENT_DEADLINES_H
#define LAUNCHER_AGENT_DEADLINES_H

#include <stdint.h>

struct ft_agent;
struct ft_timeout;

/* CLOCK_MONOTONIC, ns. */
struct ft_deadlines {
    uint64_t begin_ns;       /* of the job */
    uint64_t end_ns;         /* --timeout; 0: none */

    /* --hang-timeout: the rank that all others wait for (-1: none), where it is, and since when it has been */
    int64_t hung;
    uint64_t hung_where, hung_since_ns;
};

/* In a shared mapping, made before the first fork. timeout_ms 0: none. NULL: no memory. */
struct ft_deadlines *ft_deadlines_new(uint64_t now_ns, uint64_t timeout_ms);

void ft_deadlines_free(struct ft_deadlines *d);

/* In each agent: ends the job when --timeout is over. NULL: there is nothing to do, or no memory. */
struct ft_timeout *ft_timeout_new(struct ft_agent *a);

void ft_timeout_free(struct ft_timeout *t);

#endif
