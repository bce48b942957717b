/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/merge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launcher/stdio/format.h"
#include "launcher/stdio/lines.h"
#include "launcher/stdio/stage.h"
#include "launcher/wire/wire.h"

enum { LINE_MOST = 2 * FT_LINE_MAX };

/* Of a node: its spool, and a line that goes on in the next record. */
struct source {
    uint64_t next;             /* place of the record that is expected */
    uint64_t got;
    bool again;                /* what it says last is not its last word */
    bool open;                 /* there is such a line: */
    struct ft_wire_record first;
    char *line;
    size_t len, room;
};

struct ft_merge {
    struct ft_merge_config config;
    uint64_t *have;            /* 2 * rank + stream: bytes that were put */
    int to;                    /* of what is staged ... */
    int64_t rank;              /* ... and whose it is, if there are files; -1: an agent's */
    int64_t unfinished[2];     /* rank whose line was put to a sink without its end; -1: none */
    struct ft_stage stage;     /* to deliver() */
    struct source sources[];
};

static void deliver(void *arg, const char *data, size_t len)
{
    struct ft_merge *m = arg;
    const struct ft_merge_config *c = &m->config;
    bool filed = c->file && m->rank >= 0;

    if (filed)
        c->file(c->arg, (uint32_t)m->rank, m->to, data, len);
    if (!filed || !c->instead)
        c->put(c->arg, m->to, data, len);
}

/* A whole line does not follow on a part of another rank's line (forward.h). */
static void break_line(struct ft_merge *m, int stream, int64_t rank, const char *data, size_t len, bool begins)
{
    int64_t *unfinished = &m->unfinished[m->config.one_sink ? 0 : stream != FT_RECORD_STDOUT];

    if (rank >= 0 && *unfinished >= 0 && *unfinished != rank && begins && memchr(data, '\n', len) && !m->config.instead) {
        ft_stage_flush(&m->stage);
        m->config.put(m->config.arg, stream, "\n", 1);
    }
    *unfinished = data[len - 1] == '\n' ? -1 : rank;
}

static void put(struct ft_merge *m, const struct ft_wire_record *r, const char *data, size_t len, bool begins)
{
    const struct ft_merge_config *c = &m->config;
    int64_t rank = r->stream == FT_RECORD_AGENT ? -1 : (int64_t)r->rank;
    time_t now = c->timestamp ? time(NULL) : 0;
    char tag[FT_TAG_BYTES];
    struct tm local;
    size_t n;

    if (r->stream != m->to || (c->file && rank != m->rank))
        ft_stage_flush(&m->stage);
    break_line(m, r->stream, rank, data, len, begins);
    m->to = r->stream;
    m->rank = rank;
    if (r->stream == FT_RECORD_AGENT || (!c->tag && !c->timestamp)) {
        ft_stage_add(&m->stage, data, len);
        if (r->stream == FT_RECORD_AGENT)
            ft_stage_flush(&m->stage); /* line by line */
        return;
    }
    n = ft_format_tag(tag, c->tag, c->timestamp ? localtime_r(&now, &local) : NULL, r->rank, r->stream);
    ft_format_lines(tag, n, begins, r->flags & FT_RECORD_LAST, data, len, ft_stage_add, &m->stage);
}

/* A whole line or more, or a prompt: what is new of it. */
static void emit(struct ft_merge *m, const struct source *s, const struct ft_wire_record *r, const char *data, size_t len)
{
    uint64_t *have = &m->have[2 * (size_t)r->rank + r->stream];
    bool begins = r->flags & FT_RECORD_BEGINS;
    size_t known;

    if (r->stream == FT_RECORD_AGENT) {
        if (m->config.reason && (r->flags & FT_RECORD_LAST))
            m->config.reason(m->config.arg, (uint32_t)(s - m->sources), data, len);
        else
            put(m, r, data, len, true);
        return;
    }
    if (r->position + len <= *have)
        return;
    /* It was put, and the rest of the line came seconds later, behind other ranks' lines. */
    if (s->again && (r->flags & FT_RECORD_LAST) && data[len - 1] != '\n')
        return;
    known = *have > r->position ? (size_t)(*have - r->position) : 0;
    if (known)
        begins = data[known - 1] == '\n';
    *have = r->position + len;
    put(m, r, data + known, len - known, begins);
}

