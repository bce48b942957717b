/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/cut.h"

#include "ft/base/util.h"
#include "ft/shm/cut.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "launcher/job/job.h"
#include "launcher/snap/snapshot.h"
#include "launcher/snap/steps.h"
#include "launcher/stdio/output.h"

/* A snapshot is the faster way back, so the log is held for it although there is a newer checkpoint; but not for ever, should there be
   no newer snapshot. */
enum { WORN_BYTES = 64 << 20, WORN_MS = 30000 };

static bool is_worn(const struct ft_job *job, uint32_t rank, const struct ft_snap_slot *slot)
{
    return ft_region_log_since(&job->region, rank, &slot->at) >= WORN_BYTES ||
           ft_clock_ns() - slot->taken_ns >= WORN_MS * 1000000ull;
}

/* What a rank has asked for before it died was made void when its successor was started, so this is about the living one, or about
   one whose death is not known yet: then nothing comes of it. May be done twice: the rank still stands. */
static void answer(struct ft_job *job, uint32_t rank)
{
    struct ft_version_words *w = ft_versions_of(&job->region, rank);
    uint64_t number = ft_look(&w->asks);
    int mark = (int)(ft_peek(&w->asked) & 1);
    bool good = false;

    if (number == ft_peek(&w->answered) || ft_proc_phase(&job->procs[rank]) != FT_PROC_RUNNING)
        return;
    switch (ft_peek(&w->kind)) {
    case FT_ASK_MARK:
        ft_output_mark(job->output, rank, mark);
        break;
    case FT_ASK_JUMP:
        ft_output_return(job->output, rank, mark);
        break;
    case FT_ASK_SNAPSHOT:
        if (!ft_snapshots_serve(job, rank, number, &good))
            return;
        break;
    }
    ft_note(&w->answer, good);
    ft_publish(&w->answered, number);
    ft_doorbells_tell_rank(&job->region, rank);
}

static void register_cut(struct ft_job *job, uint32_t rank, const struct ft_version *v)
{
    struct ft_positions p;
    const struct ft_snap_slot *slot;

    if (!ft_versions_moves_cut(&job->region, rank, v) || !ft_versions_positions(&job->region, rank, v, &p) || ft_cut_is_after(&job->region, rank, &p))
        return;
    ft_steps_end_zero(&job->snapshots->ranks[rank], 0);
    slot = ft_snapshots_named(job, rank);
    if (slot && !is_worn(job, rank, slot))
        return;
    if (slot)
        ft_snapshots_drop(job, rank);
    ft_cut_register(&job->region, rank, &p);
    job->report->ranks[rank].checkpoint_ns = ft_clock_ns();
    ft_keeper_kick(job->keeper);
}

/* False: there is none of this job. Whoever sees a new one first notes when. */
static bool newest(const struct ft_job *job, struct ft_version *v)
{
    if (!ft_versions_newest(&job->region, 0, v) || v->base)
        return false;
    if (v->version != job->report->version) {
        job->report->version_ns = ft_clock_ns();
        job->report->version = v->version;
    }
    return true;
}

void ft_cuts_look(struct ft_job *job)
{
    struct ft_version v;
    bool any = newest(job, &v);

    for (uint32_t r = 0; r < job->options->nranks; r++) {
        answer(job, r);
        if (any)
            register_cut(job, r, &v);
    }
}

uint64_t ft_cuts_newest(const struct ft_job *job)
{
    struct ft_version v;

    newest(job, &v);
    return v.version;
}

uint64_t ft_cuts_version(const struct ft_job *job, uint32_t rank)
{
    struct ft_version v;

    ft_versions_loadable(&job->region, rank, &v);
    return v.version;
}
