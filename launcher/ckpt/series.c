/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ckpt/series.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/ckpt/writer.h"
#include "launcher/options/identity.h"
#include "launcher/options/options.h"

enum { RETRY_MS = 1000 };

typedef unsigned long long ull;

static const char *dir_of(const struct ft_ckpt_series *s) { return s->options->ckpt_dir; }

/* ---- the directory, and resuming ---- */

static int check_empty(const struct ft_ckpt_series *s, struct ft_error *e)
{
    struct ft_error why;
    uint64_t *versions = NULL, newest;
    int n = ft_ckpt_dir_list(&ft_disk_real, s->dir, &versions, &why);

    newest = n > 0 ? versions[0] : 0;
    free(versions);
    if (n < 0)
        return ft_err_set(e, n, "--ckpt-dir %.300s: %.180s", dir_of(s), why.text);
    if (n && s->options->resume == FT_RESUME_NO)
        return ft_err_set(e, FT_EINVAL, "--ckpt-dir %.300s: there are checkpoints of an earlier job, the newest is checkpoint %llu; --resume goes "
                          "on from it, or name another directory", dir_of(s), (ull)newest);
    if (!n && s->options->resume == FT_RESUME_YES)
        return ft_err_set(e, FT_EINVAL, "--resume: there is no checkpoint in %.300s (--resume=auto begins anew then)", dir_of(s));
    return 0;
}

int ft_ckpt_series_open(struct ft_ckpt_series *s, const struct ft_options *o, const struct ft_say *say, uint32_t nranks, struct ft_error *e)
{
    struct ft_error why;

    *s = (struct ft_ckpt_series){.options = o, .say = say, .nranks = nranks};
    memcpy(s->id, o->job_id, sizeof s->id);
    ft_identity(o, s->program, sizeof s->program);
    s->dir = ft_ckpt_dir_open(o->ckpt_dir, &why);
    if (s->dir < 0)
        return ft_err_set(e, s->dir, "--ckpt-dir: %s", why.text);
    return check_empty(s, e);
}

void ft_ckpt_series_close(struct ft_ckpt_series *s)
{
    if (s->dir >= 0)
        close(s->dir);
    s->dir = -1;
}

static void tell_passed(void *arg, const char *line)
{
    const struct ft_ckpt_series *s = arg;

    ft_say(s->say, "--resume: %s", line);
}

static int begin_models(void *arg, const struct ft_ckpt_header *h, struct ft_error *e)
{
    const int *models = arg;

    (void)e;
    for (uint32_t i = 0; i <= 2 * h->nranks; i++)
        ft_models_end(*models, ft_ckpt_area(i, 0), 0);
    return 0;
}

static int put_model(void *arg, uint32_t section, uint64_t at, const void *data, size_t n, struct ft_error *e)
{
    const int *models = arg;

    return ft_models_write(*models, ft_ckpt_area(section, 0), at, data, n, e);
}

int ft_ckpt_series_load(struct ft_ckpt_series *s, int models, struct ft_ckpt_header *h, struct ft_error *e)
{
    struct ft_ckpt_sink sink = {begin_models, put_model, &models};
    struct ft_ckpt_wanted wanted = {.program = s->program, .nranks = s->nranks, .passed = tell_passed, .arg = s};
    struct ft_error why;
    struct tm tm;
    char made[32] = "?";
    int found;

    if (!s->options->resume)
        return 0;
    found = ft_ckpt_dir_load(s->dir, &wanted, h, &sink, &why);
    if (found < 0)
        return ft_err_set(e, found, "--resume from %.100s: %.380s", dir_of(s), why.text);
    if (!found)
        return 0; /* --resume=auto */
    memcpy(s->id, h->series, sizeof s->id);
    s->totals.resumed = s->totals.last = h->version;
    if (localtime_r(&(time_t){(time_t)h->made_s}, &tm))
        strftime(made, sizeof made, "%Y-%m-%d %H:%M:%S", &tm);
    ft_say_notice(s->say, "resumed from checkpoint %llu in %s, made %s", (ull)h->version, dir_of(s), made);
    return 1;
}

int ft_ckpt_series_hash(int models, struct ft_ckpt_header *h, struct ft_error *e)
{
    int err = 0;

    for (uint32_t i = 0; i < ft_ckpt_header_sections(h) && !err; i++)
        err = ft_models_hash(models, ft_ckpt_area(i, 0), h->sections[i].bytes, &h->sections[i].hash, e);
    return err;
}

