/* SPDX-License-Identifier: BSD-3-Clause */
/* One state machine in one file: what becomes of a rank's snapshot, from when it is asked for until it is named, refused, given up, used
   or dropped, also by a successor of this agent. When one is due is cadence.c's, what it costs cost.c's, its processes are slot.c's. */
#include "config.h"
#include "launcher/snap/snapshot.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "ft/snap/image.h"
#include "launcher/base/shared.h"
#include "launcher/job/death.h"
#include "launcher/job/job.h"
#include "launcher/snap/budget.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/cost.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"

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

/* ---- making one ---- */

static void ask(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);

    s->asked_ns = ft_clock_ns();
    atomic_store(&w->pid, 0); /* nobody else writes it now */
    s->number = ++s->numbers;
    ft_publish(&w->want, s->number);
}

/* The process that is to become the snapshot, as far as it is known: by its own word or by the rank's. */
static pid_t half_made(const struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);
    pid_t pid = (pid_t)ft_look(&w->pid);

    return pid ? pid : ft_look(&w->forked) == s->number ? (pid_t)ft_peek(&w->child) : 0;
}

/* A clone that has been made and did not get as far as to be seen ends itself: it looks at `given_up` after it has said `pid`. */
static void give_up(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);

    ft_note(&w->want, 0);
    ft_announce(&w->given_up, s->number);
    ft_slot_end(s, half_made(s));
    s->number = 0;
}

static void drop(struct ft_snapshot *s)
{
    if (s->number)
        give_up(s);
    ft_announce(&ft_snap_words_of(s)->want, 0); /* the next process of this rank has not been asked for anything */
    atomic_store(&s->named, 0);
    atomic_store(&s->zero, 0);
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        ft_slot_condemn(s, i);
}

/* What another process has written. */
static void copy_text(char *to, const char *from, size_t size)
{
    size_t n = 0;

    for (; n < size - 1 && from[n]; n++)
        to[n] = (char)(from[n] < ' ' || from[n] > '~' ? '?' : from[n]);
    to[n] = 0;
}

static void refused_for_thread(struct ft_snapshot *s)
{
    char text[FT_CADENCE_REASON];

    copy_text(s->stands, ft_snap_words_of(s)->stands, sizeof s->stands);
    s->job->report->ranks[s->rank].refused++;
    ft_cost_note(s);
    if (s->refusals == 1)
        ft_say_step(&s->job->say, "rank %u: no snapshot this time: %s", ft_job_rank(s->job, s->rank), ft_cadence_reason(s, text));
}

static void refused(struct ft_snapshot *s, uint32_t reason)
{
    s->refused_ns = ft_cost_stood(s);
    s->asked_ns = ft_clock_ns();
    s->refusals++;
    s->reason = reason;
    if (reason == FT_IMAGE_THREADS)
        refused_for_thread(s);
    if (s->number)
        give_up(s);
}

static const struct ft_snap_slot *oldest(const struct ft_snapshot *s)
{
    uint32_t zero = atomic_load(&s->zero), named = atomic_load(&s->named);

    return zero ? &s->slots[zero - 1] : named ? &s->slots[named - 1] : NULL;
}

/* Both logs are held for the oldest one, and the others but the newest are ended. */
static void hold(struct ft_snapshot *s)
{
    const struct ft_snap_slot *from = oldest(s);

    if (!from)
        return;
    ft_region_register(&s->job->region, s->rank, &from->at);
    ft_outcome_log_hold(ft_outcomes_of(s), from->number, from->outcome);
    ft_keeper_kick(s->job->keeper);
    for (int i = 0; i < FT_SNAP_SLOTS; i++) {
        struct ft_snap_slot *p = &s->slots[i];

        if (!p->pid || p->condemned || atomic_load(&s->named) == (uint32_t)i + 1 || p == from)
            continue;
        ft_cost_pages(s, p);
        ft_slot_condemn(s, i);
    }
}

/* Memory is used again only behind what is gone. */
static void end_zero(struct ft_snapshot *s, uint64_t most)
{
    uint32_t zero = atomic_load(&s->zero), named = atomic_load(&s->named);
    uint64_t since;

    if (!zero || !named || zero == named || ft_slot_usable(s) != (int)named - 1)
        return;
    since = ft_region_log_bytes(&s->job->region) + atomic_load(&ft_outcomes_of(s)->tail) - s->slots[zero - 1].outcome;
    if (since < most)
        return;
    atomic_store(&s->zero, 0);
    hold(s);
}

