/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/watch.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "ft/shm/channels.h"
#include "ft/shm/streams.h"
#include "ft/shm/stuck.h"
#include "ft/shm/word.h"
#include "launcher/agent/deadlines.h"
#include "launcher/base/procstat.h"
#include "launcher/job/death.h"
#include "launcher/job/full.h"
#include "launcher/job/sites.h"
#include "launcher/ranks/absent.h"
#include "launcher/ranks/ranks.h"

enum { EVERY_US = 100000, SHARE = 50, PROGRESS_WAIT_MS = 2000, PROGRESS_EVERY_MS = 5000, DEADLOCK_MS = 1000 };

/* Where a rank was when last looked at. */
struct seen {
    uint64_t since_ns, unit, first;
    uint32_t incarnation, state, stream;
    bool in_call;
};

struct ft_watch {
    struct ft_job *job;
    struct ft_deadlines *deadlines;
    struct event *timer;
    struct ft_inspect *now;
    struct seen *seen;
    bool *awaited, *runs, *stuck;
    uint64_t stuck_where, stuck_since_ns;  /* how far those are that are stuck, and since when; 0: none is */
    uint64_t told_ns;    /* when a replay's progress was last told; 0: never */
};

const struct ft_inspect *ft_watch_look(struct ft_watch *w)
{
    uint64_t now = ft_clock_ns();

    ft_inspect_read(&w->job->region, w->now);
    for (uint32_t r = 0; r < w->job->options->nranks; r++) {
        const struct ft_inspect *i = &w->now[r];
        struct seen *s = &w->seen[r];

        if (s->since_ns && s->unit == i->unit && s->stream == i->stream && s->first == i->first && s->incarnation == i->incarnation &&
            s->state == i->state && s->in_call == i->in_call)
            continue;
        *s = (struct seen){.since_ns = now, .unit = i->unit, .stream = i->stream, .first = i->first, .incarnation = i->incarnation,
                           .state = i->state, .in_call = i->in_call};
    }
    return w->now;
}

uint64_t ft_watch_since(const struct ft_watch *w, uint32_t rank)
{
    return w->seen[rank].since_ns;
}

/* The rank that has waited longest, of those that have for a while. */
static int64_t longest_waiting(const struct ft_watch *w, uint64_t now)
{
    int64_t found = -1;

    for (uint32_t r = 0; r < w->job->options->nranks; r++)
        if (w->now[r].in_call && !w->now[r].replaying && now - w->seen[r].since_ns >= PROGRESS_WAIT_MS * 1000000ull &&
            (found < 0 || w->seen[r].since_ns < w->seen[found].since_ns))
            found = r;
    return found;
}

/* Whoever waits for a rank that replays sees one. */
static void tell_progress(struct ft_watch *w, uint64_t now)
{
    const struct ft_params *params = &w->job->region.header->params;
    int64_t waiting, slowest = -1;
    uint64_t left = 0;

    if (w->told_ns && now - w->told_ns < PROGRESS_EVERY_MS * 1000000ull)
        return;
    waiting = longest_waiting(w, now);
    if (waiting < 0 || !ft_inspect_awaits(&w->job->region, w->now, (uint32_t)waiting, w->awaited))
        return;
    for (uint32_t r = 0; r < params->nranks; r++)
        if (w->awaited[r] && w->now[r].replaying && w->now[r].replay_to - w->now[r].replayed > left) {
            slowest = r;
            left = w->now[r].replay_to - w->now[r].replayed;
        }
    if (slowest < 0)
        return;
    w->told_ns = now;
    ft_say_notice(&w->job->say, "rank %u replays: unit %llu of %llu (%llu%%)", ft_job_rank(w->job, (uint32_t)slowest),
                  (unsigned long long)w->now[slowest].replayed, (unsigned long long)w->now[slowest].replay_to,
                  (unsigned long long)(w->now[slowest].replayed * 100 / w->now[slowest].replay_to));
}

static void replays_are_told(struct ft_watch *w, uint64_t now)
{
    for (uint32_t r = 0; r < w->job->options->nranks; r++)
        if (w->now[r].replaying) {
            tell_progress(w, now);
            return;
        }
}

