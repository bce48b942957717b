/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/slot.h"

#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/outcome/log.h"
#include "ft/shm/cut.h"
#include "launcher/base/kill.h"
#include "launcher/base/memory.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/reap.h"
#include "launcher/base/timer.h"
#include "launcher/base/usage.h"
#include "launcher/job/death.h"
#include "launcher/job/groups.h"
#include "launcher/job/job.h"
#include "launcher/job/twin.h"
#include "launcher/snap/orphans.h"

enum { FIRST = 1000 /* ft_memory_set_score */ };

struct ft_snap_words *ft_snap_words_of(const struct ft_snapshot *s)
{
    return &ft_region_rank(&s->job->region, s->rank)->snap;
}

int ft_slot_free(const struct ft_snapshot *s)
{
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        if (!s->slots[i].pid)
            return i;
    return -1;
}

void ft_slot_condemn(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (!p->pid || p->condemned)
        return;
    p->condemned = true;
    ft_kill(p->pid, p->pidfd, SIGKILL);
}

void ft_slot_withdraw(struct ft_snapshot *s, int slot)
{
    if (atomic_load(&s->zero) == (uint32_t)slot + 1)
        atomic_store(&s->zero, 0);
    if (atomic_load(&s->named) == (uint32_t)slot + 1)
        atomic_store(&s->named, atomic_load(&s->zero));
}

void ft_slot_forget(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (p->gone)
        event_free(p->gone);
    p->gone = NULL;
    if (p->pidfd >= 0)
        close(p->pidfd);
    p->pidfd = -1;
    ft_slot_withdraw(s, slot);
    p->pid = 0;
    p->condemned = false;
}

static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    struct ft_snap_slot *p = arg;
    struct ft_snapshot *s = p->of;
    pid_t pid = p->pid;
    bool named = atomic_load(&s->named) == (uint32_t)(p - s->slots) + 1;

    (void)fd;
    (void)what;
    if (!p->condemned && ft_groups_took(s->job->groups, s->rank, pid)) /* then that kill is not taken for one of the rank */
        s->oom = true;
    waitpid(pid, NULL, WNOHANG);
    if (named && !p->condemned)
        ft_say_step(&s->job->say, "rank %u has lost its snapshot (process %d)", ft_job_rank(s->job, s->rank), pid);
    ft_slot_forget(s, (int)(p - s->slots));
    ft_timer_set(s->job->again, 0); /* if its rank was to be woken, or waits until there is none, it goes on (restart.h) */
    if (!named)
        return;
    s->asked_ns = 0; /* another one, as soon as it may be */
    if (!atomic_load(&s->named))
        ft_cut_unregister(&s->job->region, s->rank); /* until then it can start over, or load its checkpoint, if no more is released */
}

/* slot + 1 */
static bool is_open(const struct ft_snapshot *s, uint32_t slot)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&s->job->region, s->rank);

    return slot && s->slots[slot - 1].closings >= (outcomes ? atomic_load(&outcomes->closings) : 0);
}

int ft_slot_usable(const struct ft_snapshot *s)
{
    uint32_t named = atomic_load(&s->named), zero = atomic_load(&s->zero);

    return (int)(is_open(s, named) ? named : is_open(s, zero) ? zero : 0) - 1;
}

bool ft_slot_has_zero(const struct ft_snapshot *s)
{
    uint32_t named = atomic_load(&s->named), zero = atomic_load(&s->zero);

    return named && zero != named && is_open(s, zero) && !ft_slot_is_dead(&s->slots[zero - 1]);
}

bool ft_slot_is_ours(const struct ft_snapshot *s, pid_t pid)
{
    struct ft_leaders leaders = ft_leaders_of(s->job);

    return pid && (ft_death_is_child(pid) || ft_reap_is_rank(&leaders, pid, s->rank));
}

void ft_slot_end(const struct ft_snapshot *s, pid_t pid)
{
    int pidfd = pid ? ft_pidfd_open(pid) : -1;

    if (ft_slot_is_ours(s, pid))
        ft_kill(pid, pidfd, SIGKILL);
    if (pidfd >= 0)
        close(pidfd);
}

