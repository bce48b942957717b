/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/outcomes.h"

#include <stdio.h>

#include "ft/shm/cut.h"
#include "launcher/job/job.h"
#include "launcher/snap/slot.h"

enum { DIFFERS = 3 /* so often a replay is tried */ };
static const uint64_t LOST_NS = 2000000000; /* mostly a newer snapshot is there soon */

struct ft_outcome_words *ft_outcomes_of(const struct ft_snapshot *s)
{
    return ft_region_outcomes(&s->job->region, s->rank);
}

void ft_outcomes_tell(struct ft_snapshot *s)
{
    const struct ft_outcome_words *outcomes = ft_outcomes_of(s);
    uint64_t tells = outcomes ? atomic_load(&outcomes->tells) : 0, closings = outcomes ? atomic_load(&outcomes->closings) : 0;

    if (closings != s->closings)
        ft_say_step(&s->job->say, "rank %u cannot go on from a snapshot of before now: %s", ft_job_rank(s->job, s->rank), outcomes->why);
    s->closings = closings;
    if (tells == s->tells)
        return;
    s->tells = tells;
    ft_outcomes_differ(s->job, s->rank);
    ft_say(&s->job->say, "rank %u: %s", ft_job_rank(s->job, s->rank), outcomes->told);
}

void ft_outcomes_tell_lost(struct ft_snapshot *s, uint64_t now_ns)
{
    const struct ft_outcome_words *outcomes = ft_outcomes_of(s);
    const struct ft_job *job = s->job;

    if (!outcomes || !s->closings || s->lost_told)
        return;
    if (ft_slot_usable(s) >= 0 || job->options->start_over_always || ft_cut_unit(&job->region, s->rank) || !ft_outcomes_once(job, s->rank)) {
        s->closed_ns = 0;
    } else if (!s->closed_ns) {
        s->closed_ns = now_ns;
    } else if (now_ns - s->closed_ns > LOST_NS) {
        s->lost_told = true;
        ft_say_notice(&job->say, "rank %u has no way back any more: %s; if it is killed, the job ends (its connections and files are not made twice)",
                      ft_job_rank(job, s->rank), outcomes->why);
    }
}

void ft_outcomes_tell_end(const struct ft_job *job, uint32_t rank)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    if (outcomes)
        ft_say_step(&job->say, "rank %u: %llu bytes of outcomes were recorded", ft_job_rank(job, rank), (unsigned long long)atomic_load(&outcomes->tail));
}

bool ft_outcomes_went_past(struct ft_snapshot *s, uint64_t counted)
{
    struct ft_outcome_words *outcomes = ft_outcomes_of(s);
    uint64_t seen = outcomes ? atomic_load(&outcomes->writes) : counted;
    char why[FT_OUTCOME_WHY];

    if (counted == UINT64_MAX || counted <= seen || atomic_load(&outcomes->children))
        return false;
    snprintf(why, sizeof why, "it makes system calls by itself, %llu of those that write so far", (unsigned long long)(counted - seen));
    ft_outcome_close(outcomes, why);
    if (!s->past_told)
        ft_say_notice(&s->job->say, "rank %u goes past what records its calls, so no snapshot of it is used: %s", ft_job_rank(s->job, s->rank), outcomes->why);
    s->past_told = true;
    return true;
}

uint64_t ft_outcomes_done(const struct ft_job *job, uint32_t rank)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    return outcomes ? atomic_load(&outcomes->done) : 0;
}

const char *ft_outcomes_closed(const struct ft_job *job, uint32_t rank)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    return outcomes && atomic_load(&outcomes->closings) ? outcomes->why : NULL;
}

bool ft_outcomes_connected(const struct ft_job *job, uint32_t rank)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    return outcomes && atomic_load(&outcomes->connected);
}

void ft_outcomes_differ(struct ft_job *job, uint32_t rank)
{
    struct ft_check *check = &job->procs[rank].check;

    if (check->on && !check->differs)
        job->report->ranks[rank].checks.differed++;
    check->differs = true;
}

const char *ft_outcomes_once(const struct ft_job *job, uint32_t rank)
{
    const struct ft_outcome_words *outcomes = ft_region_outcomes(&job->region, rank);

    return outcomes && atomic_load(&outcomes->once) ? outcomes->once_why : NULL;
}

static void went_astray(struct ft_snapshot *s, const struct ft_outcome_words *outcomes)
{
    bool check = s->job->procs[s->rank].check.on;
    int slot = ft_slot_usable(s);

    ft_outcomes_differ(s->job, s->rank);
    s->differed++;
    s->job->procs[s->rank].astray = s->differed < DIFFERS ? FT_ASTRAY_AGAIN : FT_ASTRAY_GIVEN_UP;
    s->differs = atomic_load(&outcomes->differs);
    (check ? ft_say : ft_say_notice)(&s->job->say, "rank %u: a snapshot could not be followed: %s%s", ft_job_rank(s->job, s->rank), outcomes->how,
                                     s->differed < DIFFERS ? "; it is tried again" : "; it is given up");
    if (s->differed >= DIFFERS && slot >= 0) {
        s->differed = 0;
        ft_slot_condemn(s, slot);
        ft_slot_withdraw(s, slot);
    }
}

/* A successor of this agent may do it again. */
void ft_outcomes_buried(struct ft_snapshot *s)
{
    struct ft_proc *proc = &s->job->procs[s->rank];
    struct ft_outcome_words *outcomes = ft_outcomes_of(s);
    uint64_t sent = outcomes ? atomic_load(&outcomes->by_itself) : 0;

    if (!outcomes)
        return;
    proc->by_itself |= sent && (proc->lost || sent == (uint64_t)proc->signal);
    atomic_store(&outcomes->by_itself, 0);
    if (atomic_load(&outcomes->differs) != s->differs)
        went_astray(s, outcomes);
    else if (!proc->astray)
        s->differed = 0;
}
