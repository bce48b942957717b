/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/durable.h"

#include <stdlib.h>

#include "ft/shm/versions.h"
#include "ft/shm/word.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/ckpt/turn.h"
#include "launcher/job/job.h"
#include "launcher/job/pin.h"

/* In shared memory. */
struct ft_durable {
    struct ft_ckpt_series series;
    struct ft_ckpt_turn *turn; /* of the agent */
};

const struct ft_durable_totals *ft_durable_totals(const struct ft_job *job)
{
    return job->durable ? &job->durable->series.totals : NULL;
}

/* ---- the directory, and resuming ---- */

int ft_durable_open(struct ft_job *job, struct ft_error *e)
{
    if (!job->options->ckpt_dir)
        return 0;
    job->durable = ft_shared_new(sizeof *job->durable);
    if (!job->durable) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return FT_CODE_JOB;
    }
    return ft_ckpt_series_open(&job->durable->series, job->options, &job->say, job->options->nranks, e) < 0 ? FT_CODE_USAGE : 0;
}

void ft_durable_close(struct ft_job *job)
{
    if (job->durable)
        ft_ckpt_series_close(&job->durable->series);
    ft_shared_free(job->durable, sizeof *job->durable);
    job->durable = NULL;
}

void ft_durable_begin(const struct ft_job *job, uint64_t version, const struct ft_ckpt_section *models, const struct ft_ckpt_section *carried)
{
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_model_slot *s = &ft_versions_of(&job->region, r)->slot[0];

        ft_note(&s->nglobal, models[0].bytes); /* all ranks look in their own words */
        ft_note(&s->global_hash, r ? 0 : models[0].hash);
        ft_note(&s->nlocal, models[1 + r].bytes);
        ft_note(&s->local_hash, models[1 + r].hash);
        ft_note(&s->ncarried, carried ? carried[r].bytes : 0);
        ft_note(&s->carried_hash, carried ? carried[r].hash : 0);
        ft_publish(&s->version, version);
    }
    ft_versions_begin(&job->region, version, 0);
}

int ft_durable_resume(struct ft_job *job, struct ft_error *e)
{
    struct ft_ckpt_header h;
    int found = job->durable ? ft_ckpt_series_load(&job->durable->series, job->models, &h, e) : 0;

    if (found <= 0)
        return found ? FT_CODE_USAGE : 0;
    found = ft_ckpt_series_hash(job->models, &h, e);
    if (!found)
        ft_durable_begin(job, h.version, h.sections, h.sections + 1 + h.nranks);
    ft_ckpt_header_free(&h);
    return found < 0 ? FT_CODE_JOB : 0;
}

/* ---- writing ---- */

static void unpin(void *arg)
{
    const struct ft_job *job = arg;

    ft_pin_drop(&job->region, FT_PIN_FILE);
}

/* From now on nobody writes over the newest version, whose sizes and hashes (those of the ranks) are put into h. False: there is none that is newer than the last one. */
static bool pin(const struct ft_job *job, struct ft_version *v, struct ft_ckpt_header *h)
{
    if (!ft_pin_newest(&job->region, FT_PIN_FILE, job->durable->series.totals.last, v))
        return false;
    h->sections[0] = (struct ft_ckpt_section){v->nglobal, v->global_hash};
    for (uint32_t r = 0; r < h->nranks; r++) {
        const struct ft_model_slot *s = &ft_versions_of(&job->region, r)->slot[v->slot];

        h->sections[1 + r] = (struct ft_ckpt_section){ft_peek(&s->nlocal), ft_peek(&s->local_hash)};
        h->sections[1 + h->nranks + r] = (struct ft_ckpt_section){ft_peek(&s->ncarried), ft_peek(&s->carried_hash)};
    }
    return true;
}

static void begin_write(struct ft_job *job)
{
    struct ft_durable *d = job->durable;
    struct ft_ckpt_header h;
    struct ft_version v;
    struct ft_error e;

    if (ft_ckpt_header_new(&h, job->options->nranks, &e) < 0)
        return; /* the next look tries again */
    if (!pin(job, &v, &h)) {
        ft_ckpt_header_free(&h);
        return;
    }
    ft_ckpt_series_begin(&d->series, &h, v.version);
    ft_ckpt_turn_write(d->turn, &h, v.slot);
}

/* Resumed, and yet it has begun anew. */
static bool is_unloaded(struct ft_job *job, const struct ft_version *v)
{
    struct ft_ckpt_series *s = &job->durable->series;

    if (!s->totals.resumed || v->base || v->version <= s->totals.last || ft_look(&ft_versions_of(&job->region, 0)->loads))
        return false;
    ft_ckpt_series_tell_unloaded(s);
    return true;
}

void ft_durable_look(struct ft_job *job)
{
    struct ft_durable *d = job->durable;
    struct ft_version v;

    if (!d || !d->turn || !ft_ckpt_turn_is_free(d->turn))
        return;
    ft_versions_newest(&job->region, 0, &v);
    if (is_unloaded(job, &v))
        return;
    switch (ft_ckpt_turn_next(d->turn, v.version)) {
    case FT_TURN_NONE:
        break;
    case FT_TURN_KEEP: /* a lazy one, too */
        ft_publish(&ft_versions_head(&job->region)->wanted, ft_ckpt_series_next(&d->series, v.version));
        break;
    case FT_TURN_WRITE:
        begin_write(job);
        break;
    case FT_TURN_LAST:
        if (v.version > d->series.totals.last)
            begin_write(job);
        else
            ft_ckpt_turn_end(d->turn);
    }
}

static void look(void *arg) { ft_durable_look(arg); }

static void written(void *arg)
{
    struct ft_job *job = arg;

    ft_durable_look(job);
    if (job->durable->turn->final)
        ft_timer_set(job->again, 0); /* the end of the job waits for it */
}

static void tell_none(const struct ft_job *job)
{
    struct ft_version v;

    if (!ft_versions_newest(&job->region, 0, &v) && !job->code)
        ft_ckpt_series_tell_none(&job->durable->series);
}

bool ft_durable_settled(struct ft_job *job)
{
    struct ft_durable *d = job->durable;

    if (!d || !d->turn || d->turn->over)
        return true;
    if (!d->turn->final)
        tell_none(job);
    d->turn->final = true;
    ft_durable_look(job);
    return !d->turn->busy;
}

void ft_durable_hurry(struct ft_job *job)
{
    if (job->durable && job->durable->turn && job->durable->turn->final)
        job->durable->turn->over = true;
}

void ft_durable_forget(struct ft_job *job)
{
    if (job->durable)
        job->durable->turn = NULL;
}

int ft_durable_watch(struct ft_job *job)
{
    struct ft_durable *d = job->durable;
    struct ft_ckpt_turn_config config = {.base = job->base, .look = look, .written = written, .taken = unpin, .arg = job};

    if (!d)
        return 0;
    d->turn = calloc(1, sizeof *d->turn);
    if (!d->turn)
        return -1;
    unpin(job); /* what a dead agent was writing */
    config.series = &d->series;
    config.models = job->models;
    if (ft_ckpt_turn_open(d->turn, &config) < 0)
        return -1;
    ft_ckpt_turn_later(d->turn, 0);
    return 0;
}

void ft_durable_unwatch(struct ft_job *job)
{
    if (!job->durable || !job->durable->turn)
        return;
    ft_ckpt_turn_close(job->durable->turn);
    free(job->durable->turn);
    job->durable->turn = NULL;
}
