/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"
#include "launcher/options/options.h"
#include "launcher/stdio/output_dir.h"
#include "launcher/stdio/spool.h"
#include "launcher/stdio/writer.h"

enum { PIECE = 64 << 10, FULL = 1 << 20 };

/* In the spool, before its bytes. */
struct head {
    uint64_t at;               /* in its file */
    uint32_t which, len;       /* which: 2 * rank + stream */
};

struct ft_files {
    struct ft_output_dir dir;
    struct ft_spool spool;     /* its error: a file could not be written; dead: dropped */
    struct ft_writer *writer;  /* of the process that writes, as what follows */
    const struct ft_say *say;
    uint64_t ahead;            /* bytes that were put ahead of the tail */
    uint64_t asked;            /* place in the spool; what is below was given to the writer */
    bool left;                 /* the writer's thread still has this */
};

int ft_files_new(struct ft_files **out, const struct ft_options *o, struct ft_error *e)
{
    struct ft_files *f;
    int err;

    *out = NULL;
    if (!o->output_dir)
        return 0;
    f = calloc(1, sizeof *f);
    if (!f)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    f->spool.fd = -1;
    if ((err = ft_output_dir_read(&f->dir, o->output_dir, o->nranks, o->merge_stderr, e)) < 0 || (err = ft_output_dir_make(&f->dir, e)) < 0) {
        free(f);
        return err;
    }
    f->spool = (struct ft_spool){.state = ft_shared_new(sizeof *f->spool.state), .fd = memfd_create("ftmpi-files", MFD_CLOEXEC)};
    if (!f->spool.state || f->spool.fd < 0) {
        ft_files_free(f);
        return ft_err_set(e, FT_ESYS, "cannot make memory for what goes to files: %s", strerror(errno));
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

static void fail(struct ft_files *f, const char *line)
{
    if (f->spool.state->error)
        return;
    f->spool.state->error = EIO;
    ft_say(f->say, "%s", line);
}

static void hand_over(struct ft_files *f);

static void on_written(const struct ft_writer_piece *p, int error, const struct ft_error *e)
{
    struct ft_files *f = p->arg;

    if (error)
        fail(f, e->text);
    ft_spool_taken(&f->spool, f->spool.written + sizeof(struct head) + p->len);
    hand_over(f);
}

/* What waits beyond that stays in the spool. */
static void hand_over(struct ft_files *f)
{
    struct ft_writer_piece p = {.write = write_piece, .done = on_written, .arg = f};
    char data[PIECE];
    struct head h;

    while (ft_spool_pending(&f->spool) && f->asked < f->spool.state->tail && !ft_writer_full(f->writer)) {
        bool read = pread(f->spool.fd, &h, sizeof h, (off_t)f->asked) == sizeof h && h.len <= sizeof data &&
                    pread(f->spool.fd, data, h.len, (off_t)(f->asked + sizeof h)) == (ssize_t)h.len;

        p.which = h.which;
        p.at = h.at;
        p.data = data;
        p.len = h.len;
        if (!read || !ft_writer_add(f->writer, &p)) {
            fail(f, "output of ranks was lost: out of memory");
            ft_files_drop(f);
            return;
        }
        f->asked += sizeof h + h.len;
    }
}

int ft_files_open(struct ft_files *f, const struct ft_files_config *config)
{
    if (!f)
        return 0;
    f->say = config->say;
    f->ahead = 0;
    f->writer = ft_writer_new(config->base, config->room, config->arg);
    if (!f->writer)
        return -1;
    ft_spool_adopt(&f->spool, -1);
    f->asked = f->spool.written;
    hand_over(f);
    return 0;
}

uint64_t ft_files_place(const struct ft_files *f) { return f ? f->spool.state->tail + f->ahead : 0; }

void ft_files_put_ahead(struct ft_files *f, uint32_t rank, int stream, uint64_t at, const char *data, size_t len)
{
    for (size_t n; len && !f->spool.state->dead; at += n, data += n, len -= n) {
        struct head h = {.at = at, .which = 2 * rank + (uint32_t)stream};

        n = ft_min(len, (size_t)PIECE);
        h.len = (uint32_t)n;
        ft_spool_put(&f->spool, ft_files_place(f), &h, sizeof h);
        ft_spool_put(&f->spool, ft_files_place(f) + sizeof h, data, n);
        f->ahead += sizeof h + n;
    }
}

void ft_files_publish(struct ft_files *f, uint64_t place)
{
    if (!f)
        return;
    f->ahead = 0;
    if (place <= f->spool.state->tail)
        return;
    ft_stdio_order();
    f->spool.state->tail = place;
    if (f->writer) /* else when it is opened */
        hand_over(f);
}

/* In the writer's thread. */
static int write_said(const struct ft_writer_piece *p, struct ft_error *e)
{
    const struct ft_files *f = p->arg;

    (void)e;
    ft_output_dir_say(&f->dir, p->data, p->len);
    return 0;
}

static void on_said(const struct ft_writer_piece *p, int error, const struct ft_error *e)
{
    (void)p;
    (void)error;
    (void)e;
}

void ft_files_say(struct ft_files *f, const char *line, size_t len, bool later)
{
    struct ft_writer_piece p = {.write = write_said, .done = on_said, .arg = f, .data = line, .len = len};

    if (f->spool.state->dead)
        return;
    if (!later || !f->writer || !ft_writer_add(f->writer, &p))
        ft_output_dir_say(&f->dir, line, len);
}

bool ft_files_full(const struct ft_files *f)
{
    return f && ft_spool_pending(&f->spool) >= FULL;
}

uint64_t ft_files_given(const struct ft_files *f)
{
    return f && !f->spool.state->dead ? f->spool.state->tail : 0;
}

uint64_t ft_files_written(const struct ft_files *f)
{
    return f && !f->spool.state->dead ? f->spool.written : 0;
}

void ft_files_drop(struct ft_files *f)
{
    if (f)
        ft_spool_give_up(&f->spool, 0);
}

bool ft_files_failed(const struct ft_files *f)
{
    return f && f->spool.state->error;
}

void ft_files_close(struct ft_files *f)
{
    if (f)
        f->left = !ft_writer_free(f->writer);
}

void ft_files_free(struct ft_files *f)
{
    if (!f || f->left)
        return;
    if (f->spool.fd >= 0)
        close(f->spool.fd);
    ft_shared_free(f->spool.state, sizeof *f->spool.state);
    free(f);
}