bool ft_slot_is_dead(const struct ft_snap_slot *slot)
{
    struct pollfd p = {.fd = slot->pidfd, .events = POLLIN};

    return p.fd < 0 || poll(&p, 1, 0) > 0;
}

/* Not by the snapshot's own hand: its descriptors are the rank's. */
void ft_slot_kill_first(struct ft_snapshot *s, int slot)
{
    s->score = ft_memory_score(s->job->procs[s->rank].pid, s->made ? s->score : ft_memory_score(getpid(), 0));
    ft_memory_set_score(s->slots[slot].pid, FIRST);
}

void ft_slot_spare(const struct ft_job *job, uint32_t rank, pid_t pid)
{
    ft_memory_set_score(pid, job->snapshots->ranks[rank].score);
}

bool ft_slot_watch(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    p->of = s;
    p->pidfd = ft_pidfd_open(p->pid);
    if (!ft_slot_is_ours(s, p->pid))
        return false;
    s->job->strangers |= !ft_death_is_child(p->pid);
    if (ft_slot_is_dead(p))
        return false;
    p->gone = event_new(s->job->base, p->pidfd, EV_READ, on_gone, p);
    if (!p->gone || event_add(p->gone, NULL) < 0) {
        ft_kill(p->pid, p->pidfd, SIGKILL);
        return false;
    }
    return true;
}

void ft_slot_adopt(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    p->condemned = false;
    if (p->pid && !ft_slot_watch(s, slot))
        ft_slot_forget(s, slot);
    else if (p->pid && atomic_load(&s->named) != (uint32_t)slot + 1 && atomic_load(&s->zero) != (uint32_t)slot + 1)
        ft_slot_condemn(s, slot);
}

/* ---- of all ranks ---- */

bool ft_slot_any(const struct ft_snapshot *s)
{
    bool any = s->number != 0;

    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        any |= s->slots[i].pid && !s->slots[i].condemned;
    return any;
}

bool ft_snapshots_gone(const struct ft_job *job, uint32_t rank)
{
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        if (job->snapshots->ranks[rank].slots[i].pid)
            return false;
    return true;
}

const pid_t *ft_snapshots_kept(const struct ft_job *job, uint32_t *n)
{
    struct ft_snapshooter *all = job->snapshots;

    *n = FT_SNAP_SLOTS * job->options->nranks;
    for (uint32_t i = 0; i < *n; i++) {
        const struct ft_snap_slot *p = &all->ranks[i / FT_SNAP_SLOTS].slots[i % FT_SNAP_SLOTS];

        all->kept[i] = p->condemned ? 0 : p->pid;
    }
    return all->kept;
}

uint64_t ft_snapshots_bytes(const struct ft_job *job)
{
    uint64_t sum = 0;
    uint32_t n;
    const pid_t *kept = ft_snapshots_kept(job, &n);

    for (uint32_t i = 0; i < n; i++)
        sum += kept[i] ? ft_usage_unshared(kept[i]) : 0;
    return sum;
}

/* Perhaps one that is being ended. */
static bool is_snapshot(const struct ft_job *job, pid_t pid)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        for (int i = 0; i < FT_SNAP_SLOTS; i++)
            if (job->snapshots->ranks[r].slots[i].pid == pid)
                return true;
    return false;
}

static void ended(void *arg, pid_t pid, int status, const struct rusage *usage)
{
    if (!is_snapshot(arg, pid)) /* those are nobody's children but the agent's */
        ft_orphans_ended(arg, pid, status, usage);
}

static bool has(void *arg, uint32_t rank, pid_t pid)
{
    const struct ft_job *job = arg;
    struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    return outcomes && ft_outcome_child(outcomes, pid);
}

struct ft_leaders ft_leaders_of(const struct ft_job *job)
{
    struct ft_leaders leaders = {.pids = job->leaders, .n = job->options->nranks, .other = ft_twin_pid(job->twin),
                                 .job = job->options->job_id, .strangers = job->strangers,
                                 .has = has, .ended = ended, .arg = (void *)(uintptr_t)job};

    if (job->options->node)
        leaders.ranks = job->options->node->rank_at + job->options->node->first[job->options->node->node];
    leaders.kept = ft_snapshots_kept(job, &leaders.nkept);
    return leaders;
}
