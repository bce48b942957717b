/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/merge.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ft/base/util.h"
#include "launcher/stdio/format.h"
#include "launcher/stdio/lines.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/stage.h"
#include "launcher/wire/wire.h"

enum { LINE_MOST = 2 * FT_LINE_MAX, OFFSETS = 1 << FT_WIRE_OFFSET_BITS };
enum { HASHES_MOST = 16 << 20, HASHES_EACH = 256 << 10, HASHES_LEAST = 1 << 10, HASHES_FIRST = 64 }; /* of all streams; of each */

enum { DIRTY = 64 /* streams that may change in one step */ };

/* How far a stream of a rank was put. A hash is that of a line's bytes up to somewhere; 0: it is not known. */
struct done {
    uint64_t n;                /* lines ... */
    uint32_t shown, hash;      /* ... and bytes of the next one, and their hash */
    uint64_t filed;            /* bytes in its file */
};

/* A step that is made at once, from the store of 1 to `valid` on, whoever does the rest. */
struct commit {
    _Atomic uint32_t valid;
    uint32_t n, streams[DIRTY];
    struct done done[DIRTY];
    int64_t unfinished[2];     /* as below, plus 1 */
    uint64_t ends[FT_MERGE_ENDS];
};

/* In shared memory. */
struct kept {
    struct commit commit;
    int64_t unfinished[2];
    struct done streams[];     /* then each node's `got`, and each rank's `told` */
};

struct stream {
    struct done d;
    bool dirty;                /* it has changed since the last step */
    uint64_t first;            /* of lines before this one there is no hash */
    uint32_t *hashes, room;    /* of lines from 0 on */
    /* what prints now */
    uint64_t at;               /* lines that it has printed ... */
    uint32_t len, now;         /* ... and bytes of the next one, and their hash */
    uint32_t incarnation;      /* of its node */
};

/* Of a node: its spool, and a line that goes on in the next record. */
struct source {
    uint64_t next;             /* place of the record that is expected */
    uint64_t got;
    bool again;                /* what it says last is not its last word */
    uint32_t incarnation;      /* counted here, from 1 */
    bool open;                 /* there is such a line: */
    struct ft_wire_record first;
    char *line;
    size_t len, room;
};

struct ft_merge {
    struct ft_merge_config config;
    struct kept *kept;
    uint64_t *got;             /* in it, as told */
    struct stream *streams;    /* 2 * rank + stream */
    uint32_t ndirty, dirty[DIRTY];
    bool *told;                /* by rank: a line that differs */
    bool differs;              /* one is still to be told: */
    struct ft_wire_record differing;
    uint64_t differing_line;
    uint32_t most;             /* hashes of a stream */
    int to;                    /* of what is staged ... */
    int64_t rank;              /* ... and whose it is, if there are files; -1: an agent's */
    int64_t unfinished[2];     /* rank whose line was put to a sink without its end; -1: none */
    bool left_out;             /* ... for its file only */
    struct ft_stage stage;     /* to deliver() */
    struct source sources[];
};

static void deliver(void *arg, const char *data, size_t len)
{
    struct ft_merge *m = arg;
    const struct ft_merge_config *c = &m->config;
    bool filed = c->file && m->rank >= 0;
    struct done *d = filed ? &m->streams[2 * m->rank + m->to].d : NULL;

    if (filed) {
        c->file(c->arg, (uint32_t)m->rank, m->to, d->filed, data, len);
        d->filed += len;
    }
    if (!m->left_out && (!filed || !c->instead))
        c->put(c->arg, m->to, data, len);
}

/* ---- steps ---- */

static void apply(const struct ft_merge *m)
{
    struct commit *c = &m->kept->commit;

    for (uint32_t i = 0; i < c->n; i++)
        m->kept->streams[c->streams[i]] = c->done[i];
    memcpy(m->kept->unfinished, c->unfinished, sizeof c->unfinished);
    m->config.publish(m->config.arg, c->ends);
    ft_stdio_order();
    atomic_store_explicit(&c->valid, 0, memory_order_release);
    ft_stdio_order();
}

/* What was put so far was. */
static void commit(struct ft_merge *m)
{
    struct commit *c = &m->kept->commit;

    ft_stage_flush(&m->stage);
    if (!m->ndirty)
        return;
    for (uint32_t i = 0; i < m->ndirty; i++) {
        struct stream *t = &m->streams[m->dirty[i]];

        t->dirty = false;
        c->streams[i] = m->dirty[i];
        c->done[i] = t->d;
    }
    c->n = m->ndirty;
    for (uint32_t i = 0; i < 2; i++)
        c->unfinished[i] = m->unfinished[i] + 1;
    m->config.ends(m->config.arg, c->ends);
    ft_stdio_order();
    atomic_store_explicit(&c->valid, 1, memory_order_release);
    ft_stdio_order();
    apply(m);
    m->ndirty = 0;
}

