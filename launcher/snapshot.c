/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snapshot.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "ft/snap/image.h"
#include "launcher/death.h"
#include "launcher/input.h"
#include "launcher/job.h"
#include "launcher/output.h"
#include "launcher/ranks.h"
#include "launcher/reap.h"
#include "launcher/shared.h"
#include "launcher/usage.h"

/* When: --snapshot auto keeps to a hundredth of a rank's time, or a twentieth while the log is short of memory. */
enum {
    TICK_US = 50000,
    SHARE = 100, SHARE_SHORT = 20,
    SOON_MS = 1000,              /* not before, without a need */
    LOG_BYTES = 64 << 20,        /* a need: so much was logged since */
    PAGE_NS = 1900,              /* of a page written for the first time after a fork */
    REFUSED_MS = 1000, REFUSED_MOST_MS = 10000,
    TELL_AFTER = 3,              /* refusals in a row */
    WAKE_TRIES = 200             /* to fork, one each time that ranks.c looks: some seconds */
};

struct ft_snapshooter {
    int bell;
    struct ft_snapshot *ranks;   /* in shared memory */
    struct event *rung, *tick;
    pid_t *kept;                 /* by rank and slot */
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

/* ---- processes ---- */

static void note_kept(const struct ft_snapshot *s, int slot)
{
    const struct ft_snap_slot *p = &s->slots[slot];

    s->job->snapshots->kept[FT_SNAP_SLOTS * s->rank + (uint32_t)slot] = p->condemned ? 0 : p->pid;
}

static uint64_t log_bytes_of(const struct ft_snapshot *s)
{
    return ft_region_log_bytes(&s->job->region) - s->slots[atomic_load(&s->named) - 1].at.stream[0].end;
}

/* Copied pages are paid for by who writes first: the rank, for the most part. Counted when the snapshot ends, or is replaced. */
static void count_pages(struct ft_snapshot *s, const struct ft_snap_slot *p)
{
    uint64_t ns = ft_usage_unshared(p->pid) / (uint64_t)sysconf(_SC_PAGESIZE) * PAGE_NS;

    s->cost_ns += ns;
    s->last_ns += ns;
}

static void condemn(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (!p->pid || p->condemned)
        return;
    p->condemned = true;
    note_kept(s, slot);
    kill(p->pid, SIGKILL);
}

static void forget_slot(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (p->gone)
        event_free(p->gone);
    p->gone = NULL;
    if (p->pidfd >= 0)
        close(p->pidfd);
    p->pidfd = -1;
    if (atomic_load(&s->named) == (uint32_t)slot + 1)
        atomic_store(&s->named, 0);
    p->pid = 0;
    p->condemned = false;
    note_kept(s, slot);
}

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    struct ft_snap_slot *p = arg;
    struct ft_snapshot *s = p->of;
    pid_t pid = p->pid;
    bool named = atomic_load(&s->named) == (uint32_t)(p - s->slots) + 1;

    (void)fd;
    (void)what;
    waitpid(pid, NULL, WNOHANG);
    if (named && !p->condemned)
        ft_say_detail(&s->job->say, "rank %u has lost its snapshot (process %d)", s->rank, pid);
    forget_slot(s, (int)(p - s->slots));
    if (!named)
        return;
    s->asked_ns = 0; /* another one, as soon as it may be */
    if (ft_region_whole(&s->job->region))
        ft_region_unregister(&s->job->region, s->rank); /* until then it can start over, if no more is released */
    ft_ranks_unwakable(s->job, s->rank);
}

/* Watches the process of a slot; false if it is dead already, or another one's. */
static bool watch_slot(struct ft_snapshot *s, int slot)
{
    struct ft_leaders leaders = ft_job_leaders(s->job);
    struct ft_snap_slot *p = &s->slots[slot];

    if (!ft_death_is_child(p->pid) && !ft_reap_is_rank(&leaders, p->pid, s->rank))
        return false;
    p->of = s;
    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->pidfd < 0)
        return false;
    p->gone = event_new(s->job->base, p->pidfd, EV_READ, on_gone, p);
    if (!p->gone || event_add(p->gone, NULL) < 0) {
        kill(p->pid, SIGKILL);
        return false;
    }
    note_kept(s, slot);
    return true;
}

/* ---- making one ---- */

static void ask(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);

    s->asked_ns = ft_job_now();
    atomic_store(&w->pid, 0); /* nobody else writes it now */
    s->number = ++s->numbers;
    ft_publish(&w->want, s->number);
}

