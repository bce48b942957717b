/* SPDX-License-Identifier: BSD-3-Clause */
/* The snapshots of all ranks, as the rest of the agent sees them. What becomes of one is steps.c's, when it is due cadence.c's, what it
   costs cost.c's, its processes are slot.c's. */
#include "config.h"
#include "launcher/snap/snapshot.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/shared.h"
#include "launcher/job/job.h"
#include "launcher/snap/budget.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/cost.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/steps.h"

enum {
    TICK_MS = 50,                /* or less, if snapshots are wanted more often */
    HURRY_MS = 10,
    ZERO_BYTES = 64 << 20,       /* of both logs since the beginning: snapshot zero goes, if there is a newer one */
    WAKE_TRIES = 200             /* to fork, one each time that ranks.c looks: some seconds */
};

static struct ft_snapshot *of(const struct ft_job *job, uint32_t rank)
{
    return &job->snapshots->ranks[rank];
}

/* ---- when ---- */

static bool can_be_asked(const struct ft_snapshot *s)
{
    return ft_proc_phase(&s->job->procs[s->rank]) == FT_PROC_RUNNING && !s->number && ft_slot_free(s) >= 0;
}

/* It is in MPI, or uses none, as far as is known. Of one that is not recorded and has not come to MPI_Init nothing is told: it may be a wrapper. */
static bool may_be_asked(const struct ft_snapshot *s)
{
    uint32_t state = ft_look32(&ft_region_rank(&s->job->region, s->rank)->state);

    return state == FT_RANK_ATTACHED || (state == FT_RANK_ABSENT && ft_cadence_is_recorded(s));
}

static bool try(struct ft_snapshot *s)
{
    uint32_t reason = ft_cadence_hindrance(s);

    if (reason)
        ft_steps_refuse(s, reason);
    else
        ft_steps_ask(s);
    return s->number != 0;
}

static bool is_on(const struct ft_job *job) { return job->region.header->params.outcome_bytes != 0; }

/* --check-replay is to follow all that there was, from zero; unless the user has asked for newer ones. */
static bool is_wanted(const struct ft_job *job) { return !job->options->check_seed || job->options->snapshot_ms != FT_SNAPSHOT_AUTO; }

uint64_t ft_snapshots_tick_ms(const struct ft_job *job)
{
    uint64_t most = ft_budget_hurries(job) ? HURRY_MS : TICK_MS;

    if (!is_on(job)) /* only memory is looked at */
        return ft_max(TICK_MS, ft_budget_rest_ms(job));
    return ft_min(most, ft_max(1, job->options->snapshot_ms));
}

void ft_snapshots_tick(struct ft_job *job)
{
    const struct ft_params *p = &job->region.header->params;
    struct ft_snapshooter *all = job->snapshots;
    uint64_t now = ft_clock_ns();

    if (!is_on(job))
        return;
    if (ft_cadence_round(job, all->ranks, now - all->round_ns))
        all->round_ns = now;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);

        ft_outcomes_tell(s);
        ft_outcomes_tell_lost(s, now);
        ft_steps_look_for_lost(s);
        ft_steps_end_zero(s, ft_min(ZERO_BYTES, p->nextents * p->extent_bytes / 4));
        if (may_be_asked(s) && is_wanted(job) && can_be_asked(s) && ft_cadence_due(s, all->round_ns, now))
            try(s);
    }
    ft_cadence_tell(job->snapshots->ranks, job->options->nranks);
}

bool ft_snapshots_serve(struct ft_job *job, uint32_t rank, uint64_t number, bool *has)
{
    struct ft_snapshot *s = of(job, rank);

    *has = false;
    if (!is_on(job))
        return true;
    if (s->request != number) {
        if (!s->number && !can_be_asked(s))
            return false; /* an older one is being ended */
        s->requested = s->number || try(s) ? s->number : 0;
        s->request = number;
    }
    *has = s->requested && s->named_number == s->requested;
    return *has || !s->requested || s->number != s->requested;
}

/* ---- what ranks.c wants to know ---- */

void ft_snapshots_begin(struct ft_job *job, uint32_t rank)
{
    struct ft_snapshot *s = of(job, rank);

    if (!ft_outcomes_of(s))
        return;
    ft_outcome_log_restart(ft_outcomes_of(s), s->numbers + 1);
    s->refusals = s->lost = s->differed = 0;
    s->live = job->procs[rank].incarnation + 1;
    if (is_on(job) && !ft_cadence_is_forsaken(s) && ft_budget_has_room(job, rank))
        ft_steps_ask(s);
}

void ft_snapshots_buried(struct ft_job *job, uint32_t rank)
{
    struct ft_snapshot *s = of(job, rank);

    if (job->procs[rank].signal)
        ft_outcomes_went_past(s, job->procs[rank].writes);
    job->procs[rank].writes = UINT64_MAX; /* a successor of this agent does this again */
    if (ft_outcomes_of(s))
        atomic_store(&ft_outcomes_of(s)->writes, 0), atomic_store(&ft_outcomes_of(s)->children, 0);

    ft_outcomes_tell(s);
    ft_outcomes_buried(s);
    ft_steps_buried(s);
}

