/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/cargo.h"

#include <stdlib.h>
#include <string.h>

#include "ft/core/cache.h"
#include "ft/shm/models.h"
#include "ft/shm/versions.h"
#include "ft/shm/wait.h"
#include "launcher/job/job.h"
#include "launcher/job/pin.h"
#include "launcher/stdio/memory.h"

#define MAGIC 0x31676163706d7466ull
enum { PIECE = 1 << 18, SECTIONS = 4 /* and one for each rank */ };

/* head | of_rank[nranks] | for each stream: of_stream, hashes, an unfinished line || global model, local ones, prefix, cache, what was contributed to it */
struct head {
    uint64_t magic, bytes;          /* of all that is before the models */
    uint64_t nranks, version, slot, unit, end, chain;
    uint64_t nglobal, global_hash, prefix, cache, cache_lost, given;
};

struct of_rank {
    uint64_t nlocal, local_hash, loads;
};

struct of_stream {
    struct ft_stream_state state;
    struct ft_lines_mark mark;      /* of the version */
    uint64_t hashes, part;          /* so many lines' hashes follow, so many bytes of the mark's line */
};

struct section {
    uint64_t area, bytes;
};

struct ft_cargo {
    const struct ft_job *job;
    struct head *head;
    struct section *sections;
    uint32_t nsections;
    uint64_t bytes, tail;           /* tail: what was printed is in the spool below this place */
};

static struct of_rank *ranks_of(const struct head *h) { return (struct of_rank *)(void *)(h + 1); }

static uint64_t nstreams_of(const struct ft_job *job) { return 2ull * job->options->nranks; }
static uint64_t stream_bytes(const struct of_stream *s) { return sizeof *s + ft_align(s->hashes * sizeof(uint32_t) + s->part, 8); }

/* Where they are in the store, in the order in which they are sent. Their bytes all in all. */
static uint64_t list_sections(const struct head *h, struct section *s)
{
    uint64_t n = h->nranks, total = 0;

    s[0] = (struct section){ft_models_global((uint32_t)h->slot), h->nglobal};
    for (uint32_t r = 0; r < n; r++)
        s[1 + r] = (struct section){ft_models_local(r, (uint32_t)h->slot), ranks_of(h)[r].nlocal};
    s[1 + n] = (struct section){FT_MODELS_PREFIX, h->prefix};
    s[2 + n] = (struct section){FT_MODELS_CACHE, h->cache};
    s[3 + n] = (struct section){FT_MODELS_GIVEN, h->given};
    for (uint32_t i = 0; i < n + SECTIONS; i++)
        total += s[i].bytes;
    return total;
}

/* ---- where it comes from ---- */

static bool all_can_load(const struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        if (!ft_versions_can_load(&job->region, r))
            return false;
    return true;
}

static bool find(const struct ft_job *job, uint64_t than, struct ft_version *v)
{
    return ft_versions_newest(&job->region, 0, v) && !v->base && v->version > than && all_can_load(job);
}

uint64_t ft_cargo_newest(const struct ft_job *job, uint64_t than)
{
    struct ft_version v;

    return find(job, than, &v) ? v.version : 0;
}

void ft_cargo_unpin(const struct ft_job *job)
{
    ft_pin_drop(&job->region, FT_PIN_NEXT_NODE);
}

static bool pin(const struct ft_job *job, uint64_t than, struct ft_version *v, struct of_rank *of)
{
    if (!find(job, than, v) || !ft_pin_newest(&job->region, FT_PIN_NEXT_NODE, than, v))
        return false;
    for (uint32_t r = 0; r < job->options->nranks; r++) {
        struct ft_version_words *w = ft_versions_of(&job->region, r);
        const struct ft_model_slot *s = &w->slot[v->slot];

        of[r] = (struct of_rank){ft_peek(&s->nlocal), ft_peek(&s->local_hash), ft_look(&w->loads)};
    }
    return true;
}

static struct of_stream stream_of(const struct ft_job *job, uint32_t id, uint32_t slot)
{
    const struct ft_stdio_memory *m = job->stdio;
    struct of_stream s;