/* A fork that has been made and did not get as far as to be seen ends itself: it looks at `want` after it has said `taken`. */
static void give_up(struct ft_snapshot *s)
{
    struct ft_snap_words *w = words_of(s);
    uint64_t number = s->number;

    ft_announce(&w->want, 0);
    if (ft_ask(&w->taken) == number && ft_death_is_child((pid_t)ft_look(&w->pid)))
        kill((pid_t)ft_look(&w->pid), SIGKILL);
    s->number = 0;
    ft_wake(&w->go);
}

static void count_stood(struct ft_snapshot *s)
{
    uint64_t stood = ft_look(&words_of(s)->stood_ns);

    if (stood < s->stood_ns)
        s->stood_ns = 0; /* everything was made new */
    s->cost_ns += stood - s->stood_ns;
    s->last_ns += stood - s->stood_ns;
    s->stood_ns = stood;
}

static void refused(struct ft_snapshot *s, uint32_t reason)
{
    count_stood(s);
    s->asked_ns = ft_job_now();
    s->refused++;
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
        condemn(s, 1 - slot);
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
    p->taken_ns = ft_job_now();
    p->pid = (pid_t)ft_look(&w->pid);
    if (!watch_slot(s, slot)) {
        forget_slot(s, slot);
        give_up(s);
        return;
    }
    s->made++;
    s->refusals = 0;
    s->told = false;
    atomic_store(&s->named, (uint32_t)slot + 1);
    s->number = 0;
    if (s->made == 1)
        ft_say_detail(&s->job->say, "rank %u has a snapshot at unit %llu, process %d", s->rank, (unsigned long long)p->at.stream[0].unit, p->pid);
    ft_report_cut(s->job->report, s->rank, p->taken_ns, p->at.stream[0].unit, s->last_ns);
    name(s, slot);
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
    ft_ranks_copied(s->job, s->rank);
}

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    uint64_t rings;

    (void)what;
    if (read(fd, &rings, sizeof rings) < 0)
        return;
    ft_snapshots_look(arg);
}

/* ---- when ---- */

static uint64_t refused_ms(const struct ft_snapshot *s)
{
    return ft_min(REFUSED_MOST_MS, (uint64_t)REFUSED_MS << ft_min(s->refusals, 8));
}

static bool short_of_memory(const struct ft_job *job)
{
    const struct ft_params *p = &job->region.header->params;

    return ft_region_log_bytes(&job->region) - ft_region_released_bytes(&job->region) > p->nextents * p->extent_bytes / 2;
}

static bool is_due(const struct ft_snapshot *s, uint64_t now)
{
    const struct ft_job *job = s->job;
    uint64_t every = job->options->snapshot_ms;
    uint64_t began = atomic_load_explicit(&ft_region_rank(&job->region, s->rank)->started_ns, memory_order_relaxed);
    uint64_t since = now - ft_max(began, s->asked_ns), share = short_of_memory(job) ? SHARE_SHORT : SHARE;

    if (s->refusals && since < refused_ms(s) * 1000000)
        return false;
    if (every != FT_SNAPSHOT_AUTO)
        return since >= every * 1000000;
    if ((s->cost_ns + s->last_ns) * share > now - job->deadlines->begin_ns && s->made)
        return false;
    return since >= SOON_MS * 1000000ull || (atomic_load(&s->named) && log_bytes_of(s) >= LOG_BYTES);
}

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

static const char *const reasons[] = {
    [FT_IMAGE_THREADS] = "it has more than one thread",
    [FT_IMAGE_CHILDREN] = "it has child processes",
    [FT_IMAGE_DESCRIPTOR] = "it has pipes, sockets or the like of its own",
    [FT_IMAGE_READ_WRITE] = "it both reads and writes a file",
    [FT_IMAGE_LOCK] = "it holds a lock on a file",
    [FT_IMAGE_MAPPING] = "it shares memory with others",
    [FT_IMAGE_TIMERS] = "it has timers of timer_create()",
    [FT_IMAGE_WRAPPER] = "it is not the process that ftrun started, but a child of that",
    [FT_IMAGE_SYSTEM] = "the system does not let it",
    [FT_IMAGE_LINE] = "it is in the middle of a long line of output",
};

static const char *reason_text(uint32_t reason)
{
    return reason < sizeof reasons / sizeof reasons[0] && reasons[reason] ? reasons[reason] : "unknown";
}

