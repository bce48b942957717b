/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/steps.h"

#include <signal.h>
#include <sys/wait.h>

#include "ft/base/util.h"
#include "ft/shm/cut.h"
#include "ft/shm/wait.h"
#include "ft/snap/image.h"
#include "launcher/job/death.h"
#include "launcher/job/job.h"
#include "launcher/snap/cadence.h"
#include "launcher/snap/cost.h"
#include "launcher/snap/outcomes.h"

void ft_steps_ask(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);

    s->asked_ns = ft_clock_ns();
    atomic_store(&w->pid, 0); /* nobody else writes it now */
    s->number = ++s->numbers;
    ft_publish(&w->want, s->number);
    ft_doorbells_tell_rank(&s->job->region, s->rank); /* it may wait for the agent: then it makes one now */
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

void ft_steps_drop(struct ft_snapshot *s)
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

void ft_steps_refuse(struct ft_snapshot *s, uint32_t reason)
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
    ft_cut_register(&s->job->region, s->rank, &from->at);
    ft_outcome_log_hold(ft_outcomes_of(s), from->number, from->at.outcomes.end);
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
void ft_steps_end_zero(struct ft_snapshot *s, uint64_t least)
{
    uint32_t zero = atomic_load(&s->zero), named = atomic_load(&s->named);
    uint64_t since;

    if (!zero || !named || zero == named || ft_slot_usable(s) != (int)named - 1)
        return;
    since = ft_region_log_bytes(&s->job->region) + atomic_load(&ft_outcomes_of(s)->tail) - s->slots[zero - 1].at.outcomes.end;
    if (since < least)
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
        ft_steps_refuse(s, FT_IMAGE_RECORDER);
        ft_slot_condemn(s, slot);
        return;
    }
    if (ft_cut_is_after(&s->job->region, s->rank, &p->at)) { /* a checkpoint has overtaken it */
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
                      (unsigned long long)ft_position_in(&p->at, 0).unit, p->pid);
    hold(s);
    ft_report_cut(s->job->report, s->rank, p->taken_ns, ft_position_in(&p->at, 0).unit, s->last_ns);
}

bool ft_steps_clear(const struct ft_snapshot *s)
{
    pid_t pid = (pid_t)ft_look(&ft_snap_words_of(s)->pid);

    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        if (pid == s->slots[i].pid)
            return true;
    if (!pid || !ft_death_is_child(pid))
        return true;
    kill(pid, SIGKILL);
    return waitpid(pid, NULL, WNOHANG) == pid;
}

/* The rank is about to exec: it waits until none is left, nor one half made. */
static void end_for_exec(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);
    uint64_t ends = ft_look(&w->ends);

    if (ends == ft_peek(&w->ended))
        return;
    ft_steps_drop(s);
    if (!ft_snapshots_gone(s->job, s->rank) || !ft_steps_clear(s))
        return; /* the last one's death brings the agent's loop here again */
    ft_cut_unregister(&s->job->region, s->rank);
    ft_publish(&w->ended, ends);
    ft_wake(&w->ended);
}

void ft_steps_look(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);

    if (s->number && ft_look(&w->refused) == s->number)
        ft_steps_refuse(s, (uint32_t)ft_look(&w->reason));
    else if (s->number && ft_look(&w->taken) == s->number)
        taken(s);
    end_for_exec(s);
}

/* The first time that is bad luck. */
void ft_steps_look_for_lost(struct ft_snapshot *s)
{
    const struct ft_snap_words *w = ft_snap_words_of(s);

    if (!s->number || ft_look(&w->forked) != s->number || ft_slot_is_ours(s, half_made(s)) || ft_look(&w->taken) == s->number)
        return;
    if (s->lost++)
        ft_steps_refuse(s, FT_IMAGE_SYSTEM);
    else
        give_up(s);
}

void ft_steps_buried(struct ft_snapshot *s)
{
    struct ft_snap_words *w = ft_snap_words_of(s);

    if (s->number && ft_look(&w->taken) == s->number)
        taken(s);
    if (s->number)
        give_up(s);
    ft_publish(&w->want, 0); /* a copy of an older snapshot than the last one would take that for due */
}

bool ft_steps_forsake(struct ft_snapshot *s, bool all)
{
    int named = (int)atomic_load(&s->named) - 1;
    bool has = all ? ft_slot_any(s) : ft_slot_has_zero(s);

    if (all) {
        s->forsaken = ft_region_progress(&s->job->region, s->rank) + 1;
        ft_steps_drop(s);
    } else if (has) {
        ft_slot_condemn(s, named);
        ft_slot_withdraw(s, named);
    }
    return has;
}

/* ---- a successor of the agent ---- */

/* The dead agent was asking for one, or giving it up; had named it; or was about to, which ft_steps_look does from the beginning. */
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

void ft_steps_adopt(struct ft_snapshot *s)
{
    uint32_t named = atomic_load(&s->named);

    adopt_making(s);
    for (int i = 0; i < FT_SNAP_SLOTS; i++)
        ft_slot_adopt(s, i);
    if (named && atomic_load(&s->named))
        hold(s);
}
