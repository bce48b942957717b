/* SPDX-License-Identifier: BSD-3-Clause */
/* One state machine in one file, though it is just too long: what becomes of a rank's snapshot, from when it is asked for until it is named, refused, given up,
   used or dropped, also by a successor of this agent. When one is due is cadence.c's, its processes are slot.c's. */
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
#include "launcher/base/limits.h"
#include "launcher/base/shared.h"
#include "launcher/base/usage.h"
#include "launcher/job/death.h"
#include "launcher/job/job.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/slot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"

enum {
    TICK_MS = 50,                /* or less, if snapshots are wanted more often */
    WAKE_TRIES = 200             /* to fork, one each time that ranks.c looks: some seconds */
};

static struct ft_snapshot *of(const struct ft_job *job, uint32_t rank)
{
    return &job->snapshots->ranks[rank];
}

static struct ft_snap_words *words_of(const struct ft_snapshot *s)
{
    return &ft_region_rank(&s->job->region, s->rank)->snap;
}

/* The slot that is not named. */
static int other_slot(const struct ft_snapshot *s)
{
    return atomic_load(&s->named) == 1 ? 1 : 0;
}

/* Copied pages are paid for by who writes first: the rank, for the most part. Counted when the snapshot ends, or is replaced: by its page
   faults, which new memory has, too, if they can be little; else by what the snapshot has for itself, which takes as long to find out as
   to fork (16 MiB: 0.36 ms). */
static void count_pages(struct ft_snapshot *s, const struct ft_snap_slot *p)
{
    uint64_t page_ns = ft_peek(&words_of(s)->page_ns), most = ft_peek(&words_of(s)->faults) * page_ns;

    if (most > s->last_ns / 2)
        most = ft_min(most, ft_usage_unshared(p->pid) / (uint64_t)sysconf(_SC_PAGESIZE) * page_ns);
    s->last_ns += most;
}

/* ---- making one ---- */

static void ask(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);

    s->asked_ns = ft_clock_ns();
    atomic_store(&w->pid, 0); /* nobody else writes it now */
    s->number = ++s->numbers;
    ft_publish(&w->want, s->number);
}

/* The process that is to become the snapshot, as far as it is known: by its own word or by the rank's. */
static pid_t half_made(const struct ft_snapshot *s)
{
    const struct ft_snap_words *w = words_of(s);
    pid_t pid = (pid_t)ft_look(&w->pid);

    return pid ? pid : ft_look(&w->forked) == s->number ? (pid_t)ft_peek(&w->child) : 0;
}

/* A fork that has been made and did not get as far as to be seen ends itself: it looks at `want` after it has said `taken`. */
static void give_up(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);
    pid_t pid;

    ft_announce(&w->want, 0);
    pid = half_made(s);
    if (ft_slot_is_ours(s, pid))
        kill(pid, SIGKILL);
    s->number = 0;
    ft_wake(&w->go);
}

static void count_stood(struct ft_snapshot *s)
{
    uint64_t stood = ft_look(&words_of(s)->stood_ns);

    if (stood < s->stood_ns)
        s->stood_ns = 0; /* everything was made new */
    s->last_ns += stood - s->stood_ns;
    s->stood_ns = stood;
}

static void refused(struct ft_snapshot *s, uint32_t reason)
{
    count_stood(s);
    s->asked_ns = ft_clock_ns();
    s->refusals++;
    s->reason = reason;
    if (s->number)
        give_up(s);
}

static bool takes_input(const struct ft_snapshot *s)
{
    return s->rank == s->job->options->stdin_rank && s->job->input;
}

/* The rank stands still. */
static void let_go(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);
    int slot = other_slot(s);

    if (!ft_output_mark(s->job->output, s->rank, slot)) {
        refused(s, FT_IMAGE_LINE);
        return;
    }
    if (takes_input(s) && !ft_input_mark(s->job->input, s->job->procs[s->rank].pid, slot)) {
        refused(s, FT_IMAGE_SYSTEM);
        return;
    }
    s->slots[slot].at = w->at;
    ft_publish(&w->go, s->number);
    ft_wake(&w->go);
}

static void name(struct ft_snapshot *s, int slot)
{
    ft_region_register(&s->job->region, s->rank, &s->slots[slot].at);
    ft_keeper_kick(s->job->keeper);
    if (s->slots[1 - slot].pid) {
        if (!s->slots[1 - slot].condemned)
            count_pages(s, &s->slots[1 - slot]);
        ft_slot_condemn(s, 1 - slot);
    }
}

/* It waits. */
static void taken(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);
    int slot = other_slot(s);
    struct ft_snap_slot *p = &s->slots[slot];

    s->last_ns = 0;
    count_stood(s);
    p->condemned = false;
    p->taken_ns = ft_clock_ns();
    p->pid = (pid_t)ft_look(&w->pid);
    if (!ft_slot_watch(s, slot)) {
        ft_slot_forget(s, slot);
        give_up(s);
        return;
    }
    if (p->at.stream[0].unit < ft_region_cut(&s->job->region, s->rank)) { /* a checkpoint has overtaken it */
        give_up(s);
        ft_slot_condemn(s, slot);
        return;
    }
    s->made++;
    s->named_number = s->number;
    s->refusals = s->lost = 0;
    s->told = false;
    atomic_store(&s->named, (uint32_t)slot + 1);
    s->number = 0;
    if (s->made == 1)
        ft_say_detail(&s->job->say, "rank %u has a snapshot at unit %llu, process %d", ft_job_rank(s->job, s->rank),
                      (unsigned long long)p->at.stream[0].unit, p->pid);
    name(s, slot);
    ft_report_cut(s->job->report, s->rank, p->taken_ns, p->at.stream[0].unit, s->last_ns);
}

