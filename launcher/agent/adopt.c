/* SPDX-License-Identifier: BSD-3-Clause */
/* What a successor finds is in one of the phases of job.h, each entered before the deed that it announces. The rule for
   all of them: whatever cannot be known for sure is done again, from the rank's own replay if need be. */
#include "config.h"
#include "launcher/agent/adopt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/agent/act.h"
#include "launcher/base/kill.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/reap.h"
#include "launcher/job/death.h"
#include "launcher/ranks/ranks.h"
#include "launcher/ranks/restart.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/output.h"

static int take(struct ft_ends *ends, int which)
{
    int fd = ends->fd[which];

    ends->fd[which] = -1;
    return fd;
}

static void drop(struct ft_ends *ends)
{
    for (int i = 0; i < FT_ENDS; i++) {
        int fd = take(ends, i);

        if (fd >= 0)
            close(fd);
    }
}

/* False if something that this incarnation printed may have been lost with the old agent. */
static bool adopt_output(struct ft_job *job, struct ft_proc *proc, struct ft_ends *ends)
{
    int read[2];
    bool before = ft_proc_phase(proc) == FT_PROC_WAKING && ends->incarnation + 1 == proc->incarnation; /* the same pipes */

    if (ends->incarnation != proc->incarnation && !before) {
        drop(ends);
        return false;
    }
    read[0] = take(ends, FT_END_OUT);
    read[1] = take(ends, FT_END_ERR);
    ft_output_adopt(job->output, proc->rank, read);
    return read[0] >= 0 && (read[1] >= 0 || job->options->merge_stderr);
}

