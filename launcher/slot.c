/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/slot.h"

#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/death.h"
#include "launcher/job.h"
#include "launcher/ranks.h"
#include "launcher/reap.h"
#include "launcher/snapshot.h"

void ft_slot_condemn(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (!p->pid || p->condemned)
        return;
    p->condemned = true;
    kill(p->pid, SIGKILL);
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
    if (atomic_load(&s->named) == (uint32_t)slot + 1)
        atomic_store(&s->named, 0);
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
    waitpid(pid, NULL, WNOHANG);
    if (named && !p->condemned)
        ft_say_detail(&s->job->say, "rank %u has lost its snapshot (process %d)", s->rank, pid);
    ft_slot_forget(s, (int)(p - s->slots));
    if (!named)
        return;
    s->asked_ns = 0; /* another one, as soon as it may be */
    if (ft_region_whole(&s->job->region))
        ft_region_unregister(&s->job->region, s->rank); /* until then it can start over, if no more is released */
    ft_ranks_unwakable(s->job, s->rank);
}

bool ft_slot_is_ours(const struct ft_snapshot *s, pid_t pid)
{
    struct ft_leaders leaders = ft_job_leaders(s->job);

    return pid && (ft_death_is_child(pid) || ft_reap_is_rank(&leaders, pid, s->rank));
}

bool ft_slot_is_dead(const struct ft_snap_slot *slot)
{
    struct pollfd p = {.fd = slot->pidfd, .events = POLLIN};

    return p.fd < 0 || poll(&p, 1, 0) > 0;
}

bool ft_slot_watch(struct ft_snapshot *s, int slot)
{
    struct ft_snap_slot *p = &s->slots[slot];

    if (!ft_slot_is_ours(s, p->pid))
        return false;
    s->job->strangers |= !ft_death_is_child(p->pid);
    p->of = s;
    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (ft_slot_is_dead(p))
        return false;
    p->gone = event_new(s->job->base, p->pidfd, EV_READ, on_gone, p);
    if (!p->gone || event_add(p->gone, NULL) < 0) {
        kill(p->pid, SIGKILL);
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
    else if (p->pid && atomic_load(&s->named) != (uint32_t)slot + 1)
        ft_slot_condemn(s, slot);
}