    memset(&s, 0, sizeof s);
    s.state = m->shared->streams[id];
    s.state.lines.differs = 0; /* it has been told */
    s.mark = *ft_stdio_mark(m, id, (int)slot);
    s.hashes = m->config.keep ? ft_min(s.state.lines.n, m->room) : 0;
    s.part = s.mark.len > sizeof s.mark.part ? s.mark.len : 0;
    return s;
}

static uint64_t head_bytes(const struct ft_job *job, uint32_t slot)
{
    uint64_t n = sizeof(struct head) + job->options->nranks * sizeof(struct of_rank);

    for (uint32_t id = 0; id < nstreams_of(job); id++) {
        struct of_stream s = stream_of(job, id, slot);

        n += stream_bytes(&s);
    }
    return n;
}

static void put_streams(const struct ft_job *job, uint32_t slot, char *at)
{
    for (uint32_t id = 0; id < nstreams_of(job); id++) {
        struct of_stream s = stream_of(job, id, slot);
        uint64_t hashes = s.hashes * sizeof(uint32_t);

        memcpy(at, &s, sizeof s);
        if (hashes)
            memcpy(at + sizeof s, job->stdio->hashes + id * job->stdio->room, hashes);
        if (s.part)
            memcpy(at + sizeof s + hashes, ft_stdio_long_part(job->stdio, id, (int)slot), s.part);
        at += stream_bytes(&s);
    }
}

/* With --bootstrap-cache. Not all of it has been written: it ends where we write. 0: there is no memory, so it is as if nobody knew. */
static uint64_t given_bytes(const struct ft_job *job)
{
    uint64_t n = job->region.header->params.bootstrap_cache ? ft_cache_given_bytes(job->options->nranks) : 0, last = 0;
    struct ft_error e;

    return n && ft_models_write(job->models, FT_MODELS_GIVEN, n, &last, sizeof last, &e) == 0 ? n : 0;
}

static struct head *make_head(const struct ft_job *job, const struct ft_version *v, const struct of_rank *of)
{
    const struct ft_version_head *w = ft_versions_head(&job->region);
    uint64_t n = job->options->nranks, bytes = head_bytes(job, v->slot);
    struct head *h = calloc(1, bytes);

    if (!h)
        return NULL;
    *h = (struct head){.magic = MAGIC, .bytes = bytes, .nranks = n, .version = v->version, .slot = v->slot, .unit = v->unit, .end = v->end,
                       .chain = v->chain, .nglobal = v->nglobal, .global_hash = v->global_hash, .prefix = ft_look(&w->prefix_end) - 1,
                       .cache = ft_look(&w->cache_end), .cache_lost = ft_peek(&w->cache_lost), .given = given_bytes(job)};
    memcpy(ranks_of(h), of, n * sizeof *of);
    put_streams(job, v->slot, (char *)(ranks_of(h) + n));
    return h;
}

struct ft_cargo *ft_cargo_pack(const struct ft_job *job, uint64_t than)
{
    uint32_t n = job->options->nranks;
    struct of_rank *of = calloc(n, sizeof *of);
    struct ft_cargo *c = calloc(1, sizeof *c);
    struct ft_version v;

    if (!c || !of || !pin(job, than, &v, of)) {
        free(of);
        free(c);
        return NULL;
    }
    *c = (struct ft_cargo){.job = job, .nsections = n + SECTIONS, .tail = job->stdio->spools[0].state->tail};
    c->head = make_head(job, &v, of);
    c->sections = calloc(c->nsections, sizeof *c->sections);
    free(of);
    if (!c->head || !c->sections) {
        ft_cargo_free(c);
        ft_cargo_unpin(job);
        return NULL;
    }
    c->bytes = c->head->bytes + list_sections(c->head, c->sections);
    return c;
}

void ft_cargo_free(struct ft_cargo *c)
{
    if (!c)
        return;
    ft_cargo_unpin(c->job);
    free(c->head);
    free(c->sections);
    free(c);
}

uint64_t ft_cargo_version(const struct ft_cargo *c) { return c->head->version; }
uint64_t ft_cargo_bytes(const struct ft_cargo *c) { return c->bytes; }

bool ft_cargo_is_told(const struct ft_cargo *c)
{
    const struct ft_spool *spool = &c->job->stdio->spools[0];

    return spool->written >= c->tail;
}

