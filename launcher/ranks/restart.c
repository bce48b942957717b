/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/restart.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/channels.h"
#include "ft/shm/cut.h"
#include "ft/shm/wait.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/reap.h"
#include "launcher/job/death.h"
#include "launcher/job/job.h"
#include "launcher/ranks/check.h"
#include "launcher/ranks/ranks.h"
#include "launcher/snap/cut.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"

enum { AGAIN_MS = 10, STUCK_MS = 5000 };

/* ---- a rank is to be started again ---- */

/* It may be done a second time: after a takeover. */
static void note_death(struct ft_job *job, const struct ft_proc *proc, struct ft_restart *restart)
{
    if (!restart || restart->died_ns != proc->died_ns) {
        job->report->ranks[proc->rank].restarts++;
        job->report->ranks[proc->rank].away = true;
        restart = ft_report_restart(job->report);
    }
    if (restart)
        *restart = (struct ft_restart){.rank = proc->rank, .pid = proc->pid, .signal = proc->signal, .code = proc->code,
                                       .lost = proc->lost, .seen_ns = proc->seen_ns, .died_ns = proc->died_ns};
}

void ft_restart_rank(struct ft_job *job, uint32_t rank, uint64_t number)
{
    struct ft_proc *proc = &job->procs[rank];
    struct ft_restart *restart = ft_report_last(job->report, rank);

    ft_ranks_note_recovery(job, rank); /* from the death before this one: its successor will say other things */
    proc->stuck_told = false;
    proc->closed |= ft_snapshots_closed(job, rank);
    proc->restart = number;
    if (proc->astray && !proc->check.on)
        ft_report_astray(job->report, rank, proc->died_ns);
    else if (ft_check_is(job, rank))
        ft_check_died(job, rank);
    else if (!proc->astray) {
        ft_check_left(job, rank);
        note_death(job, proc, restart);
    }
    ft_proc_enter(proc, FT_PROC_CLEARING);
}

void ft_restart_cancel(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) == FT_PROC_CLEARING || ft_proc_phase(&job->procs[r]) == FT_PROC_WAKING) {
            ft_snapshots_drop(job, r);
            ft_proc_enter(&job->procs[r], FT_PROC_RETIRED); /* what is left of its tree goes with everything else: sweep.c */
        }
}

static bool has_way_back(const struct ft_job *job, uint32_t rank)
{
    return ft_snapshots_usable(job, rank) && ft_cut_reaches(&job->region, rank);
}

/* Invariant 5: the whole tree of the old incarnation is dead before the new one starts. But for who goes on where it was: to that its children
   are the outside world. */
static bool is_clear(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];
    struct ft_leaders leaders = ft_leaders_of(job);
    pid_t one = 0, group = proc->pid ? proc->pid : -1; /* none: the agent died before there was a process */

    if (!ft_policy_gathers(job->policy) && has_way_back(job, rank))
        return ft_snapshots_clear(job, rank);
    if (!ft_reap_signal(&leaders, rank, group, SIGKILL, &one) && ft_snapshots_clear(job, rank))
        return true;
    if (!proc->stuck_told && ft_clock_ns() - proc->died_ns > STUCK_MS * 1000000ull) {
        proc->stuck_told = true;
        ft_say(&job->say, "rank %u: process %d of its killed predecessor does not die; its restart waits for that", ft_job_rank(job, rank), one);
    }
    return false;
}

/* ---- its way back ---- */

static void tell_restart(struct ft_job *job, const struct ft_proc *proc, const char *how)
{
    const char *closed = proc->closed ? ft_outcomes_closed(job, proc->rank) : NULL;
    uint64_t most = job->options->max_restarts;
    char of[64] = "", from[64] = "", why[FT_OUTCOME_WHY + 32] = "";

    if (proc->way == FT_BACK_CHECKPOINT)
        snprintf(from, sizeof from, " from checkpoint %llu", (unsigned long long)ft_cuts_version(job, proc->rank));
    if (most != UINT64_MAX)
        snprintf(of, sizeof of, ", %llu of %llu for the job", (unsigned long long)ft_policy_restarts(job->policy),
                 (unsigned long long)most);
    if (closed && proc->way == FT_BACK_START)
        snprintf(why, sizeof why, " (not from a snapshot: %s)", closed);
    ft_say_notice(&job->say, "rank %u (pid %d, host %s) %s; restarted%s, restart %llu%s%s", ft_job_rank(job, proc->rank), proc->before,
                  ft_say_host(), how, proc->way == FT_BACK_SNAPSHOT ? " from its snapshot" : from, (unsigned long long)proc->restart, of, why);
}

/* After an older snapshot, or none, another try: its death has been told. */
static void tell_other_way(const struct ft_job *job, const struct ft_proc *proc)
{
    char from[64] = "its beginning";

    if (proc->way == FT_BACK_CHECKPOINT)
        snprintf(from, sizeof from, "checkpoint %llu", (unsigned long long)ft_cuts_version(job, proc->rank));
    ft_say_notice(&job->say, "rank %u (pid %d, host %s) is restarted another way, from %s", ft_job_rank(job, proc->rank), proc->pid, ft_say_host(),
                  proc->way == FT_BACK_SNAPSHOT ? "an older snapshot" : from);
}