/* One that is not in MPI has no units. */
static const char *replayed(const struct ft_restart *restart, char *text, size_t size)
{
    if (!restart->replayed)
        return "";
    snprintf(text, size, ": %llu unit%s replayed", (unsigned long long)restart->replayed, ft_plural(restart->replayed));
    return text;
}

/* One line each, but if all begin again. */
static void returns_are_told(struct ft_watch *w)
{
    struct ft_job *job = w->job;
    char text[64];

    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_restart *last = job->report->ranks[r].away ? ft_report_last(job->report, r) : NULL;

        if (!last)
            continue;
        ft_ranks_note_recovery(job, r);
        if (!last->live_ns)
            continue;
        if (last->way != FT_BACK_ALL)
            ft_say_notice(&job->say, "rank %u is back where it was, %.3f s after its death%s", ft_job_rank(job, r),
                          (double)(last->live_ns - last->died_ns) / 1e9, replayed(last, text, sizeof text));
        job->report->ranks[r].away = false;
    }
}

/* A number that changes whenever the rank gets on with anything. */
static uint64_t place_of(const struct ft_inspect *i)
{
    return i->progress + ((uint64_t)i->incarnation << 48) + ((uint64_t)i->state << 40);
}

/* Ctrl-Z stops every rank: then nobody waits. Any one but the awaited tells. */
static bool is_suspended(const struct ft_job *job, int64_t awaited)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (r != awaited && ft_proc_phase(&job->procs[r]) == FT_PROC_RUNNING)
            return ft_procstat_stopped(job->procs[r].pid);
    return false;
}

/* Of a node with others one rank in a call may wait for them. So the one that the others here wait for is the one that is in none, and
   has not been where they are; with one rank there is nobody to tell. Who is in a call of another stream may wait for nobody here. */
static int64_t awaited_here(const struct ft_watch *w)
{
    int64_t out = -1;
    uint32_t n = w->job->options->nranks, in = 0;

    for (uint32_t r = 0; r < n; r++)
        if (w->now[r].state == FT_RANK_ATTACHED && !w->now[r].in_call)
            out = out < 0 ? (int64_t)r : n;
    for (uint32_t r = 0; out >= 0 && out < n && r < n; r++)
        in += w->now[r].in_call && w->now[r].stream == 0 && !w->now[r].replaying && w->now[r].unit >= w->now[out].unit;
    return in && in == n - 1 ? out : -1;
}

static int64_t awaited(const struct ft_watch *w)
{
    const struct ft_region *region = &w->job->region;

    return region->header->params.nnodes > 1 ? awaited_here(w) : ft_inspect_awaited(region, w->now);
}

static void look_for_hang(struct ft_watch *w, uint64_t now)
{
    struct ft_job *job = w->job;
    struct ft_deadlines *d = w->deadlines;
    uint64_t limit = job->options->hang_timeout_ms * 1000000;
    int64_t rank = awaited(w);
    bool there = rank >= 0 && ft_proc_phase(&job->procs[rank]) == FT_PROC_RUNNING;

    if (!there || rank != d->hung || place_of(&w->now[rank]) != d->hung_where || is_suspended(job, rank)) {
        d->hung = there ? rank : -1;
        d->hung_where = there ? place_of(&w->now[rank]) : 0;
        d->hung_since_ns = now;
        return;
    }
    if (now - d->hung_since_ns < limit)
        return;
    d->hung_since_ns = now; /* it may take a moment to die */
    ft_job_post(job, &(struct ft_event){.kind = FT_EV_HUNG, .rank = (uint32_t)rank, .progress = w->now[rank].done});
}

/* "(message from rank 1, tag 5 at a.out+0x126c)" */
static size_t tell_what(const struct ft_watch *w, struct ft_sites *sites, uint32_t rank, char *text, size_t size)
{
    char what[160];

    ft_inspect_print(&w->now[rank], what, sizeof what);
    return (size_t)snprintf(text, size, "(%s at %s)", what, ft_sites_print(sites, w->now[rank].site, w->job->procs[rank].pid));
}

