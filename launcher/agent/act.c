/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/act.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/agent/sweep.h"
#include "launcher/agent/watch.h"
#include "launcher/base/kill.h"
#include "launcher/base/timer.h"
#include "launcher/job/above.h"
#include "launcher/ranks/check.h"
#include "launcher/ranks/ranks.h"
#include "launcher/ranks/restart.h"
#include "launcher/snap/cut.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/snapshot.h"
#include "launcher/stdio/output.h"
#include "launcher/stdio/sink.h"

typedef unsigned long long ull;

/* The rank's own line, as far as it is one: its writer may have been killed half-way. */
static void tell_last_words(struct ft_job *job, const struct ft_proc *proc, int code)
{
    const struct ft_rank_block *block = ft_region_rank(&job->region, proc->rank);
    char words[FT_LAST_WORDS + 1];

    memcpy(words, block->last_words, FT_LAST_WORDS);
    words[FT_LAST_WORDS] = 0;
    words[strcspn(words, "\n")] = 0;
    if (words[0])
        ft_say(&job->say, "%s", words);
    else
        ft_say(&job->say, "rank %u (pid %d, host %s) ended the job with code %d", ft_job_rank(job, proc->rank), proc->pid, ft_say_host(), code);
}

static double hang_seconds(const struct ft_job *job)
{
    return (double)job->options->hang_timeout_ms / 1000;
}

static void tell_end(struct ft_agent *a, const struct ft_effect *fx)
{
    struct ft_job *job = &a->job;
    const struct ft_say *say = &job->say;
    const struct ft_proc *proc = &job->procs[fx->rank];
    char who[128], how[64], waiting[512];

    snprintf(who, sizeof who, "rank %u (pid %d, host %.64s)", ft_job_rank(job, proc->rank), proc->pid, ft_say_host());
    ft_ranks_death(proc, how, sizeof how);
    switch (fx->reason) {
    case FT_END_VERDICT:
        ft_say(say, "%s %s; the job is ended", who, how);
        break;
    case FT_END_DEATH:
        ft_say(say, "%s %s; not restarted (%s), the job is ended", who, how,
               job->options->max_restarts ? "--restart-on" : "--max-restarts 0");
        break;
    case FT_END_LAST_WORDS:
        tell_last_words(job, proc, fx->code);
        break;
    case FT_END_NO_FINALIZE:
        ft_say(say, "%s exited with code 0 without calling MPI_Finalize%s; the job is ended", who,
               ft_watch_waiting(a->watch, fx->rank, waiting, sizeof waiting));
        break;
    case FT_END_NO_INIT:
        ft_say(say, "%s " FT_PHASE_NO_INIT, who);
        break;
    case FT_END_GIVEN_UP:
        ft_say(say, "%s %s, %llu times in a row at unit %llu; given up, the job is ended", who, how, (ull)fx->number,
               (ull)ft_ranks_furthest(job, fx->rank));
        break;
    case FT_END_KILLED_EARLY:
        ft_say(say, "%s %s, %llu times in a row within a second of its start; given up, the job is ended", who, how, (ull)fx->number);
        break;
    case FT_END_MAX_RESTARTS:
        ft_say(say, "%s %s; not restarted (%llu restart%s so far, --max-restarts), the job is ended", who, how, (ull)fx->number,
               ft_plural(fx->number));
        break;
    case FT_END_SIGNALLED:
        if (job->above)
            break; /* the controller says it for all */
        ft_options_say_stopped(job->options, say, (int)fx->number);
        break;
    case FT_END_NO_RABIT:
        ft_say(say, "--rabit: no rank used XGBoost's engine: each rank trained a model of its own; is the program's xgboost 1.7 and does it "
               "start its communicator (xgboost.collective.CommunicatorContext)?");
        break;
    case FT_END_SAID:
    case FT_END_ELSEWHERE:
    case FT_END_FENCED:
        break;
    case FT_END_STRANDED:
        ft_say_notice(say, "%s %s and needs a part of the log that its host no longer has", who, how);
        job->above->strand(job->node);
        break;
    case FT_END_HUNG:
        ft_say(say, "%s has kept all others waiting for %g s (--hang-timeout), %llu times in a row at unit %llu; given up, the job is "
               "ended", who, hang_seconds(job), (ull)fx->number, (ull)ft_ranks_furthest(job, fx->rank));
        break;
    }
}

/* Its leader is not reaped yet, so the group is still its own. */
static void kill_rank(const struct ft_job *job, uint32_t rank)
{
    if (job->leaders[rank])
        ft_kill_group(job->leaders[rank], job->procs[rank].pidfd, SIGKILL);
}

/* A rank that hangs: dead by our hand. */
static void kill_hung(struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];

    ft_say_notice(&job->say, "rank %u (pid %d, host %s) has kept all others waiting for %g s at unit %llu (--hang-timeout); it is "
                  "killed", ft_job_rank(job, rank), proc->pid, ft_say_host(), hang_seconds(job), (ull)ft_region_progress(&job->region, rank));
    ft_kill(proc->pid, proc->pidfd, SIGKILL); /* its children live on, if it does */
}