/* An incarnation after the first one runs. */
static void note_restart(struct ft_job *job, struct ft_proc *proc, const char *how)
{
    ft_check_back(job, proc->rank);
    ft_report_started(job->report, proc->rank, proc->way, proc->started_ns);
    if (proc->way == FT_BACK_ALL) /* of that, one line is enough */
        return;
    if (proc->astray == FT_ASTRAY_GIVEN_UP)
        tell_other_way(job, proc);
    else if (proc->restart && !proc->astray && !proc->check.on)
        tell_restart(job, proc, how);
    proc->closed = false;
}

/* It would do other things from its beginning, and no checkpoint of its own is there for that. True: said, and the job ends. If --check-replay
   has killed it, and it has differed, that is what was to be found. */
static bool must_not_start(struct ft_job *job, uint32_t rank, bool with_all)
{
    int code = job->report->ranks[rank].checks.differed ? FT_CODE_DIFFERED : FT_CODE_JOB;
    const char *once = job->options->start_over_always || ft_cuts_newest(job) ? NULL : ft_outcomes_once(job, rank);

    if (!once && !job->options->start_over_always && !ft_cuts_newest(job) && job->region.header->params.nchannels &&
        ft_look(ft_channel_threads(&job->region, rank)))
        once = FT_ORDER_WHY;
    if (!once && with_all && !job->options->start_over_always && ft_channel_has_answers(&job->region, rank))
        once = "it has taken messages in an order that others decided";
    if (!once)
        return false;
    ft_say(&job->say, "rank %u (host %s) has no snapshot, and from the start it would do other things than before, for %s; --start-over always allows "
           "that", ft_job_rank(job, rank), ft_say_host(), once);
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = code});
    return true;
}

static int start_over(struct ft_job *job, struct ft_proc *proc)
{
    char how[64];

    ft_snapshots_drop(job, proc->rank);
    ft_output_restart(job->output, proc->rank);
    ft_ranks_death(proc, how, sizeof how);
    proc->lost = false;
    proc->way = proc->with_all ? FT_BACK_ALL : ft_cut_unit(&job->region, proc->rank) ? FT_BACK_CHECKPOINT : FT_BACK_START;
    proc->with_all = false;
    proc->from = FT_FROM_EXEC;
    proc->incarnation++;
    ft_say_step(&job->say, "rank %u has no snapshot: its program is started", ft_job_rank(job, proc->rank));
    if (ft_ranks_begin(job, proc) < 0)
        return -1;
    note_restart(job, proc, how);
    return 0;
}

/* Clears again what there may be of it, and tries again. */
static void back_to_clearing(struct ft_job *job, struct ft_proc *proc)
{
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};

    ft_proc_enter(proc, FT_PROC_CLEARING);
    event_add(job->again, &soon);
}

/* It can be done twice, until the word is out. */
static void wake(struct ft_job *job, struct ft_proc *proc)
{
    struct ft_rank_block *block = ft_region_rank(&job->region, proc->rank);
    const struct ft_snap_slot *slot = ft_snapshots_named(job, proc->rank);

    ft_ranks_tell_standby(job, proc->rank);
    ft_region_start_rank(&job->region, proc->rank, proc->incarnation);
    atomic_store_explicit(&block->started_ns, ft_clock_ns(), memory_order_relaxed);
    ft_note(&block->snap.waker, (uint64_t)slot->pid);
    ft_publish(&block->snap.wake, proc->incarnation);
    ft_wake(&block->snap.wake);
}

static void wake_up(struct ft_job *job, struct ft_proc *proc)
{
    bool zero = ft_snapshots_is_zero(job, proc->rank, ft_snapshots_named(job, proc->rank));

    proc->from = zero ? FT_FROM_ZERO : FT_FROM_SNAPSHOT;
    proc->way = zero ? FT_BACK_START : FT_BACK_SNAPSHOT;
    proc->pid = 0;
    proc->incarnation++;
    ft_proc_enter(proc, FT_PROC_WAKING);
    wake(job, proc);
}

/* The way back. -1: there is none here, or it failed: it is the policy's turn. */
static int start_successor(struct ft_job *job, struct ft_proc *proc)
{
    proc->before = proc->pid ? proc->pid : proc->before;
    if (has_way_back(job, proc->rank)) {
        wake_up(job, proc);
        return 0;
    }
    if (ft_cut_withdraw(&job->region, proc->rank))
        return must_not_start(job, proc->rank, false) ? -1 : start_over(job, proc);
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_STRANDED, .rank = proc->rank});
    return -1;
}

void ft_restart_wake_again(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];

    if (ft_look(&ft_region_rank(&job->region, rank)->snap.wake) != proc->incarnation)
        wake(job, proc);
}

