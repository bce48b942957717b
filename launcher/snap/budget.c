/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/budget.h"

#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/outcome/log.h"
#include "ft/shm/wait.h"
#include "launcher/base/usage.h"
#include "launcher/job/groups.h"
#include "launcher/job/job.h"
#include "launcher/job/twin.h"
#include "launcher/snap/slot.h"

enum {
    SHARE = 16, SHARE_OF_ALL = 4,  /* of the limit: the reserve, and where the kernel kills all of a group at once */
    LEAST_BYTES = 32 << 20,        /* ... at least */
    SOON_BYTES = 64 << 20,         /* a program may have taken these before a snapshot that is killed has given back what it has */
    PAGE_TABLES = 256,             /* a process's tables take such a part of what it has, or less, */
    PROCESS_BYTES = 1 << 20,       /* ... and the kernel's own of it this */
    FIRST_BYTES = 4 << 20,         /* before its main a rank has less */
    PLENTY_MS = 200,               /* while more than half is left it is looked at this often */
    AT_MOST = 50                   /* counting takes such a part of the time */
};

/* What may be done only so often as it is cheap. */
struct cheap {
    uint64_t done_ns, took_ns;
};

struct group {
    struct ft_memory now;
    uint64_t promised;
    bool takes;                /* snapshots */
};

struct ft_budget {
    struct group *groups;      /* as in job->groups */
    uint32_t n;
    uint64_t looked_ns;
    struct cheap sum, shared;
};

struct ft_budget *ft_budget_new(void) { return calloc(1, sizeof(struct ft_budget)); }

bool ft_budget_hurries(const struct ft_job *job)
{
    const struct ft_budget *b = job->snapshots->budget;
    bool all = false;

    for (uint32_t i = 0; i < b->n; i++)
        all |= b->groups[i].now.all;
    return all;
}

void ft_budget_free(struct ft_budget *b)
{
    if (!b)
        return;
    free(b->groups);
    free(b);
}

static uint64_t reserve_of(const struct ft_memory *m)
{
    return m->all ? ft_max(4 * LEAST_BYTES, m->limit / SHARE_OF_ALL) : ft_max(LEAST_BYTES, m->limit / SHARE);
}

/* ---- looking ---- */

/* The reserve's last quarter is not for the log. In a file that is memory itself it would take as much. */
static void bound_log(const struct ft_job *job, const struct ft_memory *own)
{
    uint64_t now = ft_usage_memfd(job->region.fd), left = ft_memory_left(own), keep = reserve_of(own) / 4;

    if (job->spill_memory && ft_job_log_full(job) == FT_FULL_SPILL)
        return;
    ft_keeper_bound(job->keeper, left >= keep ? now + ft_min(left - keep, UINT64_MAX - now) : now - ft_min(now, keep - left));
}

static bool grow(struct ft_budget *b, uint32_t n)
{
    struct group *groups = n > b->n ? realloc(b->groups, n * sizeof *groups) : b->groups;

    if (!groups)
        return false;
    b->groups = groups;
    for (; b->n < n; b->n++)
        b->groups[b->n] = (struct group){0};
    return true;
}

void ft_budget_note(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) == FT_PROC_RUNNING)
            ft_groups_note(job->groups, r, job->procs[r].pid, ft_look32(&ft_region_rank(&job->region, r)->attached_pid) != 0);
}

static struct group *group_of(const struct ft_job *job, uint32_t rank)
{
    struct ft_budget *b = job->snapshots->budget;
    uint32_t i = b->n ? ft_groups_of(job->groups, rank) : 0;

    return i < b->n ? &b->groups[i] : NULL;
}

const struct ft_memory *ft_budget_of(const struct ft_job *job, uint32_t rank)
{
    static const struct ft_memory unknown = {.limit = UINT64_MAX};
    const struct group *g = group_of(job, rank);

    return g ? &g->now : &unknown;
}

static bool is_short(const struct ft_memory *m) { return ft_memory_left(m) < reserve_of(m) / 2; }

bool ft_budget_is_short(const struct ft_job *job, uint32_t rank) { return is_short(ft_budget_of(job, rank)); }

bool ft_budget_takes_snapshots(const struct ft_job *job, uint32_t rank)
{
    const struct group *g = group_of(job, rank);

    return g && g->takes;
}

static bool is_kept(const struct ft_snap_slot *slot) { return slot->pid && !slot->condemned; }

/* What snapshots have in that group: all of it, as pages that they share may be copied at any moment. */
static uint64_t had_in(const struct ft_job *job, const struct group *g)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; group_of(job, r) == g && i < FT_SNAP_SLOTS; i++) {
            const struct ft_snap_slot *slot = &job->snapshots->ranks[r].slots[i];

            sum += is_kept(slot) ? ft_usage_private(slot->pid) : 0;
        }
    return sum;
}

static bool takes_snapshots(const struct ft_job *job, const struct group *g)
{
    return g->now.all || (ft_memory_left(&g->now) >= SOON_BYTES && had_in(job, g) >= reserve_of(&g->now) / 4);
}