/* Whatever the rank, or its snapshot, has said since. */
static void look(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = words_of(s);

    if (s->number && ft_look(&w->refused) == s->number)
        refused(s, (uint32_t)ft_look(&w->reason));
    else if (s->number && ft_look(&w->taken) == s->number)
        taken(s);
    else if (s->number && ft_look(&w->ready) == s->number && ft_look(&w->go) != s->number)
        let_go(s);
}

/* The process that was to be it died before it could say so. The first time that is bad luck. */
static void look_for_lost(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = words_of(s);

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
    const struct ft_job *job = s->job;

    return ft_proc_phase(&job->procs[s->rank]) == FT_PROC_RUNNING && !s->number && !s->slots[other_slot(s)].pid &&
           ft_look32(&ft_region_rank(&job->region, s->rank)->state) == FT_RANK_ATTACHED;
}

/* A snapshot becomes its rank's parent's child: that must be us. */
static bool is_leader(const struct ft_snapshot *s)
{
    return ft_look32(&ft_region_rank(&s->job->region, s->rank)->attached_pid) == (uint32_t)s->job->procs[s->rank].pid;
}

/* Rather none than the OOM killer. Looked at once in a second. */
static bool has_room(struct ft_job *job, uint64_t now)
{
    struct ft_snapshooter *all = job->snapshots;
    uint64_t sum = 0;

    if (now - all->looked_ns < 1000000000)
        return all->room;
    for (uint32_t r = 0; r < job->options->nranks; r++)
        sum += job->leaders[r] ? ft_usage_tree(job->leaders[r]) : 0;
    all->room = sum <= ft_limits_memory();
    all->looked_ns = now;
    return all->room;
}

static bool try(struct ft_snapshot *s, uint64_t now)
{
    if (!is_leader(s))
        refused(s, FT_IMAGE_WRAPPER);
    else if (!has_room(s->job, now))
        refused(s, FT_IMAGE_MEMORY);
    else
        ask(s);
    return s->number != 0;
}

static bool is_on(const struct ft_job *job) { return job->options->snapshot_ms && job->options->max_restarts; }

uint64_t ft_snapshots_tick_ms(const struct ft_job *job)
{
    return is_on(job) ? ft_min(TICK_MS, ft_max(1, job->options->snapshot_ms)) : 0;
}

void ft_snapshots_tick(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;
    uint64_t now = ft_clock_ns();

    if (ft_cadence_round(job, all->ranks, now - all->round_ns))
        all->round_ns = now;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);

        look_for_lost(s);
        if (can_be_asked(s) && ft_cadence_due(s, all->round_ns, now))
            try(s, now);
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
        s->requested = s->number || try(s, ft_clock_ns()) ? s->number : 0;
        s->request = number;
    }
    *has = s->requested && s->named_number == s->requested;
    return *has || !s->requested || s->number != s->requested;
}

/* ---- what ranks.c wants to know ---- */

void ft_snapshots_buried(struct ft_job *job, uint32_t rank)
{
    struct ft_snapshot *s = of(job, rank);

    if (s->number && ft_look(&words_of(s)->taken) == s->number)
        taken(s);
    if (s->number)
        give_up(s);
}

bool ft_snapshots_clear(struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);
    pid_t pid = (pid_t)ft_look(&words_of(s)->pid);

    if (!pid || pid == s->slots[0].pid || pid == s->slots[1].pid || !ft_death_is_child(pid))
        return true;
    kill(pid, SIGKILL);
    return waitpid(pid, NULL, WNOHANG) == pid;
}

bool ft_snapshots_usable(const struct ft_job *job, uint32_t rank)
{
    return atomic_load(&of(job, rank)->named) != 0;
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

const struct ft_snap_slot *ft_snapshots_named(const struct ft_job *job, uint32_t rank, int *mark)
{
    const struct ft_snapshot *s = of(job, rank);

    *mark = (int)atomic_load(&s->named) - 1;
    return *mark < 0 ? NULL : &s->slots[*mark];
}

void ft_snapshots_drop(struct ft_job *job, uint32_t rank)
{
    struct ft_snapshot *s = of(job, rank);

    if (s->number)
        give_up(s);
    ft_announce(&words_of(s)->want, 0); /* the next process of this rank has not been asked for anything */
    atomic_store(&s->named, 0);
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        ft_slot_condemn(s, i);
}

void ft_snapshots_drop_all(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_snapshots_drop(job, r);
}

const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);

    return s->refusals ? ft_cadence_reason(s) : NULL;
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
    if (all->bell < 0 || !all->ranks || !all->kept)
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
    const struct ft_snap_words *w = words_of(s);
    uint32_t named = atomic_load(&s->named);

    if (!s->number)
        return;
    if (ft_look(&w->want) != s->number)
        give_up(s);
    else if (ft_look(&w->taken) == s->number && named && s->slots[named - 1].pid == (pid_t)ft_look(&w->pid))
        s->number = 0;
    else if (ft_look(&w->taken) == s->number)
        ft_slot_forget(s, other_slot(s));
}

void ft_snapshots_adopt(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);
        uint32_t named = atomic_load(&s->named);

        adopt_making(s);
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            ft_slot_adopt(s, i);
        if (named && atomic_load(&s->named))
            name(s, (int)named - 1);
    }
}

void ft_snapshots_look(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        look(of(job, r));
}
