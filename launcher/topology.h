/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors this job's ranks may run on, and which rank gets which core. hwloc is asked only for binding:
   loading its view of the machine costs more than starting a small job. */
#ifndef LAUNCHER_TOPOLOGY_H
#define LAUNCHER_TOPOLOGY_H

#include <stdint.h>

#include "ft/base/err.h"

struct ft_topology;

/* Processors in this process's affinity mask, or fewer if the cgroup's CPU quota gives fewer. At least 1. */
uint32_t ft_topology_processors(void);

/* A core of its own for each of nranks. FT_EINVAL: fewer cores than ranks; FT_ESYS. */
int ft_topology_new(struct ft_topology **out, uint32_t nranks, struct ft_error *e);

/* Binds the calling process to rank's core. System calls only: the child of ft_spawn calls it. */
void ft_topology_bind(const struct ft_topology *t, uint32_t rank);

void ft_topology_free(struct ft_topology *t);

#endif
