/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/topology.h"

#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/limits.h"

enum { CPUS = 8192 }; /* more than any Linux host has, and than cpu_set_t */

struct set {
    cpu_set_t part[CPUS / CPU_SETSIZE];
};

/* Where one rank goes. */
struct place {
    unsigned first;       /* processing element, in hwloc's order: neighbours share caches, as neighbouring ranks share data */
    hwloc_bitmap_t cpus;
    char text[128];
};

struct ft_topology {
    uint32_t nranks;
    struct place *places;
    struct set sets[];
};

static const struct {
    const char *name;
    enum ft_unit unit;
    hwloc_obj_type_t type;
} units[] = { /* first in the order of enum ft_unit, with the name to show; then other names */
    {"none", FT_UNIT_NONE, HWLOC_OBJ_MACHINE},
    {"hwthread", FT_UNIT_HWTHREAD, HWLOC_OBJ_PU},
    {"core", FT_UNIT_CORE, HWLOC_OBJ_CORE},
    {"l2cache", FT_UNIT_L2, HWLOC_OBJ_L2CACHE},
    {"l3cache", FT_UNIT_L3, HWLOC_OBJ_L3CACHE},
    {"numa", FT_UNIT_NUMA, HWLOC_OBJ_NUMANODE},
    {"socket", FT_UNIT_SOCKET, HWLOC_OBJ_PACKAGE},
    {"host", FT_UNIT_HOST, HWLOC_OBJ_MACHINE},
    {"package", FT_UNIT_SOCKET, HWLOC_OBJ_PACKAGE},
    {"numanode", FT_UNIT_NUMA, HWLOC_OBJ_NUMANODE},
    {"slot", FT_UNIT_HOST, HWLOC_OBJ_MACHINE},
    {"node", FT_UNIT_HOST, HWLOC_OBJ_MACHINE},
    {"machine", FT_UNIT_HOST, HWLOC_OBJ_MACHINE},
};

enum { NUNITS = sizeof units / sizeof units[0] };

bool ft_topology_unit(const char *name, size_t len, enum ft_unit *unit)
{
    for (int i = 0; i < NUNITS; i++)
        if (strlen(units[i].name) == len && !strncasecmp(units[i].name, name, len)) {
            *unit = units[i].unit;
            return true;
        }
    return false;
}

uint32_t ft_topology_processors(void)
{
    struct set set;
    uint32_t quota = ft_limits_processors();
    int n = 1;

    if (sched_getaffinity(0, sizeof set, set.part) == 0)
        n = CPU_COUNT_S(sizeof set, set.part);
    return (uint32_t)ft_max(1, ft_min((uint64_t)n, quota));
}

/* The processors that share the largest cache of processor `cpu`: "0-7,64-71". */
static bool read_sharers(int cpu, hwloc_bitmap_t sharers)
{
    enum { MOST_LEVELS = 10 };
    char path[128], text[4096];

    for (int index = MOST_LEVELS; index-- > 0;) {
        FILE *f;
        bool read;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        f = fopen(path, "re");
        if (!f)
            continue;
        read = fgets(text, sizeof text, f) != NULL;
        fclose(f);
        return read && hwloc_bitmap_list_sscanf(sharers, text) == 0;
    }
    return false;
}

bool ft_topology_apart(void)
{
    struct set set;
    hwloc_bitmap_t sharers = hwloc_bitmap_alloc();
    int first = -1;
    bool apart = false;

    if (!sharers || sched_getaffinity(0, sizeof set, set.part) < 0) {
        hwloc_bitmap_free(sharers);
        return false;
    }
    for (int cpu = 0; cpu < CPUS && !apart; cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, sizeof set, set.part))
            continue;
        if (first < 0 && !read_sharers(first = cpu, sharers))
            break;
        apart = !hwloc_bitmap_isset(sharers, (unsigned)cpu);
    }
    hwloc_bitmap_free(sharers);
    return apart;
}

/* What this process may use, and of that nothing but the units asked for: the rest takes time to find. The x86 component
   would bind us to one processor after the other to ask each what it is: 15 ms instead of 1, for what Linux says. */