/* It has not come to exec: it runs ftrun's own program, in its session. */
static bool is_before_exec(pid_t pid)
{
    struct stat its, ours;
    char path[40];

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    return getsid(pid) == getsid(0) && stat(path, &its) == 0 && stat("/proc/self/exe", &ours) == 0 && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

/* The process that the dead agent was starting, before it could say more than its pid. Init's child it may have ended, and another one have its number. In
   the middle of exec nobody can tell: it is found when its rank is cleared. */
static void end_unborn(struct ft_job *job, struct ft_proc *proc)
{
    struct ft_leaders leaders = ft_leaders_of(job);
    pid_t pid = proc->pid;
    int pidfd = pid ? ft_pidfd_open(pid) : -1;
    bool child = pid && ft_death_is_child(pid);

    if (!pid)
        return;
    job->strangers |= !child;
    if (child || is_before_exec(pid) || ft_reap_is_rank(&leaders, pid, proc->rank)) {
        ft_kill(pid, pidfd, SIGKILL);
        if (child)
            waitpid(pid, NULL, 0);
        else
            ft_pidfd_await(pid, 1000);
    }
    if (pidfd >= 0)
        close(pidfd);
}

static int open_process(const struct ft_job *job, const struct ft_proc *proc, struct ft_ends *ends)
{
    struct ft_leaders leaders = ft_leaders_of(job);
    int pidfd = take(ends, FT_END_PIDFD);

    if (pidfd >= 0)
        return pidfd;
    pidfd = ft_pidfd_open(proc->pid);
    if (pidfd < 0 || ft_death_is_child(proc->pid) || ft_reap_is_rank(&leaders, proc->pid, proc->rank))
        return pidfd;
    close(pidfd);
    return -1;
}

static void adopt_running(struct ft_job *job, struct ft_proc *proc, struct ft_ends *ends)
{
    bool whole;

    if (ends->incarnation != proc->incarnation)
        drop(ends);
    proc->pidfd = open_process(job, proc, ends);
    whole = adopt_output(job, proc, ends);
    if (proc->pidfd < 0) {
        proc->lost = true;
        proc->writes = UINT64_MAX;
        proc->oom = proc->by_itself = false;
        proc->astray = FT_ASTRAY_NOT;
        proc->died_ns = ft_clock_ns();
        ft_proc_enter(proc, FT_PROC_DEAD);
        return;
    }
    if (!ft_death_is_child(proc->pid))
        job->strangers = true;
    job->leaders[proc->rank] = proc->pid;
    if (!whole) {
        proc->lost = true;
        ft_snapshots_drop(job, proc->rank); /* nobody reads its pipes any more */
        ft_kill_group(proc->pid, proc->pidfd, SIGKILL);
    }
    ft_publish(&ft_region_rank(&job->region, proc->rank)->snap.run, proc->incarnation); /* a copy may be waiting for it */
    ft_wake(&ft_region_rank(&job->region, proc->rank)->snap.run);
}

static void adopt_waking(struct ft_job *job, struct ft_proc *proc, struct ft_ends *ends)
{
    if (!adopt_output(job, proc, ends))
        ft_snapshots_drop(job, proc->rank);
    if (!ft_snapshots_wakes(job, proc->rank))
        ft_proc_enter(proc, FT_PROC_CLEARING);
}

static void adopt_dead(struct ft_job *job, struct ft_proc *proc, struct ft_ends *ends)
{
    bool whole = adopt_output(job, proc, ends);

    waitpid(proc->pid, NULL, WNOHANG); /* recorded, perhaps not reaped */
    if (!whole && ft_proc_phase(proc) == FT_PROC_DEAD) {
        proc->lost = true;
        ft_policy_lose(job->policy, proc->rank);
    }
    if (!whole)
        ft_snapshots_drop(job, proc->rank);
}

static void adopt_rank(struct ft_job *job, struct ft_proc *proc, struct ft_ends *ends)
{
    proc->job = job;
    proc->gone = NULL;
    proc->pidfd = -1;
    switch (ft_proc_phase(proc)) {
    case FT_PROC_NEW:
        break;
    case FT_PROC_STARTING:
        end_unborn(job, proc);
        ft_snapshots_drop(job, proc->rank); /* it may have got as far as snapshot zero */
        proc->died_ns = ft_clock_ns();
        proc->with_all = proc->way == FT_BACK_ALL; /* the same again */
        ft_proc_enter(proc, FT_PROC_CLEARING);
        break;
    case FT_PROC_WAKING:
        adopt_waking(job, proc, ends);
        break;
    case FT_PROC_RUNNING:
        adopt_running(job, proc, ends);
        break;
    case FT_PROC_DEAD:
    case FT_PROC_CLEARING:
    case FT_PROC_RETIRED:
        adopt_dead(job, proc, ends);
        break;
    }
    if (proc->rank == job->options->stdin_rank && job->input && ft_proc_phase(proc) == FT_PROC_RUNNING && ends->incarnation == proc->incarnation)
        ft_input_adopt(job->input, take(ends, FT_END_IN));
    drop(ends);
}

static void tell_policy(struct ft_job *job, struct ft_proc *proc)
{
    struct ft_error e;

    if (ft_proc_phase(proc) == FT_PROC_RUNNING) {
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_STARTED, .rank = proc->rank});
        if (ft_ranks_watch(job, proc, &e) < 0)
            ft_ranks_failed(job, &e, FT_CODE_JOB);
    } else if (ft_proc_phase(proc) == FT_PROC_DEAD) {
        ft_ranks_buried(job, proc);
    }
}

static void go_on(struct ft_job *job, struct ft_proc *proc)
{
    bool wanted = ft_policy_wants(job->policy, proc->rank);

    switch (ft_proc_phase(proc)) {
    case FT_PROC_WAKING:
        if (wanted)
            ft_restart_wake_again(job, proc->rank);
        else
            ft_proc_enter(proc, FT_PROC_RETIRED);
        break;
    case FT_PROC_NEW:
    case FT_PROC_CLEARING:
        if (!wanted)
            ft_proc_enter(proc, FT_PROC_RETIRED);
        break;
    default:
        break;
    }
}

/* First the facts, then what the policy was in the middle of, then what follows from the facts. */
void ft_adopt(struct ft_agent *a)
{
    struct ft_job *job = &a->job;
    struct ft_effects effects;

    ft_snapshots_adopt(job);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        adopt_rank(job, &job->procs[r], ft_twin_ends(job->twin, r));
    ft_policy_recover(job->policy, &effects);
    ft_act_do(a, &effects);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        tell_policy(job, &job->procs[r]);
    ft_act_tell(a);
    for (uint32_t r = 0; r < job->options->nranks; r++)
        go_on(job, &job->procs[r]);
    ft_ranks_start(job);
    ft_restart_look(job);
    ft_act_posted(a);
}
