/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/stdio/format.h"
#include "launcher/stdio/output_dir.h"
#include "launcher/stdio/spool.h"
#include "launcher/stdio/stage.h"
#include "launcher/wire/wire.h"

enum { LONG_LINE = 64 << 10 };

struct ft_forward {
    struct ft_stdio_memory *m;
    struct ft_forward_config config;
    /* the change being made, of one stream */
    uint32_t stream;
    struct ft_lines lines;
    uint64_t written, tail;  /* where the next bytes go: in the rank's file, in the spool */
    uint64_t position;       /* ..., of what is emitted in one step: of its first record, and the others go on with its line (wire.h) */
    bool last;
    bool whole;              /* a line begins and ends in them */
    char tag[FT_TAG_BYTES];
    size_t tag_len;          /* 0: lines are not tagged */
    struct ft_stage stage;   /* to put() */
    bool left_out;           /* it is not spooled, but for a file */
    bool untold;             /* a file could not be written: told after the step, since a line of our own may go to the same spool */
    struct ft_error error;   /* ..., why */
};

static void apply(struct ft_stdio_memory *m)
{
    struct ft_stdio_commit *c = &m->shared->commit;
    struct ft_spool_state *spool = ft_stdio_spool(m, c->stream)->state;

    m->shared->streams[c->stream] = c->state;
    m->shared->taken = c->taken;
    if (spool->tail != c->tail)
        spool->last = c->stream;
    ft_stdio_order();
    spool->tail = c->tail;
    ft_stdio_order();
    atomic_store_explicit(&c->valid, 0, memory_order_release);
    ft_stdio_order();
}

static void write_file(struct ft_forward *f, const char *data, size_t len)
{
    struct ft_error e;

    if (ft_output_dir_write(&f->m->dir, f->stream / 2, (int)(f->stream % 2), f->written, data, len, &e) < 0 &&
        !f->m->shared->file_failed) {
        f->m->shared->file_failed = f->untold = true;
        f->error = e;
    }
    f->written += len;
}

/* A whole line would follow on a part of another rank's line. */
static bool must_break(const struct ft_forward *f, const struct ft_spool *spool)
{
    return f->whole && f->tail == spool->state->tail && spool->state->last / 2 != f->stream / 2 &&
           ft_spool_open(spool, f->tail);
}

static void write_spool(struct ft_forward *f, const char *data, size_t len)
{
    struct ft_spool *spool = ft_stdio_spool(f->m, f->stream);

    if (must_break(f, spool)) {
        if (f->config.tap)
            f->config.tap(f->config.arg, (int)(f->stream % 2), "\n", 1);
        ft_spool_put(spool, f->tail++, "\n", 1);
    }
    if (f->config.tap)
        f->config.tap(f->config.arg, (int)(f->stream % 2), data, len);
    if (spool->state->dead)
        return;
    ft_spool_put(spool, f->tail, data, len);
    f->tail += len;
}

/* One node of several. What it is that is spooled says its head; a long line is more than one record. */
static void write_records(struct ft_forward *f, bool begins, const char *data, size_t len)
{
    struct ft_spool *spool = ft_stdio_spool(f->m, f->stream);
    uint8_t head[FT_WIRE_RECORD];

    while (len && !spool->state->dead) {
        struct ft_wire_record r = {.rank = f->m->config.ranks[f->stream / 2], .stream = f->stream % 2, .position = f->position,
                                   .length = (uint32_t)ft_min(len, FT_WIRE_PIECE)};

        r.flags = (uint16_t)((begins ? FT_RECORD_BEGINS : 0) | (len > r.length ? FT_RECORD_MORE : f->last ? FT_RECORD_LAST : 0) |
                             (f->left_out ? FT_RECORD_LEFT_OUT : 0));
        ft_wire_record_head(head, &r);
        ft_spool_put(spool, f->tail, head, sizeof head);
        ft_spool_put(spool, f->tail + sizeof head, data, r.length);
        f->tail += sizeof head + r.length;
        begins = data[r.length - 1] == '\n';
        data += r.length;
        len -= r.length;
    }
}

static void put(void *arg, const char *data, size_t len)
{
    struct ft_forward *f = arg;

    if (f->m->config.output_dir)
        write_file(f, data, len);
    if (!f->m->dir.instead && !f->left_out)
        write_spool(f, data, len);
}

static void emit(void *arg, bool begins, const char *data, size_t len)
{
    struct ft_forward *f = arg;

    f->whole = begins && memchr(data, '\n', len);
    if (f->m->config.ranks)
        write_records(f, begins, data, len);
    else if (f->tag_len)
        ft_format_lines(f->tag, f->tag_len, begins, f->last, data, len, ft_stage_add, &f->stage);
    else
        put(f, data, len);
}

