/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/report.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "ft/shm/word.h"
#include "launcher/job/above.h"
#include "launcher/job/job.h"
#include "launcher/node/uplink.h"
#include "launcher/ranks/ranks.h"
#include "launcher/report/wire.h"

enum { AGAIN_NS = 1000000000 /* of a timeline: what may have been on its way when a connection broke */ };

struct ft_node_report {
    struct ft_job *job;
    struct ft_restart *said;       /* by number: as the controller has it */
    uint64_t nsaid;
    bool changed;                  /* since ranks and sums were said */
};

struct ft_node_report *ft_node_report_new(struct ft_job *job)
{
    struct ft_node_report *r = calloc(1, sizeof *r);

    if (r)
        r->job = job;
    return r;
}

void ft_node_report_again(struct ft_node_report *r)
{
    struct ft_timeline *t = r ? r->job->report->timeline : NULL;

    if (r)
        r->nsaid = 0;
    if (t)
        t->said_ns = t->said_ns - t->begin_ns > AGAIN_NS ? t->said_ns - AGAIN_NS : t->begin_ns;
}

/* ---- restarts, ranks, sums ---- */

/* Those that the controller lacks, of number `first` and above. False: there are more of them than fit. */
static bool gather_restarts(struct ft_node_report *r, uint64_t first, struct ft_wire_report *m)
{
    const struct ft_report *from = r->job->report;

    for (uint64_t i = first; i < from->nrestarts; i++) {
        if (i < r->nsaid && !memcmp(&r->said[i], &from->restarts[i], sizeof r->said[i]))
            continue;
        if (m->nrestarts == FT_WIRE_ROWS)
            return false;
        m->restarts[m->nrestarts++] = (struct ft_wire_restart){.index = i, .restart = from->restarts[i]};
        memcpy(&r->said[i], &from->restarts[i], sizeof r->said[i]); /* what is between its members as well: it is compared */
        r->nsaid = ft_max(r->nsaid, i + 1);
    }
    return true;
}

static bool make_room(struct ft_node_report *r)
{
    uint64_t n = r->job->report->nrestarts;
    struct ft_restart *said;

    if (n <= r->nsaid)
        return true;
    said = realloc(r->said, n * sizeof *said);
    if (said)
        r->said = said;
    return said;
}

static struct ft_wire_life life_of(const struct ft_job *job, uint32_t rank)
{
    struct ft_wire_life life = {.total = job->report->ranks[rank]};

    life.live_ns = ft_look(&ft_region_rank(&job->region, rank)->live_ns);
    life.replayed = ft_region_replayed(&job->region, rank);
    return life;
}

static void say_report(struct ft_node_report *r, struct ft_uplink *uplink, uint64_t first, bool all)
{
    const struct ft_report *from = r->job->report;
    uint32_t nranks = from->nranks;
    struct ft_wire_report m = {.restarts = calloc(ft_min(from->nrestarts + 1, FT_WIRE_ROWS), sizeof *m.restarts),
                               .ranks = calloc(nranks, sizeof *m.ranks)};
    bool last = false;

    while (m.restarts && m.ranks && make_room(r) && !last) {
        m.nrestarts = 0;
        last = gather_restarts(r, first, &m);
        m.nranks = last && all ? nranks : 0;
        for (uint32_t i = 0; i < m.nranks; i++)
            m.ranks[i] = life_of(r->job, i);
        m.now_ns = ft_clock_ns();
        m.log_bytes = from->log_bytes;
        m.released_bytes = from->released_bytes;
        m.peak_log_bytes = from->peak_log_bytes;
        m.spilled_bytes = from->spilled_bytes;
        m.peak_memory_bytes = from->peak_memory_bytes;
        if (m.nrestarts || m.nranks)
            ft_uplink_say(uplink, ft_wire_put_report(&m));
    }
    ft_wire_report_free(&m);
}

/* ---- the timeline ---- */

struct span {
    const struct ft_timeline *t;
    uint32_t from;
};

static const struct ft_cell *row(const void *arg, uint32_t rank)
{
    const struct span *s = arg;

    return ft_timeline_row(s->t, rank) + s->from;
}

/* Cells that nothing is added to any more; or all there are. */
static void say_cells(const struct ft_node_report *r, struct ft_uplink *uplink, bool all)
{
    struct ft_timeline *t = r->job->report->timeline;
    uint64_t width = ft_timeline_width(t);
    struct span s = {t, (uint32_t)((t->said_ns - t->begin_ns) / width)};
    uint32_t end = (uint32_t)ft_min(t->ncells, (t->last_ns - t->begin_ns) / width + all), per;

    if (end <= s.from)
        return;
    per = ft_wire_cells_ranks(end - s.from);
    for (uint32_t first = 0; first < t->nranks; first += per) {
        struct ft_wire_cells m = {.now_ns = ft_clock_ns(), .begin_ns = t->begin_ns + s.from * width, .width_ns = width, .first = first,
                                  .nranks = (uint32_t)ft_min(per, t->nranks - first), .ncells = end - s.from};

        ft_uplink_say(uplink, ft_wire_put_cells(&m, row, &s));
    }
    t->said_ns = t->begin_ns + end * width;
}

/* What is looked up when it is asked for. */
static void note(struct ft_job *job, bool all)
{
    for (uint32_t i = 0; i < job->options->nranks; i++)
        if (all)
            ft_ranks_note_end(job, i);
        else if (job->report->ranks[i].restarts)
            ft_ranks_note_recovery(job, i);
    ft_job_note_log(job);
}

/* Who is fenced says nothing: that it was heard of would keep others from taking its place. */
static bool may_say(const struct ft_node_report *r, const struct ft_uplink *uplink)
{
    return r && uplink && ft_uplink_is_up(uplink) && !ft_above_is_fenced(r->job);
}

void ft_node_report_changed(struct ft_node_report *r, struct ft_uplink *uplink)
{
    if (!may_say(r, uplink))
        return;
    if (r->nsaid < r->job->report->nrestarts)
        say_report(r, uplink, r->nsaid, false);
    r->changed = true;
}

void ft_node_report_say(struct ft_node_report *r, struct ft_uplink *uplink, bool all)
{
    if (!may_say(r, uplink))
        return;
    note(r->job, all || r->changed);
    say_report(r, uplink, 0, all || r->changed);
    r->changed = false;
    if (r->job->report->timeline)
        say_cells(r, uplink, all);
}

void ft_node_report_free(struct ft_node_report *r)
{
    if (r)
        free(r->said);
    free(r);
}