/* As the end of ft_ranks_begin: the copy waits until it is watched. -1: it is dead. */
static int adopt_copy(struct ft_job *job, struct ft_proc *proc, pid_t pid)
{
    struct ft_rank_block *block = ft_region_rank(&job->region, proc->rank);
    struct ft_leaders leaders = ft_leaders_of(job);
    int pidfd = ft_pidfd_open(pid);
    bool child = ft_death_is_child(pid);
    struct ft_error e;

    if (pidfd < 0)
        return -1;
    if (!child && !ft_reap_is_rank(&leaders, pid, proc->rank)) {
        close(pidfd);
        return -1;
    }
    job->strangers |= !child;
    proc->pidfd = pidfd;
    proc->pid = job->leaders[proc->rank] = pid;
    proc->started_ns = proc->seen_ns = ft_clock_ns();
    ft_slot_spare(job, proc->rank, pid);
    ft_proc_enter(proc, FT_PROC_RUNNING);
    ft_ranks_tell_standby(job, proc->rank);
    if (ft_ranks_watch(job, proc, &e) < 0)
        return ft_ranks_failed(job, &e, FT_CODE_JOB);
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_STARTED, .rank = proc->rank});
    ft_publish(&block->snap.run, proc->incarnation);
    ft_wake(&block->snap.run);
    return 0;
}

/* If its snapshot has made the next incarnation: goes on with that. */
static void look_for_copy(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];
    const struct ft_snap_words *words = &ft_region_rank(&job->region, rank)->snap;
    char how[64];
    pid_t pid;

    if (ft_proc_phase(proc) != FT_PROC_WAKING || ft_look(&words->copied) != proc->incarnation)
        return;
    ft_ranks_death(proc, how, sizeof how);
    pid = (pid_t)ft_peek(&words->copy);
    if (!pid)
        ft_snapshots_failed(job, rank);
    if (!pid || adopt_copy(job, proc, pid) < 0) {
        back_to_clearing(job, proc);
        return;
    }
    proc->lost = false;
    ft_snapshots_woken(job, rank);
    note_restart(job, proc, how);
}

void ft_restart_look(struct ft_job *job)
{
    ft_snapshots_look(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        look_for_copy(job, r);
    ft_cuts_look(job);
}

/* ---- the last way back: all ranks ---- */

void ft_restart_recall(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];

    proc->with_all = true;
    if (ft_proc_phase(proc) == FT_PROC_RETIRED) {
        proc->died_ns = proc->seen_ns = ft_clock_ns(); /* what it has done is lost now, not when it left */
        ft_restart_rank(job, rank, ft_policy_restarts_of(job->policy, rank));
    } else if (ft_proc_phase(proc) == FT_PROC_NEW || ft_proc_phase(proc) == FT_PROC_WAKING) {
        ft_proc_enter(proc, FT_PROC_CLEARING);
    }
}

static bool all_are_dead(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) != FT_PROC_CLEARING)
            return false;
    return true;
}

static bool all_are_clear(struct ft_job *job)
{
    bool clear = true;

    ft_snapshots_drop_all(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        clear &= is_clear(job, r) && ft_snapshots_gone(job, r);
    return clear;
}

/* What the region will not know any more. */
static void note_progress(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        job->report->ranks[r].units = ft_ranks_furthest(job, r);
}

/* Once all are dead, and nothing is left of any, makes everything new. False: look again soon. */
static bool renew(struct ft_job *job)
{
    struct ft_error e;

    if (!all_are_dead(job))
        return true; /* each death is posted */
    if (!all_are_clear(job))
        return false;
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (must_not_start(job, r, true))
            return true;
    note_progress(job);
    if (ft_job_renew(job, &e) < 0) {
        ft_say(&job->say, "%s", e.text);
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    } else {
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_RENEWED});
    }
    return true;
}

/* ---- all of it ---- */

/* A snapshot that died before it made a copy. */
static void forget_unwakable(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (ft_proc_phase(&job->procs[r]) == FT_PROC_WAKING && !ft_snapshots_wakes(job, r))
            ft_proc_enter(&job->procs[r], FT_PROC_CLEARING);
}

/* From its beginning it starts when the snapshots that it does not go on from are gone: they have its descriptors, and its locks. */
static bool may_start(struct ft_job *job, uint32_t rank)
{
    if (has_way_back(job, rank))
        return true;
    ft_snapshots_drop(job, rank);
    return ft_snapshots_gone(job, rank);
}

/* Whoever is cleared starts, unless it cannot without the others. False: somebody is not clear
   yet. */
static bool start_cleared(struct ft_job *job)
{
    bool clear = true;

    for (uint32_t r = 0; r < job->options->nranks && !ft_policy_gathers(job->policy); r++) {
        struct ft_proc *proc = &job->procs[r];

        if (ft_proc_phase(proc) != FT_PROC_CLEARING)
            continue;
        if (!is_clear(job, r) || !may_start(job, r))
            clear = false;
        else if (start_successor(job, proc) < 0)
            return clear;
    }
    return clear;
}

void ft_restart_clear(struct ft_job *job)
{
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};
    bool clear;

    forget_unwakable(job);
    clear = ft_policy_gathers(job->policy) ? renew(job) : start_cleared(job);
    if (!clear)
        event_add(job->again, &soon); /* beside SIGCHLD, which comes once for several */
}
