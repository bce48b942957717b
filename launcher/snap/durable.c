/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/snap/durable.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/shm/models.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/ckpt/writer.h"
#include "launcher/job/job.h"
#include "launcher/job/pin.h"

/* Of one agent. */
struct watch {
    struct ft_ckpt_writer *writer;
    struct event *done, *later;
    bool busy;                 /* something is being written */
    bool final, over;          /* no rank is left; nobody waits any more */
    bool looked;               /* then: for what had been written */
};

/* In shared memory. */
struct ft_durable {
    struct ft_ckpt_series series;
    struct watch *watch;       /* of the agent */
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

static int begin_models(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    const struct ft_job *job = arg;

    (void)e;
    ft_models_end(job->models, ft_models_global(0), 0);
    for (uint32_t r = 0; r < h->nranks; r++)
        ft_models_end(job->models, ft_models_local(r, 0), 0);
    return 0;
}

static uint64_t area_of(uint32_t section, uint32_t slot)
{
    return section ? ft_models_local(section - 1, slot) : ft_models_global(slot);
}

static int put_model(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    const struct ft_job *job = arg;

    return ft_models_write(job->models, area_of(section, 0), at, data, n, e);
}

void ft_durable_begin(const struct ft_job *job, uint64_t version, const struct ft_ckpt_section *models)
{
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_model_slot *s = &ft_versions_of(&job->region, r)->slot[0];

        ft_note(&s->nglobal, models[0].bytes); /* all ranks look in their own words */
        ft_note(&s->global_hash, r ? 0 : models[0].hash);
        ft_note(&s->nlocal, models[1 + r].bytes);
        ft_note(&s->local_hash, models[1 + r].hash);
        ft_publish(&s->version, version);
    }
    ft_versions_begin(&job->region, version, 0);
}

/* What the ranks will find: the models are in slot 0. The file's hashes are of another kind. */
static int begin_with(const struct ft_job *job, struct ft_ckpt_header *h, struct ft_error *e)
{
    for (uint32_t i = 0; i <= h->nranks; i++) {
        int err = ft_models_hash(job->models, area_of(i, 0), h->sections[i].bytes, &h->sections[i].hash, e);

        if (err < 0)
            return err;
    }
    ft_durable_begin(job, h->version, h->sections);
    return 0;
}

int ft_durable_resume(struct ft_job *job, struct ft_error *e)
{
    struct ft_ckpt_sink sink = {begin_models, put_model, job};
    struct ft_ckpt_header h;
    int found = job->durable ? ft_ckpt_series_load(&job->durable->series, &h, &sink, e) : 0;

    if (found <= 0)
        return found ? FT_CODE_USAGE : 0;
    found = begin_with(job, &h, e);
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
    d->watch->busy = true;
    ft_ckpt_writer_begin(d->watch->writer, &h, v.slot, d->series.totals.last);
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

/* What was written may have been removed since: then it is written again. */
static void write_last(struct ft_job *job, uint64_t version)
{
    struct ft_durable *d = job->durable;

    if (!d->watch->looked) {
        d->watch->looked = d->watch->busy = true;
        ft_ckpt_writer_look(d->watch->writer, d->series.totals.last);
    } else if (version > d->series.totals.last) {
        begin_write(job);
    } else {
        ft_ckpt_series_tell_end(&d->series);
    }
}

void ft_durable_look(struct ft_job *job)
{
    struct ft_durable *d = job->durable;
    struct ft_version v;
    uint64_t wait;

    if (!d || !d->watch || d->watch->busy || d->watch->over)
        return;
    ft_versions_newest(&job->region, 0, &v);
    if (is_unloaded(job, &v))
        return;
    if (d->watch->final) {
        write_last(job, v.version);
        return;
    }
    wait = ft_ckpt_series_wait_ms(&d->series);
    if (wait)
        ft_timer_set(d->watch->later, wait);
    else if (ft_ckpt_series_is_due(&d->series, v.version))
        begin_write(job);
    else
        ft_publish(&ft_versions_head(&job->region)->wanted, ft_ckpt_series_next(&d->series, v.version)); /* a lazy one is to be kept then */
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    struct ft_job *job = arg;
    struct watch *w = job->durable->watch;
    struct ft_ckpt_written result;

    (void)fd;
    (void)what;
    if (!ft_ckpt_writer_take(w->writer, &result))
        return;
    w->busy = false;
    ft_ckpt_series_note(&job->durable->series, &result);
    w->over |= w->final && result.version && result.err; /* once more would not help */
    if (w->over)
        ft_ckpt_series_tell_end(&job->durable->series);
    ft_durable_look(job);
    if (w->final)
        ft_timer_set(job->again, 0); /* the end of the job waits for it */
}

static void tell_none(const struct ft_job *job)
{
    struct ft_version v;

    if (!ft_versions_newest(&job->region, 0, &v) && !job->code)
        ft_ckpt_series_tell_none(&job->durable->series);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ft_durable_look(arg);
}

bool ft_durable_settled(struct ft_job *job)
{
    struct ft_durable *d = job->durable;

    if (!d || !d->watch || d->watch->over)
        return true;
    if (!d->watch->final)
        tell_none(job);
    d->watch->final = true;
    ft_durable_look(job);
    return !d->watch->busy;
}

void ft_durable_hurry(struct ft_job *job)
{
    if (job->durable && job->durable->watch && job->durable->watch->final)
        job->durable->watch->over = true;
}

void ft_durable_forget(struct ft_job *job)
{
    if (job->durable)
        job->durable->watch = NULL;
}

int ft_durable_watch(struct ft_job *job)
{
    struct ft_durable *d = job->durable;
    struct ft_ckpt_writer_config config = {.models = job->models, .taken = unpin};
    struct watch *w;

    if (!d)
        return 0;
    d->watch = w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    config.dir = d->series.dir;
    config.path = job->options->ckpt_dir;
    config.series = d->series.id;
    config.arg = job;
    w->writer = ft_ckpt_writer_new(&config);
    if (!w->writer)
        return -1;
    unpin(job); /* what a dead agent was writing */
    w->done = event_new(job->base, ft_ckpt_writer_fd(w->writer), EV_READ | EV_PERSIST, on_done, job);
    w->later = evtimer_new(job->base, on_later, job);
    if (!w->done || !w->later || event_add(w->done, NULL) < 0)
        return -1;
    ft_timer_set(w->later, 0);
    return 0;
}

void ft_durable_unwatch(struct ft_job *job)
{
    struct watch *w = job->durable ? job->durable->watch : NULL;

    if (!w)
        return;
    ft_ckpt_writer_free(w->writer);
    if (w->done)
        event_free(w->done);
    if (w->later)
        event_free(w->later);
    free(w);
    job->durable->watch = NULL;
}