bool ft_cargo_read(const struct ft_cargo *c, uint64_t at, void *to, uint32_t n)
{
    char *next = to;
    uint64_t begin = c->head->bytes;
    struct ft_error e;

    if (at < begin) {
        uint64_t some = ft_min(n, begin - at);

        memcpy(next, (const char *)c->head + at, some);
        next += some;
        at += some;
        n -= (uint32_t)some;
    }
    for (uint32_t i = 0; n && i < c->nsections; begin += c->sections[i++].bytes) {
        uint64_t some = at - begin < c->sections[i].bytes ? ft_min(n, c->sections[i].bytes - (at - begin)) : 0;

        if (some && ft_models_read(c->job->models, c->sections[i].area, at - begin, next, some, &e) < 0)
            return false;
        next += some;
        at += some;
        n -= (uint32_t)some;
    }
    return n == 0;
}

/* ---- where it goes to ---- */

static bool is_head(const struct head *h, uint64_t length)
{
    return h->magic == MAGIC && h->bytes >= sizeof *h && h->bytes <= length && h->slot <= 1 && h->version && h->version <= INT64_MAX;
}

bool ft_cargo_look(int fd, uint64_t area, uint64_t length, uint64_t *version, uint64_t *unit)
{
    struct head h;
    struct ft_error e;

    if (length < sizeof h || ft_models_read(fd, area, 0, &h, sizeof h, &e) < 0 || !is_head(&h, length))
        return false;
    *version = h.version;
    *unit = h.unit;
    return true;
}

static int is_damaged(struct ft_error *e) { return ft_err_set(e, FT_EDAMAGED, "what the other host has kept is not a checkpoint of this one"); }

/* The head, checked as far as it says how long what is. */
static int read_head(const struct ft_job *job, int fd, uint64_t area, uint64_t length, struct head **out, struct ft_error *e)
{
    struct head first, *h;
    int err;

    if (length < sizeof first)
        return is_damaged(e);
    if ((err = ft_models_read(fd, area, 0, &first, sizeof first, e)) < 0)
        return err;
    if (!is_head(&first, length) || first.nranks != job->options->nranks || first.bytes < sizeof first + first.nranks * sizeof(struct of_rank))
        return is_damaged(e);
    h = malloc(first.bytes);
    if (!h)
        return ft_err_set(e, FT_ENOMEM, "no memory for what the other host has kept");
    if ((err = ft_models_read(fd, area, 0, h, first.bytes, e)) < 0) {
        free(h);
        return err;
    }
    *out = h;
    return 0;
}

static const char *streams_of(const struct head *h) { return (const char *)(ranks_of(h) + h->nranks); }

/* What is there of it, and a place in it that forward.h can go on from. */
static bool is_stream(const struct ft_stdio_memory *m, const struct of_stream *s, uint64_t left)
{
    return s->hashes <= left / sizeof(uint32_t) && s->part <= left - s->hashes * sizeof(uint32_t) && s->mark.len < m->longest &&
           s->part == (s->mark.len > sizeof s->mark.part ? s->mark.len : 0) && s->mark.at <= s->state.lines.n;
}

static bool has_streams(const struct ft_job *job, const struct head *h)
{
    const char *at = streams_of(h);
    uint64_t left = (uint64_t)((const char *)h + h->bytes - at);

    for (uint32_t id = 0; id < nstreams_of(job); id++) {
        struct of_stream s;

        if (left < sizeof s)
            return false;
        memcpy(&s, at, sizeof s);
        if (!is_stream(job->stdio, &s, left - sizeof s) || stream_bytes(&s) > left)
            return false;
        at += stream_bytes(&s);
        left -= stream_bytes(&s);
    }
    return left == 0;
}

/* What has been printed is there, and where the version was in it. The hashes before the state that counts them. */
static void set_stream(const struct ft_job *job, uint32_t id, uint32_t slot, const struct of_stream *s, const char *rest)
{
    struct ft_stdio_memory *m = job->stdio;
    char *part = ft_stdio_long_part(m, id, (int)slot);
    struct ft_stream_state state = s->state;

    if (m->config.keep)
        memcpy(m->hashes + id * m->room, rest, ft_min(s->hashes, m->room) * sizeof(uint32_t));
    if (s->part)
        memcpy(part, rest + s->hashes * sizeof(uint32_t), s->part);
    *ft_stdio_mark(m, id, (int)slot) = s->mark;
    state.lines.at = 0;
    state.lines.len = 0;
    ft_stdio_order();
    m->shared->streams[id] = state;
}

