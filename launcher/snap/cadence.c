/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/cadence.h"

#include <stdio.h>

#include "ft/base/util.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "ft/snap/image.h"
#include "launcher/job/job.h"
#include "launcher/snap/budget.h"
#include "launcher/snap/cost.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/slot.h"

enum {
    FREE_BYTES = 384 << 20,      /* auto: a percent of the job's time while the log holds no more than this, */
    STEP_BYTES = 16 << 20,       /* and one more for each of these beyond; */
    LIMIT_STEPS = 64,            /* or for each such part of its limit, beyond 24 of them */
    SOON_MS = 1000,              /* not before, without a need */
    LOG_BYTES = 64 << 20,        /* a need: so much was logged since; */
    OUTCOME_BYTES = 32 << 20,    /* or so much by one rank of its outcomes, */
    OUTCOME_SHARE = 4,           /* or such a part of what they may take: their memory is used again */
    REFUSED_MS = 1000, REFUSED_MOST_MS = 10000,
    THREADS_MS = 50,             /* a thread could not be stopped: the first time; then twice as long, up to SOON_MS */
    TELL_AFTER = 3,              /* refusals in a row, */
    TELL_THREADS = 8,            /* of which these are some seconds */
    FORSAKEN = FT_IMAGE_SYSTEM + 1 /* a reason of ours, beside those of enum ft_image_reason */
};

static uint64_t log_bytes_of(const struct ft_snapshot *s)
{
    uint32_t named = atomic_load(&s->named);

    return ft_region_log_since(&s->job->region, s->rank, named ? &s->slots[named - 1].at : &(struct ft_positions){0});
}

/* Its outcomes since its newest one. */
static bool has_told_much(const struct ft_snapshot *s)
{
    const struct ft_outcome_words *outcomes = ft_outcomes_of(s);
    uint32_t named = atomic_load(&s->named);

    return outcomes && named && atomic_load(&outcomes->tail) - s->slots[named - 1].at.outcomes.end >=
                                    ft_min(OUTCOME_BYTES, s->job->region.header->params.outcome_bytes / OUTCOME_SHARE);
}

/* It is no lasting thing. */
static bool is_for_thread(const struct ft_snapshot *s)
{
    return s->reason == FT_IMAGE_THREADS && !s->job->region.header->params.one_thread;
}

static uint64_t refused_ns(const struct ft_snapshot *s)
{
    uint64_t least = s->job->options->snapshot_ms == FT_SNAPSHOT_AUTO ? s->refused_ns * 100 : 0;

    if (is_for_thread(s))
        return ft_max(least, ft_min(SOON_MS, (uint64_t)THREADS_MS << ft_min(s->refusals - 1, 8)) * 1000000);
    return ft_min(REFUSED_MOST_MS, (uint64_t)REFUSED_MS << ft_min(s->refusals, 8)) * 1000000;
}

/* A log that grows costs, too: memory that is written for the first time takes longer than the copy into it, and in the end there is its
   limit. So it is to stay about this large, and its memory to be used again, whatever that takes (16 MiB allreduces: 33 ms in new memory). */
static uint64_t percent(const struct ft_job *job)
{
    const struct ft_params *p = &job->region.header->params;
    uint64_t held = ft_region_log_bytes(&job->region) - ft_region_released_bytes(&job->region);
    uint64_t step = ft_min(STEP_BYTES, p->nextents * p->extent_bytes / LIMIT_STEPS), steps = held / step;

    return 1 + (steps > FREE_BYTES / STEP_BYTES ? steps - FREE_BYTES / STEP_BYTES : 0);
}

/* Of ranks that can have one, as far as is known. */
static bool have_logged_much(const struct ft_snapshot *ranks, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        if (!ranks[r].refusals && (log_bytes_of(&ranks[r]) >= LOG_BYTES || has_told_much(&ranks[r])))
            return true;
    return false;
}

bool ft_cadence_round(const struct ft_job *job, const struct ft_snapshot *ranks, uint64_t since)
{
    if (job->options->snapshot_ms != FT_SNAPSHOT_AUTO)
        return since >= job->options->snapshot_ms * 1000000;
    if (since < ft_cost_round(job, ranks) * 100 / percent(job))
        return false;
    return since >= SOON_MS * 1000000ull || have_logged_much(ranks, job->region.header->params.nranks);
}

bool ft_cadence_due(const struct ft_snapshot *s, uint64_t round, uint64_t now)
{
    uint64_t began = atomic_load_explicit(&ft_region_rank(&s->job->region, s->rank)->started_ns, memory_order_relaxed);
    uint64_t last = ft_max(began, s->asked_ns);

    return s->refusals ? now - last >= refused_ns(s) : last < round;
}

/* A snapshot becomes its rank's parent's child: that must be us. Before MPI_Init the rank is whom we have started. */
static bool is_leader(const struct ft_snapshot *s)
{
    uint32_t attached = ft_look32(&ft_region_rank(&s->job->region, s->rank)->attached_pid);

    return !attached || attached == (uint32_t)s->job->procs[s->rank].pid;
}

