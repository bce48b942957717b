/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors this job's ranks may run on, and which rank is bound to which. hwloc is asked only for binding:
   loading its view of the machine costs more than starting a small job. */
#ifndef LAUNCHER_OPTIONS_TOPOLOGY_H
#define LAUNCHER_OPTIONS_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

/* Parts of a host, as --bind-to and --map-by name them. */
enum ft_unit { FT_UNIT_NONE, FT_UNIT_HWTHREAD, FT_UNIT_CORE, FT_UNIT_L2, FT_UNIT_L3, FT_UNIT_NUMA, FT_UNIT_SOCKET, FT_UNIT_HOST };

/* What the user asked for. All zero: no binding. */
struct ft_placement {
    enum ft_unit bind;   /* what a rank may run on; NONE: anywhere */
    enum ft_unit map;    /* ranks go round-robin to these; NONE and HOST: one processor after the other */
    enum ft_unit order;  /* --rank-by; HWTHREAD, CORE: ranks numbered along the processors; else as they are mapped */
    uint32_t cores;      /* PE=n: processors for each rank; 0: one */
    uint32_t each;       /* ppr:n: ranks for each unit of map, one unit after the other; 0: round-robin */
    bool hwthreads;      /* hardware threads are what is counted, not cores */
    bool overload;       /* more ranks than processors may be bound */
};

struct ft_topology;

/* Processors in this process's affinity mask, or fewer if the cgroup's CPU quota gives fewer. At least 1. */
uint32_t ft_topology_processors(void);

/* Whether there are two processors in it that share no cache. False also if the system does not tell. */
bool ft_topology_apart(void);

/* "core", "socket", "package", ... in any case; false: there is no such thing. */
bool ft_topology_unit(const char *name, size_t len, enum ft_unit *unit);

/* How many of them this process may use; 0: hwloc knows none. */
uint32_t ft_topology_count(enum ft_unit unit);

/* A place for each of nranks. FT_EINVAL: they do not fit; FT_ESYS. */
int ft_topology_new(struct ft_topology **out, const struct ft_placement *p, uint32_t nranks, struct ft_error *e);

/* Binds the calling process to rank's place. System calls only: the child of ft_spawn calls it. */
void ft_topology_bind(const struct ft_topology *t, uint32_t rank);

/* "core 1, processors 2,3"; t NULL: not bound. In text, which is returned. */
const char *ft_topology_text(const struct ft_topology *t, uint32_t rank, char *text, size_t size);

void ft_topology_free(struct ft_topology *t);

#endif