/* ---- writing ---- */

void ft_ckpt_series_begin(struct ft_ckpt_series *s, struct ft_ckpt_header *h, uint64_t version)
{
    h->version = version;
    h->made_s = (uint64_t)time(NULL);
    memcpy(h->series, s->id, sizeof h->series);
    memcpy(h->program, s->program, sizeof h->program);
    s->begun_ns = ft_clock_ns();
}

static void note_failed(struct ft_ckpt_series *s, const struct ft_ckpt_written *r)
{
    s->totals.failed++;
    if (!s->failing && r->there)
        ft_say(s->say, "--ckpt-dir %s: %s; the job goes on, and checkpoint %llu is the last one there", dir_of(s), r->e.text, (ull)r->there);
    else if (!s->failing)
        ft_say(s->say, "--ckpt-dir %s: %s; the job goes on without a checkpoint there", dir_of(s), r->e.text);
    s->untold = s->failing;
    s->there = r->there;
    s->failing = true;
}

void ft_ckpt_series_tell_end(struct ft_ckpt_series *s)
{
    if (s->untold && s->there)
        ft_say(s->say, "--ckpt-dir %s: at the end of the job checkpoint %llu is the last one there", dir_of(s), (ull)s->there);
    else if (s->untold)
        ft_say(s->say, "--ckpt-dir %s: at the end of the job there is no checkpoint there", dir_of(s));
    s->untold = false;
}

/* What had been written is not there any more, or is. */
static void note_looked(struct ft_ckpt_series *s, const struct ft_ckpt_written *r)
{
    if (r->there < s->totals.last) {
        s->totals.last = r->there;
        s->totals.last_ns = 0;
    }
}

static void note_written(struct ft_ckpt_series *s, const struct ft_ckpt_written *r)
{
    uint64_t now = ft_clock_ns(), ns = now - s->begun_ns;

    s->totals.last = r->version;
    s->totals.last_ns = now;
    s->totals.written++;
    s->totals.bytes = r->bytes;
    s->totals.ns += ns;
    s->totals.most_ns = ns > s->totals.most_ns ? ns : s->totals.most_ns;
    if (s->failing)
        ft_say_notice(s->say, "--ckpt-dir %s: checkpoints can be written again: checkpoint %llu", dir_of(s), (ull)r->version);
    else
        ft_say_detail(s->say, "checkpoint %llu is in %s: %llu bytes in %.3f s", (ull)r->version, dir_of(s), (ull)r->bytes, (double)ns / 1e9);
    s->failing = s->untold = false;
}

void ft_ckpt_series_note(struct ft_ckpt_series *s, const struct ft_ckpt_written *r)
{
    if (r->moved)
        ft_say_notice(s->say, "--ckpt-dir %s: it is another directory than before (removed and made again?); checkpoints go there from now on", dir_of(s));
    if (!r->version)
        note_looked(s, r);
    else if (r->err)
        note_failed(s, r);
    else
        note_written(s, r);
}

uint64_t ft_ckpt_series_wait_ms(const struct ft_ckpt_series *s)
{
    uint64_t every = s->failing && s->options->ckpt_ms < RETRY_MS ? RETRY_MS : s->options->ckpt_ms;
    uint64_t since = (ft_clock_ns() - s->begun_ns) / 1000000;

    return !s->begun_ns || since >= every ? 0 : every - since;
}

uint64_t ft_ckpt_series_next(const struct ft_ckpt_series *s, uint64_t kept)
{
    return s->options->ckpt_ms ? kept + 1 : s->totals.last + s->options->ckpt_versions;
}

bool ft_ckpt_series_is_due(const struct ft_ckpt_series *s, uint64_t version)
{
    return version > s->totals.last && (s->options->ckpt_ms || version >= ft_ckpt_series_next(s, 0));
}

/* ---- lines ---- */

void ft_ckpt_series_tell_unloaded(struct ft_ckpt_series *s)
{
    if (!s->unloaded_told)
        ft_say(s->say, "the program makes checkpoints, but has not loaded checkpoint %llu, which it was resumed from; nothing is written to %s",
               (ull)s->totals.resumed, dir_of(s));
    s->unloaded_told = true;
}

void ft_ckpt_series_tell_none(const struct ft_ckpt_series *s)
{
    ft_say_notice(s->say, "--ckpt-dir %s: the program has made no checkpoint", dir_of(s));
}