bool ft_cadence_is_recorded(const struct ft_snapshot *s)
{
    return ft_look(&ft_snap_words_of(s)->recorder) == (uint64_t)s->job->procs[s->rank].pid;
}

bool ft_cadence_is_forsaken(const struct ft_snapshot *s)
{
    return ft_region_progress(&s->job->region, s->rank) < s->forsaken;
}

uint32_t ft_cadence_hindrance(const struct ft_snapshot *s)
{
    if (!is_leader(s))
        return FT_IMAGE_WRAPPER;
    if (!ft_cadence_is_recorded(s))
        return FT_IMAGE_RECORDER;
    if (ft_cadence_is_forsaken(s))
        return FORSAKEN;
    return ft_budget_has_room(s->job, s->rank) ? FT_IMAGE_GOOD : FT_IMAGE_MEMORY;
}

static const char *const reasons[] = {
    [FT_IMAGE_THREADS] = "it has more than one thread (--snapshot-threads off)",
    [FT_IMAGE_CHILDREN] = "it has child processes that are not followed",
    [FT_IMAGE_DESCRIPTOR] = "it has sockets, io_uring or similar descriptors of its own",
    [FT_IMAGE_RECORDER] = "what it does is not recorded (a static or set-user-ID program, or one without libftmpi_rank.so)",
    [FT_IMAGE_MAPPING] = "it shares memory with others, or maps a file that may change",
    [FT_IMAGE_TIMERS] = "it has timers of timer_create()",
    [FT_IMAGE_WRAPPER] = "it is not the process that ftrun started, but a child of that",
    [FT_IMAGE_FORK] = "it cannot fork (no memory, or too many processes)",
    [FT_IMAGE_SYSTEM] = "the system does not let it, or cannot tell what it has (/proc/self/maps, /proc/self/timers)",
    [FORSAKEN] = "what went on from its earlier snapshots has died where it is now",
    [FT_IMAGE_MEMORY] = "there may not be enough memory for a snapshot of it",
};

bool ft_cadence_has_ended(const struct ft_snapshot *s)
{
    const struct ft_outcome_words *outcomes = ft_outcomes_of(s);

    return outcomes && atomic_load(&outcomes->ended);
}

const char *ft_cadence_reason(const struct ft_snapshot *s, char text[static FT_CADENCE_REASON])
{
    if (ft_cadence_has_ended(s)) {
        snprintf(text, FT_CADENCE_REASON, "what it does is not recorded any more: %s", ft_outcomes_of(s)->why);
        return text;
    }
    if (is_for_thread(s)) {
        snprintf(text, FT_CADENCE_REASON, "a thread of it could not be stopped%s%s", *s->stands ? ": " : "", s->stands);
        return text;
    }
    return s->reason < sizeof reasons / sizeof reasons[0] && reasons[s->reason] ? reasons[s->reason] : "unknown";
}

static bool has_one(const struct ft_snapshot *s) { return ft_slot_usable(s) >= 0; }

/* What is behind a wrapper stays there, and who was too large for its first one will not be smaller; anything else may go away. That
   snapshots had to go for want of memory has been told for the whole host. */
static bool is_to_be_told(const struct ft_snapshot *s)
{
    bool memory = s->reason == FT_IMAGE_MEMORY;

    if (s->told || (memory && s->job->snapshots->ranks[0].short_told))
        return false;
    return s->refusals >= (s->reason == FT_IMAGE_WRAPPER || (memory && !has_one(s)) ? 1 : is_for_thread(s) ? TELL_THREADS : TELL_AFTER);
}

/* Ranks with the same reason in one line. */
static void tell(struct ft_snapshot *first, uint32_t n)
{
    const struct ft_say *say = &first->job->say;
    char others[64] = "", reason[FT_CADENCE_REASON];
    uint32_t more = 0;

    for (struct ft_snapshot *s = first; s < first + n; s++) {
        if (!is_to_be_told(s) || s->reason != first->reason || has_one(s) != has_one(first))
            continue;
        more += s != first;
        s->told = s != first;
    }
    if (more)
        snprintf(others, sizeof others, " (and %u other rank%s)", more, ft_plural(more));
    ft_say_notice(say, "rank %u%s gets no %ssnapshot: %s%s; if it is killed it %s", ft_job_rank(first->job, first->rank), others,
                  has_one(first) ? "newer " : "", ft_cadence_reason(first, reason),
                  first->reason == FT_IMAGE_MEMORY ? " (ftrun status says where it is)" : "", has_one(first) ? "goes on from the one it has" :
                  ft_versions_can_load(&first->job->region, first->rank) ? "goes on from its last checkpoint" : "replays from the start");
    first->told = true;
}

void ft_cadence_tell(struct ft_snapshot *ranks, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        if (is_to_be_told(&ranks[r]))
            tell(&ranks[r], n - r);
}