/* It waits. */
static void taken(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);
    int slot = ft_slot_free(s);
    struct ft_snap_slot *p = &s->slots[slot];

    ft_cost_begin(s);
    p->condemned = false;
    p->taken_ns = ft_clock_ns();
    p->number = s->number;
    p->at = w->at;
    p->outcome = w->outcome;
    p->done = w->done;
    p->closings = w->closings;
    p->threads = (uint32_t)ft_min(ft_max(1, ft_look(&w->threads)), INT32_MAX);
    p->unshared = 0;
    p->pid = (pid_t)ft_look(&w->pid);
    if (!ft_slot_watch(s, slot)) {
        ft_slot_forget(s, slot);
        give_up(s);
        return;
    }
    if (!w->first && ft_outcomes_went_past(s, ft_death_writes(s->job->procs[s->rank].pid))) {
        refused(s, FT_IMAGE_RECORDER);
        ft_slot_condemn(s, slot);
        return;
    }
    if (p->at.stream[0].unit < ft_region_cut(&s->job->region, s->rank)) { /* a checkpoint has overtaken it */
        give_up(s);
        ft_slot_condemn(s, slot);
        return;
    }
    ft_slot_kill_first(s, slot);
    s->live = s->job->procs[s->rank].incarnation + 1;
    s->made++;
    s->named_number = s->number;
    s->refusals = s->lost = 0;
    s->told = false;
    if (!atomic_load(&s->named) && w->early)
        atomic_store(&s->zero, (uint32_t)slot + 1);
    atomic_store(&s->named, (uint32_t)slot + 1);
    s->number = 0;
    if (s->made == 1)
        ft_say_step(&s->job->say, "rank %u has a snapshot at unit %llu, process %d", ft_job_rank(s->job, s->rank),
                      (unsigned long long)p->at.stream[0].unit, p->pid);
    hold(s);
    ft_report_cut(s->job->report, s->rank, p->taken_ns, p->at.stream[0].unit, s->last_ns);
}

/* The rank is about to exec: it waits until none is left, nor one half made. */
static void end_for_exec(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);
    uint64_t ends = ft_look(&w->ends);

    if (ends == ft_peek(&w->ended))
        return;
    drop(s);
    if (!ft_snapshots_gone(s->job, s->rank) || !ft_snapshots_clear(s->job, s->rank))
        return; /* the last one's death brings the agent's loop here again */
    ft_region_unregister(&s->job->region, s->rank);
    ft_publish(&w->ended, ends);
    ft_wake(&w->ended);
}

/* Whatever the rank, or its snapshot, has said since. */
static void look(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);

    if (s->number && ft_look(&w->refused) == s->number)
        refused(s, (uint32_t)ft_look(&w->reason));
    else if (s->number && ft_look(&w->taken) == s->number)
        taken(s);
    end_for_exec(s);
}

/* The process that was to be it died before it could say so. The first time that is bad luck. */
static void look_for_lost(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);

    if (!s->number || ft_look(&w->forked) != s->number || ft_slot_is_ours(s, half_made(s)) || ft_look(&w->taken) == s->number)
        return;
    if (s->lost++)
        refused(s, FT_IMAGE_SYSTEM);
    else
        give_up(s);
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
        refused(s, reason);
    else
        ask(s);
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
        look_for_lost(s);
        end_zero(s, ft_min(ZERO_BYTES, p->nextents * p->extent_bytes / 4));
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
        ask(s);
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

    if (s->number && ft_look(&ft_snap_words_of(s)->taken) == s->number)
        taken(s);
    if (s->number)
        give_up(s);
    ft_publish(&ft_snap_words_of(s)->want, 0); /* a copy of an older snapshot than the last one would take that for due */
}

bool ft_snapshots_clear(struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);
    pid_t pid = (pid_t)ft_look(&ft_snap_words_of(s)->pid);

    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        if (pid == s->slots[i].pid)
            return true;
    if (!pid || !ft_death_is_child(pid))
        return true;
    kill(pid, SIGKILL);
    return waitpid(pid, NULL, WNOHANG) == pid;
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

void ft_snapshots_end_zero(struct ft_job *job, uint32_t rank)
{
    end_zero(of(job, rank), 0);
}

void ft_snapshots_drop(struct ft_job *job, uint32_t rank)
{
    drop(of(job, rank));
}

void ft_snapshots_drop_all(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_snapshots_drop(job, r);
}

void ft_snapshots_forsake(struct ft_job *job, uint32_t rank, bool all)
{
    struct ft_snapshot *s = of(job, rank);
    uint32_t named = atomic_load(&s->named);

    s->forsaken = ft_region_progress(&job->region, rank) + 1;
    if (all) {
        drop(s);
    } else if (named && named != atomic_load(&s->zero)) {
        ft_slot_condemn(s, (int)named - 1);
        ft_slot_withdraw(s, (int)named - 1);
    }
}

bool ft_snapshots_closed(const struct ft_job *job, uint32_t rank)
{
    return atomic_load(&of(job, rank)->named) && ft_slot_usable(of(job, rank)) < 0;
}

const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank, char text[static FT_CADENCE_REASON])
{
    const struct ft_snapshot *s = of(job, rank);

    return s->refusals ? ft_cadence_reason(s, text) : NULL;
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

/* The dead agent was asking for one, or giving it up; had named it; or was about to, which look() does from the beginning. */
static void adopt_making(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);
    uint32_t named = atomic_load(&s->named);

    if (!s->number)
        return;
    if (ft_look(&w->want) != s->number)
        give_up(s);
    else if (ft_look(&w->taken) == s->number && named && s->slots[named - 1].pid == (pid_t)ft_look(&w->pid))
        s->number = 0;
    else if (ft_look(&w->taken) == s->number)
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            if (s->slots[i].pid == (pid_t)ft_look(&w->pid))
                ft_slot_forget(s, i);
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
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);
        uint32_t named = atomic_load(&s->named);

        adopt_making(s);
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            ft_slot_adopt(s, i);
        if (named && atomic_load(&s->named))
            hold(s);
    }
}

void ft_snapshots_look(struct ft_job *job)
{
    ft_budget_note(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        look(of(job, r));
}