/* Before a record of it, and between records. */
static struct stream *touch(struct ft_merge *m, uint32_t stream)
{
    struct stream *t = &m->streams[stream];

    if (t->dirty)
        return t;
    if (m->ndirty == DIRTY)
        commit(m);
    t->dirty = true;
    m->dirty[m->ndirty++] = stream;
    return t;
}

/* ---- putting ---- */

/* A whole line does not follow on a part of another rank's line (forward.h). */
static void break_line(struct ft_merge *m, int stream, int64_t rank, const char *data, size_t len, bool begins)
{
    int64_t *unfinished = &m->unfinished[m->config.one_sink ? 0 : stream != FT_RECORD_STDOUT];

    if (rank >= 0 && *unfinished >= 0 && *unfinished != rank && begins && memchr(data, '\n', len) && !m->config.instead) {
        ft_stage_flush(&m->stage);
        m->config.end(m->config.arg, stream);
    }
    *unfinished = data[len - 1] == '\n' ? -1 : rank;
}

static void put(struct ft_merge *m, const struct ft_wire_record *r, const char *data, size_t len, bool begins)
{
    const struct ft_merge_config *c = &m->config;
    int64_t rank = r->stream == FT_RECORD_AGENT ? -1 : (int64_t)r->rank;
    bool left_out = r->flags & FT_RECORD_LEFT_OUT;
    time_t now = c->timestamp ? time(NULL) : 0;
    char tag[FT_TAG_BYTES];
    struct tm local;
    size_t n;

    if (r->stream != m->to || (c->file && rank != m->rank) || left_out != m->left_out)
        ft_stage_flush(&m->stage);
    m->left_out = left_out;
    if (!left_out)
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

/* ---- lines that were put, and lines that are printed again ---- */

static const uint32_t hash_begin = 2166136261, hash_step = 16777619; /* FNV-1a: goes on with what comes later */

static uint32_t hash_on(uint32_t hash, const char *data, size_t len)
{
    if (!hash)
        return 0;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)data[i]) * hash_step;
    return hash ? hash : 1;
}

static void compare(struct ft_merge *m, const struct ft_wire_record *r, uint64_t line, uint32_t before, uint32_t now)
{
    if (!before || !now || before == now || m->told[r->rank] || !m->config.differs)
        return;
    m->told[r->rank] = m->differs = true;
    m->differing = *r;
    m->differing_line = line + 1;
}

static void tell_differing(struct ft_merge *m)
{
    if (!m->differs)
        return;
    m->differs = false;
    commit(m);
    m->config.differs(m->config.arg, m->differing.rank, m->differing.stream, m->differing_line);
}

static void remember(const struct ft_merge *m, struct stream *t, uint32_t hash)
{
    uint32_t room = t->room ? 2 * t->room : HASHES_FIRST;
    uint32_t *more;

    if (t->d.n >= t->room && room <= m->most && t->d.n < room && (more = realloc(t->hashes, room * sizeof *more))) {
        memset(more + t->room, 0, (room - t->room) * sizeof *more);
        t->hashes = more;
        t->room = room;
    }
    if (t->d.n < t->room)
        t->hashes[t->d.n] = hash;
}

/* The line that is printed now ends. */
static void end_line(struct ft_merge *m, struct stream *t, const struct ft_wire_record *r)
{
    if (t->at < t->d.n) {
        compare(m, r, t->at, t->at >= t->first && t->at < t->room ? t->hashes[t->at] : 0, t->now);
    } else {
        if (t->len < t->d.shown)
            compare(m, r, t->at, 1, 2);
        remember(m, t, t->now);
        t->d.n++;
        t->d.shown = 0;
    }
    t->at++;
    t->len = 0;
    t->now = hash_begin;
}

/* Another incarnation prints, or a line has ended for its length; or the job was resumed, and nobody knows what was printed before. */
static void move_to(struct ft_merge *m, struct stream *t, const struct ft_wire_record *r, uint32_t incarnation)
{
    uint64_t line = r->position / OFFSETS;
    uint32_t offset = r->position % OFFSETS;
    bool other = incarnation != t->incarnation;

    if (!other && line == t->at + 1 && !offset && t->len)
        end_line(m, t, r);
    if (other || line != t->at || offset != t->len) {
        t->incarnation = incarnation;
        t->at = line;
        t->len = offset;
        t->now = offset ? 0 : hash_begin;
    }
    if (t->at > t->d.n) {
        t->first = t->d.n = t->at;
        t->d.shown = 0;
    }
}

/* A part of one line, up to its end if it has that. How much of it was put before. */
static size_t follow_line(struct ft_merge *m, struct stream *t, const struct ft_wire_record *r, const char *data, size_t len)
{
    size_t known = t->at < t->d.n ? len : t->d.shown > t->len ? ft_min(len, t->d.shown - t->len) : 0;

    t->now = hash_on(t->now, data, known);
    if (t->at == t->d.n && known && t->len + known == t->d.shown)
        compare(m, r, t->at, t->d.hash, t->now);
    t->now = hash_on(t->now, data + known, len - known);
    t->len += (uint32_t)len;
    if (t->at == t->d.n && t->len > t->d.shown) {
        t->d.shown = t->len;
        t->d.hash = t->now;
    }
    if (data[len - 1] == '\n')
        end_line(m, t, r);
    return known;
}

