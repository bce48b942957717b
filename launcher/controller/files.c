/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/say.h"
#include "launcher/options/options.h"
#include "launcher/stdio/output_dir.h"
#include "launcher/stdio/writer.h"

struct ft_files {
    struct ft_output_dir dir;
    struct ft_writer *writer;
    const struct ft_say *say;
    bool failed, dropped;
    uint64_t given[];          /* 2 * rank + stream: bytes */
};

int ft_files_new(struct ft_files **out, const struct ft_files_config *config, struct ft_error *e)
{
    const struct ft_options *o = config->options;
    struct ft_files *f;
    int err;

    *out = NULL;
    if (!o->output_dir)
        return 0;
    f = calloc(1, sizeof *f + 2 * (size_t)o->nranks * sizeof f->given[0]);
    if (!f)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    f->say = config->say;
    if ((err = ft_output_dir_read(&f->dir, o->output_dir, o->nranks, o->merge_stderr, e)) < 0 || (err = ft_output_dir_make(&f->dir, e)) < 0) {
        free(f);
        return err;
    }
    f->writer = ft_writer_new(config->base, config->room, config->arg);
    if (!f->writer) {
        free(f);
        return ft_err_set(e, FT_ESYS, "cannot start a thread that writes output: %s", strerror(errno));
    }
    *out = f;
    return 0;
}

bool ft_files_instead(const struct ft_files *f)
{
    return f && f->dir.instead;
}

/* In the writer's thread. */
static int write_piece(const struct ft_writer_piece *p, struct ft_error *e)
{
    const struct ft_files *f = p->arg;

    return ft_output_dir_write(&f->dir, p->which / 2, (int)(p->which % 2), p->at, p->data, p->len, e);
}

static void on_written(const struct ft_writer_piece *p, int error, const struct ft_error *e)
{
    struct ft_files *f = p->arg;

    if (error && !f->failed) {
        f->failed = true;
        ft_say(f->say, "%s", e->text);
    }
}

void ft_files_append(struct ft_files *f, uint32_t rank, int stream, const char *data, size_t len)
{
    uint64_t *given = &f->given[2 * (size_t)rank + (size_t)stream];
    struct ft_writer_piece p = {.write = write_piece, .done = on_written, .arg = f, .which = 2 * rank + (uint32_t)stream, .at = *given,
                                .data = data, .len = len};
    struct ft_error e;

    if (f->dropped)
        return;
    if (!ft_writer_add(f->writer, &p))
        on_written(&p, ft_err_set(&e, FT_ENOMEM, "output of rank %u was lost: out of memory", rank), &e);
    *given += len;
}

/* In the writer's thread. */
static int write_said(const struct ft_writer_piece *p, struct ft_error *e)
{
    const struct ft_files *f = p->arg;

    (void)e;
    ft_output_dir_say(&f->dir, p->data, p->len);
    return 0;
}

void ft_files_say(struct ft_files *f, const char *line, size_t len, bool later)
{
    struct ft_writer_piece p = {.write = write_said, .done = on_written, .arg = f, .data = line, .len = len};

    if (f->dropped)
        return;
    if (!later)
        ft_output_dir_say(&f->dir, line, len);
    else if (!ft_writer_add(f->writer, &p))
        f->failed = true;
}

bool ft_files_full(const struct ft_files *f)
{
    return f && !f->dropped && ft_writer_full(f->writer);
}

uint64_t ft_files_given(const struct ft_files *f)
{
    return f && !f->dropped ? ft_writer_added(f->writer) : 0;
}

uint64_t ft_files_written(const struct ft_files *f)
{
    return f && !f->dropped ? ft_writer_done(f->writer) : 0;
}

void ft_files_drop(struct ft_files *f)
{
    if (f)
        f->dropped = true;
}

bool ft_files_failed(const struct ft_files *f)
{
    return f && f->failed;
}

void ft_files_free(struct ft_files *f)
{
    if (f && ft_writer_free(f->writer)) /* else the thread has it */
        free(f);
}
