/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/check.h"

#include <signal.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"
#include "ft/shm/cut.h"
#include "launcher/base/kill.h"
#include "launcher/job/job.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"
#include "launcher/snap/snapshot.h"

enum { FIRST = 16, LEAST = 8 /* records between two kills */ };

/* How far it has come, over all incarnations. */
static uint64_t place(const struct ft_job *job, uint32_t rank)
{
    return ft_outcomes_done(job, rank) + ft_region_progress(&job->region, rank);
}

/* 1 to about `mean` * 2, the same for the same job. */
static uint64_t draw(const struct ft_job *job, const struct ft_proc *proc, uint64_t mean)
{
    uint64_t chance = ft_hash_mix(ft_hash_mix(job->options->check_seed, ft_job_rank(job, proc->rank)), proc->check.kills);

    return 1 + chance % (2 * mean);
}

/* That is what was to be found: it is left alone from then on. */
static bool differed(const struct ft_job *job, uint32_t rank) { return job->report->ranks[rank].checks.differed; }

static bool is_due(struct ft_job *job, struct ft_proc *proc)
{
    if (!proc->check.next)
        proc->check.next = draw(job, proc, FIRST);
    return !proc->check.last && !differed(job, proc->rank) && proc->check.killed != proc->incarnation + 1 && place(job, proc->rank) >= proc->check.next && ft_snapshots_usable(job, proc->rank) &&
           ft_cut_holds(&job->region, proc->rank);
}

void ft_check_tick(struct ft_job *job)
{
    int code;

    if (ft_policy_ends(job->policy, &code) || ft_policy_gathers(job->policy) || ft_policy_stays(job->policy))
        return;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_proc *proc = &job->procs[r];

        if (ft_proc_phase(proc) != FT_PROC_RUNNING || !job->leaders[r] || !is_due(job, proc))
            continue;
        proc->check.killed = proc->incarnation + 1;
        ft_kill(proc->pid, proc->pidfd, SIGKILL); /* its children live on, as it does */
    }
}

static bool is_killed(const struct ft_proc *proc)
{
    return proc->check.killed == proc->incarnation + 1 && proc->signal == SIGKILL && !proc->oom && !proc->by_itself && !proc->lost;
}

static bool has_left(const struct ft_proc *proc) { return !proc->signal && !proc->code && !proc->lost; }

void ft_check_look(struct ft_job *job, struct ft_event *death)
{
    struct ft_proc *proc = &job->procs[death->rank];

    if (!job->options->check_seed || ft_policy_gathers(job->policy))
        return;
    if (proc->astray && proc->check.on && proc->check.last) {
        death->astray = false;
        death->signal = 0;
        death->state = proc->check.state;
        atomic_store(&ft_region_rank(&job->region, death->rank)->state, death->state);
        proc->signal = 0;
    } else if (!proc->astray && has_left(proc) && !proc->check.last && death->state != FT_RANK_ATTACHED && death->state != FT_RANK_ENDED) {
        death->check = !differed(job, proc->rank) && ft_snapshots_usable(job, proc->rank) && ft_cut_reaches(&job->region, proc->rank);
        proc->check.state = death->state;
    } else {
        death->check = !proc->astray && is_killed(proc);
    }
}

bool ft_check_is(const struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];

    return job->options->check_seed && !proc->astray && !ft_policy_gathers(job->policy) && (is_killed(proc) || has_left(proc));
}

/* It may be done a second time: after a takeover. */
void ft_check_died(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];

    proc->check.on = true;
    proc->check.last |= has_left(proc);
    if (proc->check.died_ns == proc->died_ns)
        return;
    proc->check.kills++;
    proc->check.at = place(job, rank);
    proc->check.next = proc->check.at + draw(job, proc, ft_max(LEAST, proc->check.at) / 2) + LEAST;
    proc->check.died_ns = proc->died_ns;
}

void ft_check_left(struct ft_job *job, uint32_t rank)
{
    job->procs[rank].check.on = false;
}

void ft_check_back(struct ft_job *job, uint32_t rank)
{
    struct ft_proc *proc = &job->procs[rank];
    struct ft_checks *checks = &job->report->ranks[rank].checks;
    const struct ft_snap_slot *from = ft_snapshots_named(job, rank);
    uint64_t at = from && proc->from != FT_FROM_EXEC ? from->at.outcomes.unit + ft_position_units(&from->at) : 0;

    if (!proc->check.on)
        return;
    proc->check.differs = false;
    if (proc->way == FT_BACK_SNAPSHOT)
        checks->from_snapshot++;
    else
        checks->from_start++;
    checks->records += proc->check.at > at ? proc->check.at - at : 0;
    ft_say_detail(&job->say, "rank %u is put back %s, over %llu records (--check-replay)", ft_job_rank(job, rank),
                  proc->way == FT_BACK_SNAPSHOT ? "from its snapshot" : "from its beginning",
                  (unsigned long long)(proc->check.at > at ? proc->check.at - at : 0));
}

void ft_check_retired(struct ft_job *job, uint32_t rank)
{
    const struct ft_proc *proc = &job->procs[rank];
    const char *closed = ft_outcomes_closed(job, rank);
    uint64_t seen = proc->check.kills ? proc->check.at : 0;

    if (!job->options->check_seed || proc->check.last || !has_left(proc) || differed(job, rank))
        return;
    if (!job->region.header->params.outcome_bytes) {
        ft_say_notice(&job->say, "--check-replay: rank %u was not checked: what it does is not recorded", ft_job_rank(job, rank));
        return;
    }
    job->report->ranks[rank].checks.unable = true;
    ft_say(&job->say, "--check-replay: rank %u was checked up to record %llu of %llu only: %s", ft_job_rank(job, rank), (unsigned long long)seen,
           (unsigned long long)place(job, rank), closed ? closed : "it has no snapshot from before its main");
}