static int keep(struct source *s, const struct ft_wire_record *r, struct ft_error *e)
{
    size_t len = s->len + r->length;

    if (len > LINE_MOST)
        return ft_err_set(e, FT_EDAMAGED, "a line of rank %u is longer than a line can be", r->rank);
    if (len > s->room) {
        char *more = realloc(s->line, 2 * len);

        if (!more)
            return ft_err_set(e, FT_ENOMEM, "out of memory");
        s->line = more;
        s->room = 2 * len;
    }
    memcpy(s->line + s->len, r->data, r->length);
    s->len = len;
    return 0;
}

/* The record after those of the same line. */
static int take(struct ft_merge *m, struct source *s, const struct ft_wire_record *r, struct ft_error *e)
{
    if (r->stream != FT_RECORD_AGENT && r->rank >= m->config.world)
        return ft_err_set(e, FT_EDAMAGED, "there is no rank %u", r->rank);
    if (s->open && (r->rank != s->first.rank || r->stream != s->first.stream))
        return ft_err_set(e, FT_EDAMAGED, "a line of rank %u is not finished", s->first.rank);
    if (!s->open && !(r->flags & FT_RECORD_MORE)) {
        emit(m, s, r, (const char *)r->data, r->length);
        return 0;
    }
    if (!s->open)
        s->first = *r;
    s->open = true;
    if (keep(s, r, e) < 0)
        return FT_EDAMAGED;
    if (r->flags & FT_RECORD_MORE)
        return 0;
    s->first.flags |= r->flags & FT_RECORD_LAST;
    emit(m, s, &s->first, s->line, s->len);
    s->open = false;
    s->len = 0;
    return 0;
}

int ft_merge_take(struct ft_merge *m, uint32_t node, uint64_t place, const uint8_t *data, uint32_t len, struct ft_error *e)
{
    struct source *s = &m->sources[node];
    int n, err = 0;

    if (place > s->next)
        return ft_err_set(e, FT_EDAMAGED, "output is missing: %llu bytes", (unsigned long long)(place - s->next));
    while (!err && len) {
        struct ft_wire_record r;

        n = ft_wire_record(data, len, &r, e);
        if (n <= 0)
            return n < 0 ? n : ft_err_set(e, FT_EDAMAGED, "a record is cut short");
        if (place == s->next) {
            err = take(m, s, &r, e);
            s->next += err ? 0 : (uint64_t)n;
            if (!s->open)
                s->got = s->next;
        }
        place += (uint64_t)n;
        data += n;
        len -= (uint32_t)n;
    }
    ft_stage_flush(&m->stage);
    return err;
}

void ft_merge_comes_again(struct ft_merge *m, uint32_t node, bool again)
{
    m->sources[node].again = again;
}

uint64_t ft_merge_got(const struct ft_merge *m, uint32_t node)
{
    return m->sources[node].got;
}

void ft_merge_reconnected(struct ft_merge *m, uint32_t node)
{
    struct source *s = &m->sources[node];

    s->next = s->got;
    s->open = false;
    s->len = 0;
}

void ft_merge_replaced(struct ft_merge *m, uint32_t node)
{
    m->sources[node].got = 0;
    ft_merge_reconnected(m, node);
}

struct ft_merge *ft_merge_new(const struct ft_merge_config *config)
{
    struct ft_merge *m = calloc(1, sizeof *m + config->nnodes * sizeof m->sources[0]);

    if (!m)
        return NULL;
    m->config = *config;
    m->unfinished[0] = m->unfinished[1] = -1;
    m->stage.put = deliver;
    m->stage.arg = m;
    m->have = calloc(2 * (size_t)config->world, sizeof *m->have);
    if (m->have)
        return m;
    free(m);
    return NULL;
}

void ft_merge_free(struct ft_merge *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->config.nnodes; i++)
        free(m->sources[i].line);
    free(m->have);
    free(m);
}