bool ft_snapshots_clear(struct ft_job *job, uint32_t rank)
{
    return ft_steps_clear(of(job, rank));
}

bool ft_snapshots_usable(const struct ft_job *job, uint32_t rank)
{
    return ft_slot_usable(of(job, rank)) >= 0;
}

bool ft_snapshots_wakes(const struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);
    const struct ft_snap_words *w = ft_snap_words_of(s);

    if (ft_look(&w->copied) == job->procs[rank].incarnation)
        return true;
    if (ft_look(&w->wake) != job->procs[rank].incarnation)
        return ft_slot_usable(s) >= 0; /* nobody is told yet */
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        if (s->slots[i].pid && s->slots[i].pid == (pid_t)ft_peek(&w->waker))
            return true;
    return false;
}

void ft_snapshots_failed(struct ft_job *job, uint32_t rank)
{
    struct ft_snapshot *s = of(job, rank);

    if (s->tries++ == 0)
        ft_say_notice(&job->say, "rank %u: its snapshot cannot fork (no memory, or too many processes); it is tried again",
                      ft_job_rank(job, rank));
    if (s->tries <= WAKE_TRIES)
        return;
    ft_say_notice(&job->say, "rank %u: its snapshot still cannot fork and is given up", ft_job_rank(job, rank));
    s->tries = 0;
    ft_snapshots_drop(job, rank);
}

void ft_snapshots_woken(struct ft_job *job, uint32_t rank)
{
    of(job, rank)->tries = 0;
}

const struct ft_snap_slot *ft_snapshots_named(const struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);
    int slot = ft_slot_usable(s);

    return slot < 0 ? NULL : &s->slots[slot];
}

bool ft_snapshots_is_zero(const struct ft_job *job, uint32_t rank, const struct ft_snap_slot *slot)
{
    const struct ft_snapshot *s = of(job, rank);

    return atomic_load(&s->zero) == (uint32_t)(slot - s->slots) + 1;
}

void ft_snapshots_drop(struct ft_job *job, uint32_t rank)
{
    ft_steps_drop(of(job, rank));
}

void ft_snapshots_drop_all(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_snapshots_drop(job, r);
}

bool ft_snapshots_forsake(struct ft_job *job, uint32_t rank, bool all)
{
    return ft_steps_forsake(of(job, rank), all);
}

bool ft_snapshots_closed(const struct ft_job *job, uint32_t rank)
{
    return atomic_load(&of(job, rank)->named) && ft_slot_usable(of(job, rank)) < 0;
}

const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank, char text[static FT_CADENCE_REASON])
{
    const struct ft_snapshot *s = of(job, rank);

    return s->refusals || ft_cadence_has_ended(s) ? ft_cadence_reason(s, text) : NULL;
}

void ft_snapshots_note(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_cost_note(of(job, r));
}

/* ---- life ---- */

int ft_snapshots_new(struct ft_job *job, struct ft_error *e)
{
    uint32_t n = job->options->nranks;
    struct ft_snapshooter *all = calloc(1, sizeof *all);

    if (!all)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    job->snapshots = all;
    all->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    all->ranks = ft_shared_new(n * sizeof *all->ranks);
    all->kept = calloc(FT_SNAP_SLOTS * (size_t)n, sizeof *all->kept);
    all->budget = ft_budget_new();
    if (all->bell < 0 || !all->ranks || !all->kept || !all->budget)
        return ft_err_set(e, FT_ESYS, "cannot prepare for snapshots: %s", strerror(errno));
    for (uint32_t r = 0; r < n; r++) {
        all->ranks[r].job = job;
        all->ranks[r].rank = r;
    }
    return 0;
}

void ft_snapshots_free(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;

    if (!all)
        return;
    if (all->bell >= 0)
        close(all->bell);
    ft_shared_free(all->ranks, job->options->nranks * sizeof *all->ranks);
    free(all->kept);
    ft_budget_free(all->budget);
    free(all);
    job->snapshots = NULL;
}

int ft_snapshots_bell(const struct ft_job *job)
{
    return job->snapshots->bell;
}

void ft_snapshots_watch(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++) {
            struct ft_snap_slot *p = &all->ranks[r].slots[i];

            p->pidfd = -1;
            p->gone = NULL;
        }
    all->round_ns = ft_clock_ns();
}

/* The ranks are dead or not ours any more. */
void ft_snapshots_unwatch(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            if (all->ranks[r].slots[i].gone)
                ft_slot_forget(&all->ranks[r], i);
}

/* When the predecessor asked all, last: not now, or each rank had to be asked again at once. */
static uint64_t last_round(const struct ft_job *job)
{
    uint64_t first = ft_clock_ns();

    for (uint32_t r = 0; r < job->options->nranks; r++) {
        uint64_t last = ft_max(atomic_load(&ft_region_rank(&job->region, r)->started_ns), of(job, r)->asked_ns);

        if (last) /* else it has not begun */
            first = ft_min(first, last);
    }
    return first;
}

void ft_snapshots_adopt(struct ft_job *job)
{
    job->snapshots->round_ns = last_round(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_steps_adopt(of(job, r));
}

void ft_snapshots_look(struct ft_job *job)
{
    ft_budget_note(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_steps_look(of(job, r));
}