static void look(struct ft_job *job)
{
    struct ft_budget *b = job->snapshots->budget;
    uint32_t n;

    ft_budget_note(job);
    n = ft_groups_count(job->groups);
    if (!n || !grow(b, n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct group *g = &b->groups[i];

        ft_memory_look(ft_groups_get(job->groups, i), &g->now);
        g->takes = is_short(&g->now) && takes_snapshots(job, g);
    }
    b->looked_ns = ft_clock_ns();
    bound_log(job, &b->groups[0].now);
}

static bool is_plenty(const struct ft_budget *b)
{
    bool plenty = b->n != 0;

    for (uint32_t i = 0; i < b->n; i++)
        plenty &= ft_memory_left(&b->groups[i].now) > b->groups[i].now.limit / 2;
    return plenty;
}

uint64_t ft_budget_rest_ms(const struct ft_job *job) { return is_plenty(job->snapshots->budget) ? PLENTY_MS : 0; }

void ft_budget_look(struct ft_job *job)
{
    if (ft_clock_ns() - job->snapshots->budget->looked_ns >= ft_budget_rest_ms(job) * 1000000)
        look(job);
}

/* ---- promises ---- */

static uint64_t with_tables(uint64_t bytes) { return bytes + bytes / PAGE_TABLES + PROCESS_BYTES; }

static uint64_t needs(const struct ft_job *job, uint32_t rank)
{
    return with_tables(ft_max(FIRST_BYTES, job->leaders[rank] ? ft_usage_private(job->leaders[rank]) : 0));
}

/* What a snapshot does not share any more is used, and no promise; it never gets less. */
static uint64_t promise_of(const struct ft_snap_slot *slot)
{
    uint64_t bytes = ft_usage_private(slot->pid);

    return bytes - ft_min(bytes, slot->unshared);
}

static uint64_t promised_to(const struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = &job->snapshots->ranks[rank];
    uint64_t sum = s->number ? needs(job, rank) : 0;

    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        sum += is_kept(&s->slots[i]) ? promise_of(&s->slots[i]) : 0;
    return sum;
}

static bool begin(struct cheap *c, uint64_t now)
{
    if (now - c->done_ns < AT_MOST * c->took_ns)
        return false;
    c->done_ns = now;
    return true;
}

static void end(struct cheap *c)
{
    uint64_t now = ft_clock_ns();

    c->took_ns = now - c->done_ns;
    c->done_ns = now;
}

static void sum_up(const struct ft_job *job)
{
    struct ft_budget *b = job->snapshots->budget;

    for (uint32_t i = 0; i < b->n; i++)
        b->groups[i].promised = 0;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct group *g = group_of(job, r);

        if (g) /* its group has been found since they were looked at */
            g->promised += promised_to(job, r);
    }
}

/* A walk through all memory of all snapshots. */
static void see_what_is_shared(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++) {
            struct ft_snap_slot *slot = &job->snapshots->ranks[r].slots[i];

            if (is_kept(slot))
                slot->unshared = ft_max(slot->unshared, ft_usage_unshared(slot->pid));
        }
}

static bool fits(const struct group *g, uint64_t more)
{
    uint64_t left = ft_memory_left(&g->now), reserve = reserve_of(&g->now);

    return left >= reserve && left - reserve >= g->promised + more;
}

bool ft_budget_has_room(struct ft_job *job, uint32_t rank)
{
    struct ft_budget *b = job->snapshots->budget;
    uint64_t now = ft_clock_ns(), more = needs(job, rank);
    struct group *g;
    bool room;

    if (!b->looked_ns)
        look(job);
    g = group_of(job, rank);
    if (!g)
        return true; /* nothing is known */
    room = fits(g, more);
    if (!room && begin(&b->sum, now)) {
        sum_up(job);
        end(&b->sum);
        room = fits(g, more);
    }
    if (!room && begin(&b->shared, now)) {
        see_what_is_shared(job);
        sum_up(job);
        end(&b->shared);
        room = fits(g, more);
    }
    g->promised += room ? more : 0;
    return room;
}

/* ---- for people ---- */

static uint64_t outcome_bytes(const struct ft_job *job, uint32_t rank)
{
    struct ft_outcome_log log;
    void *memory = ft_region_outcomes(&job->region, rank);

    if (!memory)
        return 0;
    ft_outcome_log_open(&log, memory, job->region.header->params.outcome_bytes);
    return (uint64_t)ft_outcome_log_slots(&log) * FT_OUTCOME_EXTENT;
}

void ft_budget_count(const struct ft_job *job, struct ft_budget_parts *p)
{
    struct ft_keeper_stats log = ft_keeper_stats(job->keeper);
    uint64_t shared = ft_usage_memfd(job->region.fd);
    pid_t twin = ft_twin_pid(job->twin);

    *p = (struct ft_budget_parts){.all = *ft_budget_of(job, 0), .log = log.log_bytes};
    p->launcher = ft_usage_self() + (twin ? ft_usage_private(twin) : 0);
    p->snapshots = ft_snapshots_bytes(job);
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        const struct ft_memory *m = ft_budget_of(job, r);

        if (ft_memory_left(m) < ft_memory_left(&p->all))
            p->all = *m;
        p->programs += job->leaders[r] ? ft_usage_tree(job->leaders[r]) : 0;
        p->promised += promised_to(job, r);
        p->log += outcome_bytes(job, r);
    }
    p->log = ft_min(p->log, shared);
    p->slots = shared - p->log + ft_usage_memfd(job->models);
    p->log += job->spill_memory ? log.file_bytes : 0;
}
