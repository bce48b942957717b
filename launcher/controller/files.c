/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/files.h"

#include <stdlib.h>

#include "launcher/base/say.h"
#include "launcher/options/options.h"
#include "launcher/stdio/output_dir.h"

struct ft_files {
    struct ft_output_dir dir;
    const struct ft_say *say;
    bool failed;
    uint64_t written[];        /* 2 * rank + stream: bytes */
};

int ft_files_new(struct ft_files **out, const struct ft_options *o, const struct ft_say *say, struct ft_error *e)
{
    struct ft_files *f;
    int err;

    *out = NULL;
    if (!o->output_dir)
        return 0;
    f = calloc(1, sizeof *f + 2 * (size_t)o->nranks * sizeof f->written[0]);
    if (!f)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    f->say = say;
    if ((err = ft_output_dir_read(&f->dir, o->output_dir, o->nranks, o->merge_stderr, e)) < 0 || (err = ft_output_dir_make(&f->dir, e)) < 0) {
        free(f);
        return err;
    }
    *out = f;
    return 0;
}

bool ft_files_instead(const struct ft_files *f)
{
    return f && f->dir.instead;
}

void ft_files_append(struct ft_files *f, uint32_t rank, int stream, const char *data, size_t len)
{
    uint64_t *written = &f->written[2 * (size_t)rank + (size_t)stream];
    struct ft_error e;

    if (ft_output_dir_write(&f->dir, rank, stream, *written, data, len, &e) < 0 && !f->failed) {
        f->failed = true;
        ft_say(f->say, "%s", e.text);
    }
    *written += len;
}

bool ft_files_failed(const struct ft_files *f)
{
    return f && f->failed;
}

void ft_files_free(struct ft_files *f)
{
    free(f);
}