static int load(hwloc_topology_t *topo, const enum ft_unit *wanted, size_t n)
{
    if (hwloc_topology_init(topo) < 0)
        return -1;
    hwloc_topology_set_components(*topo, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    hwloc_topology_set_flags(*topo, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    hwloc_topology_set_all_types_filter(*topo, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (size_t i = 0; i < n; i++)
        hwloc_topology_set_type_filter(*topo, units[wanted[i]].type, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(*topo) == 0)
        return 0;
    hwloc_topology_destroy(*topo);
    return -1;
}

static unsigned count(hwloc_topology_t topo, enum ft_unit unit)
{
    int n = hwloc_get_nbobjs_by_type(topo, units[unit].type);

    return n > 0 ? (unsigned)n : 0;
}

uint32_t ft_topology_count(enum ft_unit unit)
{
    hwloc_topology_t topo;
    uint32_t n;

    if (load(&topo, &unit, 1) < 0)
        return 0;
    n = count(topo, unit);
    hwloc_topology_destroy(topo);
    return n;
}

/* The processing elements (cores or hardware threads) in one object of the unit that ranks are mapped by. */
struct bin {
    unsigned first, size, used;
};

struct mapping {
    hwloc_topology_t topo;
    const struct ft_placement *p;
    enum ft_unit pe;
    struct bin *bins;
    unsigned nbins;
};

static hwloc_obj_t element(const struct mapping *m, unsigned i)
{
    return hwloc_get_obj_by_type(m->topo, units[m->pe].type, i);
}

static int make_bins(struct mapping *m, struct ft_error *e)
{
    enum ft_unit map = m->p->map && m->p->map >= m->pe ? m->p->map : FT_UNIT_HOST;
    unsigned npe = count(m->topo, m->pe);

    m->nbins = count(m->topo, map);
    if (!m->nbins || !npe)
        return ft_err_set(e, FT_EINVAL, "this host shows no unit called %s; ranks are not bound", units[npe ? map : m->pe].name);
    m->bins = calloc(m->nbins, sizeof *m->bins);
    if (!m->bins)
        return ft_err_set(e, FT_ENOMEM, "out of memory; ranks are not bound");
    for (unsigned b = 0; b < m->nbins; b++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(m->topo, units[map].type, b);

        for (unsigned i = 0; i < npe; i++)
            if (hwloc_bitmap_isincluded(element(m, i)->cpuset, o->cpuset))
                m->bins[b].first = m->bins[b].size++ ? m->bins[b].first : i; /* they follow each other in hwloc's order */
    }
    return 0;
}

/* The bin that takes process i: the next in turn with room. Without any room: the next in turn, or none. */
static struct bin *choose(struct mapping *m, uint32_t i, unsigned size, bool crowd)
{
    unsigned turn = m->p->each ? i / m->p->each : i;

    if (m->p->each)
        return turn < m->nbins && (crowd || m->bins[turn].used + size <= m->bins[turn].size) ? &m->bins[turn] : NULL;
    for (unsigned k = 0; k < m->nbins; k++) {
        struct bin *b = &m->bins[(turn + k) % m->nbins];

        if (b->used + size <= b->size)
            return b;
    }
    return crowd ? &m->bins[turn % m->nbins] : NULL;
}

/* The processors of a place, and its name: those of its processing elements, or of the object around them. */
static void describe(struct mapping *m, struct place *place, unsigned size)
{
    enum ft_unit bind = m->p->bind;
    char cpus[80];
    hwloc_obj_t o = NULL;

    if (m->p->cores || bind <= m->pe) {
        for (unsigned i = 0; i < size; i++)
            hwloc_bitmap_or(place->cpus, place->cpus, element(m, place->first + i)->cpuset);
        hwloc_bitmap_list_snprintf(cpus, sizeof cpus, place->cpus);
        if (size > 1)
            snprintf(place->text, sizeof place->text, "%ss %u-%u, processors %s", units[m->pe].name, place->first,
                     place->first + size - 1, cpus);
        else
            snprintf(place->text, sizeof place->text, "%s %u, processors %s", units[m->pe].name, place->first, cpus);
        return;
    }
    while ((o = hwloc_get_next_obj_by_type(m->topo, units[bind].type, o)))
        if (hwloc_bitmap_intersects(o->cpuset, element(m, place->first)->cpuset))
            break;
    hwloc_bitmap_copy(place->cpus, o ? o->cpuset : hwloc_topology_get_topology_cpuset(m->topo));
    hwloc_bitmap_list_snprintf(cpus, sizeof cpus, place->cpus);
    snprintf(place->text, sizeof place->text, "%s %u, processors %s", units[bind].name, o ? o->logical_index : 0, cpus);
}

static int map_ranks(struct mapping *m, struct place *places, uint32_t nranks, struct ft_error *e)
{
    unsigned size = m->p->cores ? m->p->cores : 1;
    bool crowd = m->p->overload || (m->p->bind > m->pe && !m->p->cores);

    for (uint32_t r = 0; r < nranks; r++) {
        struct bin *b = choose(m, r, size, crowd);

        if (!b || size > b->size) {
            if (size > 1)
                return ft_err_set(e, FT_EINVAL, "%u rank%s with %u %ss each: too many for %u; ranks are not bound", nranks,
                                  ft_plural(nranks), size, units[m->pe].name, count(m->topo, m->pe));
            return ft_err_set(e, FT_EINVAL, "%u rank%s: too many for %u %s%s; ranks are not bound", nranks, ft_plural(nranks),
                              count(m->topo, m->pe), units[m->pe].name, ft_plural(count(m->topo, m->pe)));
        }
        if (b->used + size > b->size)
            b->used = 0;
        places[r].first = b->first + b->used;
        b->used += size;
        places[r].cpus = hwloc_bitmap_alloc();
        if (!places[r].cpus)
            return ft_err_set(e, FT_ENOMEM, "out of memory; ranks are not bound");
        describe(m, &places[r], size);
    }
    return 0;
}

static int by_element(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* The processors of a place as the kernel wants them. */
static void fill(struct set *set, hwloc_const_bitmap_t cpus)
{
    unsigned cpu;

    hwloc_bitmap_foreach_begin(cpu, cpus)
        if (cpu < CPUS)
            CPU_SET_S(cpu, sizeof *set, set->part);
    hwloc_bitmap_foreach_end();
}

static int assign(struct ft_topology *t, struct mapping *m, struct ft_error *e)
{
    int err = make_bins(m, e);

    if (!err && m->p->bind > m->pe && !count(m->topo, m->p->bind))
        err = ft_err_set(e, FT_EINVAL, "this host shows no unit called %s; ranks are not bound", units[m->p->bind].name);
    if (!err)
        err = map_ranks(m, t->places, t->nranks, e);
    free(m->bins);
    if (err < 0)
        return err;
    if (m->p->order == FT_UNIT_CORE || m->p->order == FT_UNIT_HWTHREAD)
        qsort(t->places, t->nranks, sizeof *t->places, by_element);
    for (uint32_t r = 0; r < t->nranks; r++)
        fill(&t->sets[r], t->places[r].cpus);
    return 0;
}

int ft_topology_new(struct ft_topology **out, const struct ft_placement *p, uint32_t nranks, struct ft_error *e)
{
    struct mapping m = {.p = p, .pe = p->hwthreads || p->bind == FT_UNIT_HWTHREAD ? FT_UNIT_HWTHREAD : FT_UNIT_CORE};
    struct ft_topology *t = calloc(1, sizeof *t + nranks * sizeof t->sets[0]);
    int err;

    if (!t || !(t->places = calloc(nranks, sizeof *t->places))) {
        free(t);
        return ft_err_set(e, FT_ENOMEM, "out of memory; ranks are not bound");
    }
    t->nranks = nranks;
    if (load(&m.topo, (enum ft_unit[]){m.pe, p->bind, p->map}, 3) < 0) {
        err = ft_err_set(e, FT_ESYS, "hwloc cannot tell the cores of this host; ranks are not bound");
    } else {
        err = assign(t, &m, e);
        hwloc_topology_destroy(m.topo);
    }
    if (err < 0)
        ft_topology_free(t);
    else
        *out = t;
    return err;
}

void ft_topology_bind(const struct ft_topology *t, uint32_t rank)
{
    sched_setaffinity(0, sizeof t->sets[rank], t->sets[rank].part);
}

const char *ft_topology_text(const struct ft_topology *t, uint32_t rank, char *text, size_t size)
{
    if (t)
        snprintf(text, size, "bound to %s", t->places[rank].text);
    else
        snprintf(text, size, "not bound, runs on all processors");
    return text;
}

void ft_topology_free(struct ft_topology *t)
{
    if (!t)
        return;
    for (uint32_t r = 0; r < t->nranks; r++)
        hwloc_bitmap_free(t->places[r].cpus);
    free(t->places);
    free(t);
}
