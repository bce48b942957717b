/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/durable.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/models.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "launcher/ckpt_writer.h"
#include "launcher/identity.h"
#include "launcher/job.h"
#include "launcher/shared.h"
#include "launcher/sweep.h"
#include "launcher/timer.h"

enum { RETRY_MS = 1000 };

/* Of one agent. */
struct watch {
    struct ft_ckpt_writer *writer;
    struct event *done, *later;
    struct ft_version_head *head;
    bool busy;                 /* something is being written */
    bool final, over;          /* no rank is left; nobody waits any more */
};

/* In shared memory. */
struct ft_durable {
    int dir;
    char series[FT_CKPT_SERIES], program[FT_CKPT_PROGRAM];
    struct ft_durable_totals totals;
    uint64_t begun_ns;         /* when the last one was begun */
    bool failing, unloaded_told;
    struct watch *watch;       /* of the agent */
};

const struct ft_durable_totals *ft_durable_totals(const struct ft_job *job)
{
    return job->durable ? &job->durable->totals : NULL;
}

/* ---- the directory, and resuming ---- */

static int check_empty(struct ft_durable *d, const char *path, enum ft_resume resume, struct ft_error *e)
{
    struct ft_error why;
    uint64_t *versions = NULL, newest;
    int n = ft_ckpt_dir_list(&ft_disk_real, d->dir, &versions, &why);

    newest = n > 0 ? versions[0] : 0;
    free(versions);
    if (n < 0)
        return ft_err_set(e, n, "--ckpt-dir %.300s: %.180s", path, why.text);
    if (n && resume == FT_RESUME_NO)
        return ft_err_set(e, FT_EINVAL, "--ckpt-dir %.300s: there are checkpoints of an earlier job, the newest is version %llu; --resume goes "
                          "on from it, or name another directory", path, (unsigned long long)newest);
    if (!n && resume == FT_RESUME_YES)
        return ft_err_set(e, FT_EINVAL, "--resume: there is no checkpoint in %.300s (--resume=auto begins anew then)", path);
    return 0;
}

int ft_durable_open(struct ft_job *job, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    struct ft_error why;
    struct ft_durable *d;

    if (!o->ckpt_dir)
        return 0;
    d = job->durable = ft_shared_new(sizeof *d);
    if (!d) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return FT_CODE_JOB;
    }
    memcpy(d->series, o->job_id, sizeof d->series);
    ft_identity(o, d->program, sizeof d->program);
    d->dir = ft_ckpt_dir_open(o->ckpt_dir, &why);
    if (d->dir < 0)
        ft_err_set(e, d->dir, "--ckpt-dir: %s", why.text);
    return d->dir < 0 || check_empty(d, o->ckpt_dir, o->resume, e) < 0 ? FT_CODE_USAGE : 0;
}