static void set_streams(const struct ft_job *job, const struct head *h)
{
    const char *at = streams_of(h);

    for (uint32_t id = 0; id < nstreams_of(job); id++) {
        struct of_stream s;

        memcpy(&s, at, sizeof s);
        set_stream(job, id, (uint32_t)h->slot, &s, at + sizeof s);
        at += stream_bytes(&s);
    }
}

static int copy_section(const struct ft_job *job, int fd, uint64_t area, uint64_t at, const struct section *s, char *piece, struct ft_error *e)
{
    int err = 0;

    ft_models_end(job->models, s->area, 0);
    for (uint64_t done = 0, n; done < s->bytes && !err; done += n) {
        n = ft_min(PIECE, s->bytes - done);
        err = ft_models_read(fd, area, at + done, piece, n, e);
        if (!err)
            err = ft_models_write(job->models, s->area, done, piece, n, e);
    }
    return err;
}

static int copy_models(const struct ft_job *job, const struct head *h, int fd, uint64_t area, uint64_t length, struct ft_error *e)
{
    uint64_t n = h->nranks + SECTIONS, at = h->bytes;
    struct section *s = calloc(n, sizeof *s);
    char *piece = malloc(PIECE);
    int err = s && piece ? 0 : ft_err_set(e, FT_ENOMEM, "no memory for what the other host has kept");

    if (!err && list_sections(h, s) != length - at)
        err = is_damaged(e);
    for (uint64_t i = 0; i < n && !err; at += s[i++].bytes)
        err = s[i].bytes <= length - at ? copy_section(job, fd, area, at, &s[i], piece, e) : is_damaged(e);
    for (uint64_t i = 0; i <= h->nranks && !err; i++) {
        uint64_t hash, should = i ? ranks_of(h)[i - 1].local_hash : h->global_hash;

        err = ft_models_hash(job->models, s[i].area, s[i].bytes, &hash, e);
        if (!err && s[i].bytes && hash != should)
            err = is_damaged(e);
    }
    free(s);
    free(piece);
    return err;
}

/* What the ranks' dead selves would have left in the words; the slots' versions last of all. */
static void say(const struct ft_job *job, const struct head *h, uint64_t units)
{
    struct ft_version_head *w = ft_versions_head(&job->region);
    uint64_t results, cache = ft_cache_below(job->models, h->cache, units, &results);

    for (uint32_t r = 0; r < h->nranks; r++) {
        struct ft_version_words *of = ft_versions_of(&job->region, r);
        struct ft_model_slot *s = &of->slot[h->slot];

        ft_note(&s->unit, h->unit);
        ft_note(&s->end, h->end);
        ft_note(&s->chain, h->chain);
        ft_note(&s->nglobal, h->nglobal);
        ft_note(&s->global_hash, h->global_hash);
        ft_note(&s->nlocal, ranks_of(h)[r].nlocal);
        ft_note(&s->local_hash, ranks_of(h)[r].local_hash);
        ft_note(&of->consumed, h->version);
        ft_note(&of->loads, ranks_of(h)[r].loads);
    }
    /* What was called behind the log that there is will be called again. */
    ft_note(&w->cache_results, results);
    ft_note(&w->cache_lost, h->cache_lost);
    ft_note(&w->cache_end, cache);
    ft_publish(&w->prefix_end, h->prefix + 1);
    for (uint32_t r = 0; r < h->nranks; r++)
        ft_publish(&ft_versions_of(&job->region, r)->slot[h->slot].version, h->version);
}

int64_t ft_cargo_unpack(const struct ft_job *job, int fd, uint64_t area, uint64_t length, uint64_t units, struct ft_error *e)
{
    struct head *h = NULL;
    int64_t result = read_head(job, fd, area, length, &h, e);

    if (result < 0)
        return result;
    if (h->unit < units) {
        result = has_streams(job, h) ? copy_models(job, h, fd, area, length, e) : is_damaged(e);
        if (!result) {
            set_streams(job, h);
            say(job, h, units);
            result = (int64_t)h->version;
        }
    }
    free(h);
    return result;
}
