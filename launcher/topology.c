/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/limits.h"

enum { CPUS = 8192 }; /* more than any Linux host has, and than cpu_set_t */

struct set {
    cpu_set_t part[CPUS / CPU_SETSIZE];
};

struct ft_topology {
    uint32_t nranks;
    struct set sets[];
};

uint32_t ft_topology_processors(void)
{
    struct set set;
    uint32_t quota = ft_limits_processors();
    int n = 1;

    if (sched_getaffinity(0, sizeof set, set.part) == 0)
        n = CPU_COUNT_S(sizeof set, set.part);
    return (uint32_t)ft_max(1, ft_min((uint64_t)n, quota));
}

/* The processors of `core` that we may use, as the kernel wants them. */
static void fill(struct set *set, hwloc_obj_t core)
{
    unsigned cpu;

    memset(set, 0, sizeof *set);
    hwloc_bitmap_foreach_begin(cpu, core->cpuset)
        if (cpu < CPUS)
            CPU_SET_S(cpu, sizeof *set, set->part);
    hwloc_bitmap_foreach_end();
}

/* Cores in hwloc's order: neighbours share caches, as neighbouring ranks share data. */
static int assign(struct ft_topology *t, hwloc_topology_t topo, struct ft_error *e)
{
    hwloc_obj_t core = NULL;
    uint32_t rank = 0;

    while (rank < t->nranks && (core = hwloc_get_next_obj_by_type(topo, HWLOC_OBJ_CORE, core)))
        fill(&t->sets[rank++], core);
    if (rank == t->nranks)
        return 0;
    return ft_err_set(e, FT_EINVAL, "--bind-to core: %u ranks do not fit on %u cores; ranks are not bound", t->nranks, rank);
}

int ft_topology_new(struct ft_topology **out, uint32_t nranks, struct ft_error *e)
{
    struct ft_topology *t = calloc(1, sizeof *t + nranks * sizeof t->sets[0]);
    hwloc_topology_t topo;
    int err;

    if (!t || hwloc_topology_init(&topo) < 0) {
        free(t);
        return ft_err_set(e, FT_ENOMEM, "--bind-to core: out of memory; ranks are not bound");
    }
    t->nranks = nranks;
    /* Only what this process may use, and nothing but cores: devices and caches take time to find. The x86 component
       would bind us to one processor after the other to ask each what it is: 15 ms instead of 1, for what Linux says. */
    hwloc_topology_set_components(topo, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    hwloc_topology_set_flags(topo, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    hwloc_topology_set_all_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topo, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topo) < 0)
        err = ft_err_set(e, FT_ESYS, "--bind-to core: hwloc cannot tell the cores of this host; ranks are not bound");
    else
        err = assign(t, topo, e);
    hwloc_topology_destroy(topo);
    if (err < 0)
        free(t);
    else
        *out = t;
    return err;
}

void ft_topology_bind(const struct ft_topology *t, uint32_t rank)
{
    sched_setaffinity(0, sizeof t->sets[rank], t->sets[rank].part);
}

void ft_topology_free(struct ft_topology *t)
{
    free(t);
}