void ft_durable_close(struct ft_job *job)
{
    if (job->durable && job->durable->dir >= 0)
        close(job->durable->dir);
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

static void tell_passed(void *arg, const char *line)
{
    const struct ft_job *job = arg;

    ft_say(&job->say, "--resume: %s", line);
}

/* What the ranks will find: the models are in slot 0. */
static int begin_with(struct ft_job *job, const struct ft_ckpt_header *h, struct ft_error *e)
{
    for (uint32_t i = 0; i <= h->nranks; i++) {
        struct ft_model_slot *s = &ft_versions_of(&job->region, i ? i - 1 : 0)->slot[0];
        uint64_t hash;
        int err = ft_models_hash(job->models, area_of(i, 0), h->sections[i].bytes, &hash, e);

        if (err < 0)
            return err;
        atomic_store(i ? &s->nlocal : &s->nglobal, h->sections[i].bytes);
        atomic_store(i ? &s->local_hash : &s->global_hash, hash);
        atomic_store(&s->version, h->version);
    }
    for (uint32_t r = 1; r < h->nranks; r++) /* all ranks look in their own words */
        atomic_store(&ft_versions_of(&job->region, r)->slot[0].nglobal, h->sections[0].bytes);
    ft_versions_begin(&job->region, h->version, 0);
    return 0;
}

int ft_durable_resume(struct ft_job *job, struct ft_error *e)
{
    struct ft_durable *d = job->durable;
    struct ft_ckpt_wanted wanted = {.nranks = job->options->nranks, .passed = tell_passed, .arg = job};
    struct ft_ckpt_sink sink = {begin_models, put_model, job};
    struct ft_ckpt_header h;
    struct ft_error why;
    struct tm tm;
    char made[32] = "?";
    int found;

    if (!d || !job->options->resume)
        return 0;
    wanted.program = d->program;
    found = ft_ckpt_dir_load(d->dir, &wanted, &h, &sink, &why);
    if (!found)
        return 0; /* --resume=auto */
    if (found < 0) {
        ft_err_set(e, found, "--resume from %.100s: %.380s", job->options->ckpt_dir, why.text);
        return FT_CODE_USAGE;
    }
    found = begin_with(job, &h, e);
    memcpy(d->series, h.series, sizeof d->series);
    d->totals.resumed = d->totals.last = h.version;
    if (localtime_r(&(time_t){(time_t)h.made_s}, &tm))
        strftime(made, sizeof made, "%Y-%m-%d %H:%M:%S", &tm);
    ft_say_notice(&job->say, "resumed from version %llu in %s, made %s", (unsigned long long)h.version, job->options->ckpt_dir, made);
    ft_ckpt_header_free(&h);
    return found < 0 ? FT_CODE_JOB : 0;
}

/* ---- writing ---- */

static void unpin(void *arg)
{
    const struct watch *w = arg;

    ft_announce(&w->head->pinned, 0);
    ft_wake(&w->head->pinned);
}

/* From now on nobody writes over the newest version, whose sizes and hashes (those of the ranks) are put into h. False: there is none that is newer than the last one. */
static bool pin(const struct ft_job *job, struct ft_version *v, struct ft_ckpt_header *h)
{
    const struct watch *w = job->durable->watch;
    bool there;

    do {
        if (!ft_versions_newest(&job->region, 0, v) || v->version <= job->durable->totals.last) {
            unpin(job->durable->watch);
            return false;
        }
        ft_announce(&w->head->pinned, v->slot + 1);
        atomic_thread_fence(memory_order_seq_cst);
        there = true; /* who takes it for a newer one says so first, and then looks for our pin */
        for (uint32_t r = 0; there && r < h->nranks; r++) {
            const struct ft_model_slot *s = &ft_versions_of(&job->region, r)->slot[v->slot];

            there = ft_ask(&s->version) == v->version;
            h->sections[1 + r] = (struct ft_ckpt_section){ft_peek(&s->nlocal), ft_peek(&s->local_hash)};
        }
        h->sections[0] = (struct ft_ckpt_section){v->nglobal, v->global_hash};
    } while (!there);
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
    h.version = v.version;
    h.made_s = (uint64_t)time(NULL);
    memcpy(h.series, d->series, sizeof h.series);
    memcpy(h.program, d->program, sizeof h.program);
    d->begun_ns = ft_job_now();
    d->watch->busy = true;
    ft_ckpt_writer_begin(d->watch->writer, &h, v.slot, d->totals.last);
}

/* Milliseconds until something may be written again. */
static uint64_t wait_ms(const struct ft_job *job)
{
    const struct ft_durable *d = job->durable;
    uint64_t every = d->failing && job->options->ckpt_ms < RETRY_MS ? RETRY_MS : job->options->ckpt_ms;
    uint64_t since = (ft_job_now() - d->begun_ns) / 1000000;

    return !d->begun_ns || since >= every ? 0 : every - since;
}

/* It is the turn of the first version that is not older than this one. */
static uint64_t next_version(const struct ft_job *job, uint64_t kept)
{
    if (job->options->ckpt_ms)
        return kept + 1;
    return job->durable->totals.last + job->options->ckpt_versions;
}

/* Resumed, and yet it has begun anew: what it makes is not what its version says. */
static bool is_unloaded(struct ft_job *job, const struct ft_version *v)
{
    struct ft_durable *d = job->durable;

    if (!d->totals.resumed || v->base || v->version <= d->totals.last || ft_look(&ft_versions_of(&job->region, 0)->loads))
        return false;
    if (!d->unloaded_told)
        ft_say(&job->say, "the program makes checkpoints, but has not loaded version %llu, which it was resumed from; nothing is written to %s",
               (unsigned long long)d->totals.resumed, job->options->ckpt_dir);
    d->unloaded_told = true;
    return true;
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
        if (v.version > d->totals.last)
            begin_write(job);
        return;
    }
    wait = wait_ms(job);
    if (wait) {
        ft_timer_set(d->watch->later, wait);
    } else if (v.version > d->totals.last && (job->options->ckpt_ms || v.version >= next_version(job, 0))) {
        begin_write(job);
    } else {
        ft_publish(&d->watch->head->wanted, next_version(job, v.version)); /* a lazy one is to be kept then */
    }
}

static void note_failed(struct ft_job *job, const struct ft_ckpt_written *r)
{
    struct ft_durable *d = job->durable;

    d->totals.failed++;
    if (!d->failing && d->totals.last)
        ft_say(&job->say, "--ckpt-dir %s: %s; the job goes on, and version %llu is the last one there", job->options->ckpt_dir, r->e.text,
               (unsigned long long)d->totals.last);
    else if (!d->failing)
        ft_say(&job->say, "--ckpt-dir %s: %s; the job goes on without a checkpoint there", job->options->ckpt_dir, r->e.text);
    d->failing = true;
}

static void note_written(struct ft_job *job, const struct ft_ckpt_written *r)
{
    struct ft_durable *d = job->durable;
    uint64_t ns = ft_job_now() - d->begun_ns;

    d->totals.last = r->version;
    d->totals.written++;
    d->totals.bytes = r->bytes;
    d->totals.ns += ns;
    d->totals.most_ns = ns > d->totals.most_ns ? ns : d->totals.most_ns;
    if (d->failing)
        ft_say_notice(&job->say, "--ckpt-dir %s: checkpoints can be written again: version %llu", job->options->ckpt_dir,
                      (unsigned long long)r->version);
    else
        ft_say_detail(&job->say, "version %llu is in %s: %llu bytes in %.3f s", (unsigned long long)r->version, job->options->ckpt_dir,
                      (unsigned long long)r->bytes, (double)ns / 1e9);
    d->failing = false;
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
    if (result.err)
        note_failed(job, &result);
    else
        note_written(job, &result);
    w->over |= w->final && result.err; /* once more would not help */
    ft_durable_look(job);
    if (w->final)
        ft_sweep_step(job);
}

/* A line for who has hoped for some. */
static void tell_none(struct ft_job *job)
{
    struct ft_version v;

    if (!ft_versions_newest(&job->region, 0, &v) && !job->code)
        ft_say_notice(&job->say, "--ckpt-dir %s: the program has made no checkpoint", job->options->ckpt_dir);
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
    w->head = ft_versions_head(&job->region);
    config.dir = d->dir;
    config.arg = w;
    w->writer = ft_ckpt_writer_new(&config);
    if (!w->writer)
        return -1;
    unpin(w); /* what a dead agent was writing */
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