/* How much of it was put before, at its beginning. */
static size_t follow(struct ft_merge *m, const struct source *s, const struct ft_wire_record *r, const char *data, size_t len)
{
    struct stream *t = touch(m, 2 * r->rank + r->stream);
    size_t known = 0;

    move_to(m, t, r, s->incarnation);
    for (size_t done = 0, n; done < len; done += n) {
        const char *end = memchr(data + done, '\n', len - done);

        n = end ? (size_t)(end - data) + 1 - done : len - done;
        known += follow_line(m, t, r, data + done, n);
    }
    return known;
}

/* A whole line or more, or a prompt: what is new of it. */
static void emit(struct ft_merge *m, const struct source *s, const struct ft_wire_record *r, const char *data, size_t len)
{
    bool begins = r->flags & FT_RECORD_BEGINS;
    size_t known;

    if (r->stream == FT_RECORD_AGENT) {
        commit(m); /* it goes past what is ahead */
        if (m->config.reason && (r->flags & FT_RECORD_LAST))
            m->config.reason(m->config.arg, (uint32_t)(s - m->sources), data, len);
        else
            put(m, r, data, len, true);
        return;
    }
    /* It was put, and the rest of the line came seconds later, behind other ranks' lines. */
    if (s->again && (r->flags & FT_RECORD_LAST) && data[len - 1] != '\n')
        return;
    known = follow(m, s, r, data, len);
    if (known == len)
        return;
    if (known)
        begins = data[known - 1] == '\n';
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
        return ft_err_set(e, FT_EDAMAGED, "output is missing: %llu byte%s", (unsigned long long)(place - s->next),
                          ft_plural(place - s->next));
    while (!err && len) {
        struct ft_wire_record r;

        n = ft_wire_record(data, len, &r, e);
        if (n <= 0)
            return n < 0 ? n : ft_err_set(e, FT_EDAMAGED, "a record is cut short");
        if (place == s->next) {
            err = take(m, s, &r, e);
            tell_differing(m);
            s->next += err ? 0 : (uint64_t)n;
            if (!s->open)
                s->got = s->next;
        }
        place += (uint64_t)n;
        data += n;
        len -= (uint32_t)n;
    }
    commit(m);
    m->got[node] = s->got;
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
    m->sources[node].got = m->got[node] = 0;
    m->sources[node].incarnation++;
    ft_merge_reconnected(m, node);
}

size_t ft_merge_bytes(uint32_t nnodes, uint32_t world)
{
    return sizeof(struct kept) + 2 * (size_t)world * sizeof(struct done) + nnodes * sizeof(uint64_t) + world * sizeof(bool);
}

/* From where a predecessor was, if there was one. */
static void go_on(struct ft_merge *m)
{
    if (atomic_load_explicit(&m->kept->commit.valid, memory_order_acquire))
        apply(m);
    for (uint32_t i = 0; i < 2; i++)
        m->unfinished[i] = m->kept->unfinished[i] - 1;
    for (size_t i = 0; i < 2 * (size_t)m->config.world; i++) {
        m->streams[i].d = m->kept->streams[i];
        m->streams[i].first = m->streams[i].d.n;
    }
    for (uint32_t i = 0; i < m->config.nnodes; i++)
        m->sources[i].next = m->sources[i].got = m->got[i];
}

struct ft_merge *ft_merge_new(const struct ft_merge_config *config)
{
    struct ft_merge *m = calloc(1, sizeof *m + config->nnodes * sizeof m->sources[0]);

    if (!m)
        return NULL;
    m->config = *config;
    for (uint32_t i = 0; i < config->nnodes; i++)
        m->sources[i].incarnation = 1;
    m->stage.put = deliver;
    m->stage.arg = m;
    m->most = (uint32_t)ft_max(HASHES_LEAST, ft_min(HASHES_EACH, HASHES_MOST / (2 * (uint64_t)config->world)));
    m->streams = calloc(2 * (size_t)config->world, sizeof *m->streams);
    m->kept = config->memory;
    if (!m->streams || !m->kept) {
        ft_merge_free(m);
        return NULL;
    }
    m->got = (uint64_t *)&m->kept->streams[2 * (size_t)config->world];
    m->told = (bool *)&m->got[config->nnodes];
    go_on(m);
    return m;
}

void ft_merge_free(struct ft_merge *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->config.nnodes; i++)
        free(m->sources[i].line);
    for (uint32_t i = 0; m->streams && i < 2 * m->config.world; i++)
        free(m->streams[i].hashes);
    free(m->streams);
    free(m);
}