/* Step 3 begins: a copy of the stream's state to work on. */
static void begin(struct ft_forward *f, uint32_t stream)
{
    const struct ft_forward_config *c = &f->config;
    time_t now = c->timestamp ? time(NULL) : 0;
    struct tm local;

    f->stream = stream;
    f->lines = ft_stdio_lines(f->m, stream);
    f->written = f->m->shared->streams[stream].written;
    f->position = ft_wire_position(f->lines.s.n, f->lines.s.shown);
    f->tail = ft_stdio_spool(f->m, stream)->state->tail;
    f->last = false;
    f->tag_len = 0;
    if (c->tag || c->timestamp)
        f->tag_len = ft_format_tag(f->tag, c->tag, c->timestamp ? localtime_r(&now, &local) : NULL, stream / 2, (int)(stream % 2));
}

/* Step 4. */
static void commit(struct ft_forward *f, uint64_t taken)
{
    struct ft_stdio_commit *c = &f->m->shared->commit;
    bool was_long = f->m->shared->streams[f->stream].lines.len > LONG_LINE;

    ft_stage_flush(&f->stage);
    c->stream = f->stream;
    c->state = (struct ft_stream_state){.lines = f->lines.s, .written = f->written};
    c->taken = taken;
    c->tail = f->tail;
    ft_stdio_order();
    atomic_store_explicit(&c->valid, 1, memory_order_release);
    ft_stdio_order();
    apply(f->m);
    if (was_long && !f->lines.s.len)
        madvise(f->lines.part, f->lines.longest, MADV_REMOVE); /* kept for good otherwise, for each rank that had one */
    if (f->untold) {
        f->untold = false;
        f->config.failed(f->config.arg, &f->error);
    }
}

/* Steps 3 to 5 for what the intake holds. */
static void feed(struct ft_forward *f, uint64_t end)
{
    struct ft_stdio_shared *shared = f->m->shared;

    while (shared->taken < end) {
        begin(f, shared->source);
        commit(f, shared->taken + ft_lines_step(&f->lines, f->m->intake + shared->taken, end - shared->taken, emit, f));
    }
    lseek(f->m->intake_fd, 0, SEEK_SET);
    ft_stdio_order();
    shared->taken = 0;
}

ssize_t ft_forward_take(struct ft_forward *f, uint32_t stream, int fd)
{
    ssize_t n;

    f->m->shared->source = stream;
    ft_stdio_order();
    n = splice(fd, NULL, f->m->intake_fd, NULL, FT_INTAKE_BYTES, SPLICE_F_NONBLOCK);
    if (n > 0)
        feed(f, (uint64_t)n);
    return n;
}

static void recover(struct ft_forward *f)
{
    uint64_t end = (uint64_t)lseek(f->m->intake_fd, 0, SEEK_CUR);

    if (atomic_load_explicit(&f->m->shared->commit.valid, memory_order_acquire))
        apply(f->m);
    feed(f, end); /* end 0: it may have been being rewound, or hold nothing */
}

struct ft_forward *ft_forward_new(struct ft_stdio_memory *m, const struct ft_forward_config *config)
{
    struct ft_forward *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->m = m;
    f->config = *config;
    f->stage.put = put;
    f->stage.arg = f;
    recover(f);
    return f;
}

void ft_forward_leave_out(struct ft_forward *f, bool out) { f->left_out = out; }

bool ft_forward_unfinished(const struct ft_forward *f, uint32_t stream, bool bars)
{
    struct ft_lines lines = ft_stdio_lines(f->m, stream);

    return ft_lines_unfinished(&lines) && (!bars || ft_lines_is_bar(&lines));
}

void ft_forward_show(struct ft_forward *f, uint32_t stream, bool last)
{
    begin(f, stream);
    if (!ft_lines_unfinished(&f->lines))
        return;
    f->last = last;
    ft_lines_show(&f->lines, emit, f);
    commit(f, 0);
}

void ft_forward_restart(struct ft_forward *f, uint32_t stream)
{
    begin(f, stream);
    ft_lines_restart(&f->lines);
    commit(f, 0);
}

void ft_forward_mark(const struct ft_forward *f, uint32_t stream, int which)
{
    struct ft_lines lines = ft_stdio_lines(f->m, stream);

    ft_lines_mark(&lines, ft_stdio_mark(f->m, stream, which), ft_stdio_long_part(f->m, stream, which));
}

void ft_forward_return(struct ft_forward *f, uint32_t stream, int which)
{
    const struct ft_lines_mark *mark = ft_stdio_mark(f->m, stream, which);

    if (!mark->noted)
        return;
    ft_forward_restart(f, stream); /* a step of its own: lines.h */
    begin(f, stream);
    ft_lines_return(&f->lines, mark, ft_stdio_long_part(f->m, stream, which));
    commit(f, 0);
}

void ft_forward_free(struct ft_forward *f)
{
    free(f);
}