/* Ranks with the same reason in one line. */
static void tell(const struct ft_job *job, uint32_t first)
{
    struct ft_snapshot *s = of(job, first);
    char others[64] = "";
    uint32_t more = 0;

    for (uint32_t r = first; r < job->options->nranks; r++) {
        struct ft_snapshot *o = of(job, r);

        if (o->refusals < TELL_AFTER || o->told || o->reason != s->reason || !atomic_load(&o->named) != !atomic_load(&s->named))
            continue;
        o->told = true;
        more += r != first;
    }
    if (more)
        snprintf(others, sizeof others, " (and %u other ranks)", more);
    ft_say_notice(&job->say, "rank %u%s gets no %ssnapshot: %s; if it is killed it %s", first, others, atomic_load(&s->named) ? "newer " : "",
                  reason_text(s->reason), atomic_load(&s->named) ? "goes on from the one it has" : "replays from the start");
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct ft_job *job = arg;
    uint64_t now = ft_job_now();

    (void)fd;
    (void)what;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);

        if (!can_be_asked(s) || !is_due(s, now))
            continue;
        if (is_leader(s))
            ask(s);
        else
            refused(s, FT_IMAGE_WRAPPER);
    }
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (of(job, r)->refusals >= TELL_AFTER && !of(job, r)->told)
            tell(job, r);
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
        ft_say_notice(&job->say, "rank %u: its snapshot cannot fork (no memory, or too many processes); it is tried again", rank);
    if (s->tries > WAKE_TRIES)
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
    atomic_store(&s->named, 0);
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        condemn(s, i);
}

void ft_snapshots_drop_all(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_snapshots_drop(job, r);
}

bool ft_snapshots_gone(const struct ft_job *job, uint32_t rank)
{
    return !of(job, rank)->slots[0].pid && !of(job, rank)->slots[1].pid;
}

const pid_t *ft_snapshots_kept(const struct ft_job *job, uint32_t *n)
{
    *n = FT_SNAP_SLOTS * job->options->nranks;
    return job->snapshots->kept;
}

uint64_t ft_snapshots_bytes(const struct ft_job *job)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < FT_SNAP_SLOTS * job->options->nranks; i++)
        if (job->snapshots->kept[i])
            sum += ft_usage_unshared(job->snapshots->kept[i]);
    return sum;
}

const char *ft_snapshots_reason(const struct ft_job *job, uint32_t rank)
{
    const struct ft_snapshot *s = of(job, rank);

    return s->refusals ? reason_text(s->reason) : NULL;
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

int ft_snapshots_watch(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;
    struct timeval tick = {.tv_usec = TICK_US};

    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++) {
            struct ft_snap_slot *p = &all->ranks[r].slots[i];

            p->pidfd = -1;
            p->gone = NULL;
            all->kept[FT_SNAP_SLOTS * r + (uint32_t)i] = 0;
        }
    all->rung = event_new(job->base, all->bell, EV_READ | EV_PERSIST, on_bell, job);
    all->tick = event_new(job->base, -1, EV_PERSIST, on_tick, job);
    if (!all->rung || !all->tick || event_add(all->rung, NULL) < 0)
        return -1;
    return job->options->snapshot_ms && job->options->max_restarts ? event_add(all->tick, &tick) : 0;
}

/* The ranks are dead or not ours any more. */
void ft_snapshots_unwatch(struct ft_job *job)
{
    struct ft_snapshooter *all = job->snapshots;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            if (all->ranks[r].slots[i].gone)
                forget_slot(&all->ranks[r], i);
    if (all->rung)
        event_free(all->rung);
    if (all->tick)
        event_free(all->tick);
    all->rung = all->tick = NULL;
}

/* A slot without the number of a living process is empty. What is neither named nor being made is being ended. */
static void adopt_slot(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    p->condemned = false;
    if (p->pid && !watch_slot(s, slot))
        forget_slot(s, slot);
    else if (p->pid && atomic_load(&s->named) != (uint32_t)slot + 1)
        condemn(s, slot);
}

void ft_snapshots_adopt(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_snapshot *s = of(job, r);
        uint32_t named = atomic_load(&s->named);

        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            adopt_slot(s, i);
        if (named && atomic_load(&s->named))
            name(s, (int)named - 1);
    }
}

void ft_snapshots_look(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        look(of(job, r));
}