static void tell_all(struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];
    uint64_t version = ft_cuts_newest(job);
    char how[64], from[64] = "";

    if (version)
        snprintf(from, sizeof from, " from checkpoint %llu", (ull)version);
    ft_say_notice(&job->say, "rank %u (pid %d, host %s) %s and needs a part of the log that is gone: all ranks start again%s",
                  ft_job_rank(job, rank), proc->before, ft_say_host(), ft_ranks_death(proc, how, sizeof how), from);
}

static void forsake(struct ft_job *job, uint32_t rank, bool all)
{
    const struct ft_proc *proc = &job->procs[rank];
    char how[64];

    if (ft_snapshots_forsake(job, rank, all))
        ft_say_notice(&job->say, "rank %u (pid %d, host %s) %s, of its own, at unit %llu; it does not go on from %s snapshot again", ft_job_rank(job, rank),
                      proc->pid, ft_say_host(), ft_ranks_death(proc, how, sizeof how), (ull)ft_ranks_furthest(job, rank), all ? "a" : "its newest");
}

static void gather(struct ft_job *job)
{
    ft_snapshots_drop_all(job);
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        ft_restart_recall(job, r);
        kill_rank(job, r);
    }
}

static void retire(struct ft_job *job, uint32_t rank)
{
    ft_outcomes_tell_end(job, rank);
    ft_check_retired(job, rank);
    ft_snapshots_drop(job, rank);
    ft_output_retire(job->output, rank, job->procs[rank].signal || job->procs[rank].code);
    ft_proc_enter(&job->procs[rank], FT_PROC_RETIRED);
}

static void send_signal(struct ft_agent *a, int signal)
{
    ft_ranks_signal(&a->job, signal);
    if (signal == SIGTERM)
        ft_ranks_signal(&a->job, SIGCONT); /* a stopped rank would not see it */
    if (signal == SIGKILL)
        event_del(a->grace);
    else
        ft_timer_set(a->grace, a->job.options->grace_ms);
}

static void debug_effect(const struct ft_job *job, const struct ft_effect *fx)
{
    static const char *const names[] = {
        [FT_DO_RESTART] = "restart", [FT_DO_FORSAKE] = "forsake", [FT_DO_RETIRE] = "retire", [FT_DO_END] = "end", [FT_DO_SIGNAL] = "signal",
        [FT_DO_FINISH] = "finish", [FT_DO_STAY] = "stay", [FT_DO_KILL] = "kill", [FT_DO_TELL_ALL] = "tell all", [FT_DO_GATHER] = "gather",
    };

    ft_say_debug(&job->say, "decided: %s, rank %u, number %llu, code %d", names[fx->kind], ft_job_rank(job, fx->rank), (ull)fx->number, fx->code);
}

static void do_effect(struct ft_agent *a, const struct ft_effect *fx)
{
    struct ft_job *job = &a->job;

    debug_effect(job, fx);
    switch (fx->kind) {
    case FT_DO_RESTART:
        ft_restart_rank(job, fx->rank, fx->number);
        break;
    case FT_DO_FORSAKE:
        forsake(job, fx->rank, fx->number == 2);
        break;
    case FT_DO_RETIRE:
        retire(job, fx->rank);
        break;
    case FT_DO_END:
        ft_restart_cancel(job);
        ft_sink_reason(a->sinks[1], fx->reason != FT_END_STRANDED); /* then the node is replaced */
        tell_end(a, fx);
        ft_sink_reason(a->sinks[1], false);
        break;
    case FT_DO_SIGNAL:
        send_signal(a, (int)fx->number);
        break;
    case FT_DO_FINISH:
        event_del(a->grace);
        ft_output_tell_same(job->output, &job->say);
        job->code = fx->code;
        ft_sweep_begin(a);
        break;
    case FT_DO_STAY:
        break; /* the controller is told: ft_above_changed */
    case FT_DO_KILL:
        kill_hung(job, fx->rank);
        break;
    case FT_DO_TELL_ALL:
        tell_all(job, fx->rank);
        break;
    case FT_DO_GATHER:
        gather(job);
        break;
    }
}

void ft_act_do(struct ft_agent *a, const struct ft_effects *effects)
{
    for (int i = 0; i < effects->n; i++)
        do_effect(a, &effects->e[i]);
    ft_policy_settle(a->job.policy);
    ft_above_changed(&a->job);
}

void ft_act_tell(struct ft_agent *a)
{
    struct ft_effects effects;
    struct ft_event ev;

    while (ft_job_next(&a->job, &ev)) {
        ft_policy_step(a->job.policy, &ev, &effects);
        ft_act_do(a, &effects);
    }
}

void ft_act_posted(struct ft_agent *a)
{
    do {
        ft_act_tell(a);
        ft_restart_clear(&a->job);
    } while (a->job.posted.n);
}

void ft_act(struct ft_agent *a, const struct ft_event *ev)
{
    ft_job_post(&a->job, ev);
    ft_act_posted(a);
}

static void on_posted(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ft_act_posted(arg);
}

int ft_act_watch(struct ft_agent *a)
{
    struct event *wake = a->job.posted.wake = event_new(a->job.base, -1, 0, on_posted, a);

    return wake ? event_priority_set(wake, 0) : -1;
}

void ft_act_unwatch(struct ft_agent *a)
{
    ft_timer_free(a->job.posted.wake);
    a->job.posted.wake = NULL;
}