const char *ft_watch_waiting(struct ft_watch *w, uint32_t rank, char *text, size_t size)
{
    struct ft_sites *sites = calloc(1, sizeof *sites);
    char what[FT_SITE_TEXT + 200];

    *text = 0;
    if (w && sites)
        ft_watch_look(w);
    for (uint32_t q = 0; w && sites && q < w->job->options->nranks && !*text; q++)
        if (q != rank && ft_proc_phase(&w->job->procs[q]) == FT_PROC_RUNNING && ft_inspect_awaits(&w->job->region, w->now, q, w->awaited) && w->awaited[rank]) {
            tell_what(w, sites, q, what, sizeof what);
            snprintf(text, size, ", and rank %u waits for it %s", ft_job_rank(w->job, q), what);
        }
    free(sites);
    return text;
}

/* ---- deadlock ---- */

/* "rank 0 waits for rank 1 (message from rank 1, tag 5 at a.out+0x126c)" */
static size_t tell_stuck(const struct ft_watch *w, struct ft_sites *sites, uint32_t rank, uint32_t by, char *text, size_t size)
{
    const char *left = w->now[by].state == FT_RANK_ATTACHED ? "" : ", which has left,";
    size_t n = (size_t)snprintf(text, size, "rank %u waits for rank %u%s ", ft_job_rank(w->job, rank), ft_job_rank(w->job, by), left);

    return n + (n < size ? tell_what(w, sites, rank, text + n, size - n) : 0);
}

static uint32_t stuck_by(const struct ft_watch *w, uint32_t rank) { return ft_stuck_by(&w->job->region, w->now, w->stuck, rank, w->awaited); }

/* One of a circle; or one that waits for somebody who has left. */
static uint32_t innermost(const struct ft_watch *w)
{
    uint32_t rank = 0;

    while (!w->stuck[rank])
        rank++;
    for (uint32_t i = 0; i < w->job->options->nranks; i++) {
        uint32_t by = stuck_by(w, rank);

        rank = w->stuck[by] ? by : rank;
    }
    return rank;
}

static int64_t stuck_for_memory(const struct ft_watch *w)
{
    for (uint32_t r = 0; r < w->job->options->nranks; r++)
        if (w->stuck[r] && ft_stuck_for_memory(&w->job->region, w->now, r))
            return r;
    return -1;
}

/* Of the log, from one rank of this node to another. */
static uint64_t backlog(const struct ft_region *r, uint32_t from, uint32_t to)
{
    uint32_t channel = ft_channel_of(r, from, to);
    const struct ft_counters *ends;
    uint64_t sent, taken;

    if (from == to || !r->header->params.nchannels || !ft_streams_is_used(r, channel))
        return 0;
    ends = ft_region_stream(r, channel).counters;
    sent = ft_look(&ends[0].done_at);
    taken = ft_look(&ends[1].done_at);
    return sent > taken ? sent - taken : 0;
}

/* Messages that nobody receives have all of the log. The channel with most of them is named. */
static void tell_starved(const struct ft_watch *w, struct ft_sites *sites)
{
    const struct ft_region *r = &w->job->region;
    const struct ft_params *p = &r->header->params;
    uint32_t from = 0, to = 0;
    char why[512] = "";
    size_t n;

    for (uint32_t a = 0; a < p->nranks; a++)
        for (uint32_t b = 0; b < p->nranks; b++)
            if (backlog(r, a, b) > backlog(r, from, to)) {
                from = a;
                to = b;
            }
    if (w->stuck[to] && !ft_stuck_for_memory(r, w->now, to)) {
        n = (size_t)snprintf(why, sizeof why, "; ");
        tell_stuck(w, sites, to, stuck_by(w, to), why + n, sizeof why - n);
    }
    ft_say(&w->job->say, "the log has reached its limit of %llu MiB, and nothing of it can be forgotten: rank %u has not received %.1f MiB that rank %u has "
           "sent to it%s; the job is ended (--log-limit, --log-full)", (unsigned long long)(p->nextents * p->extent_bytes) >> 20, ft_job_rank(w->job, to),
           (double)backlog(r, from, to) / (1 << 20), ft_job_rank(w->job, from), why);
}

enum { STUCK_TOLD = 4 };
static void tell_deadlock(const struct ft_watch *w, struct ft_sites *sites)
{
    uint32_t first = innermost(w), rank = first, told = 0;
    char text[STUCK_TOLD * 512] = "";
    size_t n = 0;

    do {
        uint32_t by = stuck_by(w, rank);

        n += (size_t)snprintf(text + n, sizeof text - n, "%s", told ? ", " : "");
        n = ft_min(n + tell_stuck(w, sites, rank, by, text + n, sizeof text - n), sizeof text - 1);
        rank = by;
    } while (++told < STUCK_TOLD && rank != first && w->stuck[rank]);
    ft_say(&w->job->say, "deadlock: %s%s; the job is ended", text, rank != first && w->stuck[rank] ? ", ..." : "");
}

static void end_deadlock(struct ft_watch *w)
{
    struct ft_sites *sites = calloc(1, sizeof *sites);

    if (!sites)
        return; /* the next time */
    if (stuck_for_memory(w) >= 0)
        tell_starved(w, sites);
    else
        tell_deadlock(w, sites);
    ft_job_post(w->job, &(struct ft_event){.kind = FT_EV_FAILED, .code = FT_CODE_JOB});
    free(sites);
}

/* All of them have been where they are for a second. */
static void look_for_deadlock(struct ft_watch *w, uint64_t now)
{
    const struct ft_job *job = w->job;
    uint64_t where = 0;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        w->runs[r] = ft_proc_phase(&job->procs[r]) == FT_PROC_RUNNING;
    if (ft_stuck_find(&job->region, w->now, w->runs, w->stuck, w->awaited))
        for (uint32_t r = 0; r < job->options->nranks; r++)
            where += w->stuck[r] ? (1 + place_of(&w->now[r])) * (2 * r + 1) : 0;
    if (!where || where != w->stuck_where) {
        w->stuck_where = where;
        w->stuck_since_ns = now;
    } else if (now - w->stuck_since_ns >= DEADLOCK_MS * 1000000ull) {
        w->stuck_since_ns = now;
        end_deadlock(w);
    }
}

/* With others above, the controller knows all ranks. */
static void look_for_absent(struct ft_job *job)
{
    struct ft_absent a = ft_absent_look(job);

    if (!job->above && a.called && a.rank < job->options->nranks)
        ft_job_post(job, &(struct ft_event){.kind = FT_EV_ABSENT, .rank = a.rank});
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct ft_watch *w = arg;
    uint64_t begin = ft_clock_ns(), seen, cost_us;
    struct timeval next;

    (void)fd;
    (void)what;
    ft_death_look(w->job->procs, w->job->options->nranks);
    ft_watch_look(w);
    seen = ft_clock_ns(); /* not before what the look has noted */
    replays_are_told(w, seen);
    returns_are_told(w);
    ft_full_tell(w->job);
    look_for_absent(w->job);
    if (w->job->options->hang_timeout_ms)
        look_for_hang(w, seen);
    if (w->job->region.header->params.nnodes == 1)
        look_for_deadlock(w, seen);
    cost_us = SHARE * ((ft_clock_ns() - begin) / 1000);
    cost_us = ft_max(EVERY_US, cost_us);
    next = (struct timeval){.tv_sec = (time_t)(cost_us / 1000000), .tv_usec = (suseconds_t)(cost_us % 1000000)};
    event_add(w->timer, &next);
}

struct ft_watch *ft_watch_new(struct ft_job *job, struct ft_deadlines *deadlines)
{
    struct timeval first = {.tv_usec = EVERY_US};
    struct ft_watch *w = calloc(1, sizeof *w);
    uint32_t n = job->options->nranks;

    if (!w)
        return NULL;
    w->job = job;
    w->deadlines = deadlines;
    w->now = calloc(n, sizeof *w->now);
    w->seen = calloc(n, sizeof *w->seen);
    w->awaited = calloc(n, sizeof *w->awaited);
    w->runs = calloc(n, sizeof *w->runs);
    w->stuck = calloc(n, sizeof *w->stuck);
    w->timer = evtimer_new(job->base, on_time, w);
    if (w->now && w->seen && w->awaited && w->runs && w->stuck && w->timer && event_add(w->timer, &first) == 0)
        return w;
    ft_watch_free(w);
    return NULL;
}

void ft_watch_free(struct ft_watch *w)
{
    if (!w)
        return;
    if (w->timer)
        event_free(w->timer);
    free(w->now);
    free(w->seen);
    free(w->awaited);
    free(w->runs);
    free(w->stuck);
    free(w);
}
