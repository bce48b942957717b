/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/carry.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/messages.h"
#include "ft/shm/channels.h"

/* All is little-endian words: a head; a row for each channel that the rank sends on, each that it receives from, each stream that it has left,
   each message, whose bytes follow it, and zeros up to a multiple of 8. */
enum { FORMAT = 1 };
enum head { AT_FORMAT, AT_POSTS, AT_SELF, AT_FIRST, AT_ANSWERS, AT_ANSWERS_END, AT_ANSWERS_SAID, AT_OUT, AT_IN, AT_LEFT, AT_MESSAGES, HEAD };
enum channel { OTHER, UNIT, END, SYNCHRONOUS, CHANNEL };
enum left { STREAM, USE, LEFT_UNIT, LEFT_END, LEFT };
enum message { COMM, SOURCE, TAG, NUMBER, ACK /* of a synchronous one, which it is, plus one; else 0 */, BYTES, MESSAGE };

bool ft_carry_is_on(const struct ft *ft) { return ft && ft->region.base && ft->region.header->params.nchannels; }

bool ft_carry_is_used(const struct ft *ft) { return ft->messages || ft->njoined || ft->made.numbers; }

/* ---- what is open ---- */

/* In a word, from below: as many as fit, of each kind, and the rank of this node: there are no more than 2^11 where there are channels. */
enum kind { RECEIVES, SENDS, PROBED, MADE, FREED, KINDS };
enum { BITS = 10, MOST = (1 << BITS) - 1 };

static const char *const what_of[KINDS] = { "receives under way", "sends under way", "messages taken by MPI_Mprobe",
                                            "communicators made after MPIX_Checkpoint_load", "communicators made before MPIX_Checkpoint_load and freed" };

uint64_t ft_carry_open(const struct ft *ft, enum ft_call call)
{
    uint64_t n[KINDS] = { 0 }, word = 0;

    if (!ft_carry_is_on(ft))
        return 0;
    if (ft->messages)
        ft_messages_open(ft->messages, &n[RECEIVES], &n[SENDS], &n[PROBED]);
    if (call != FT_CALL_LOAD) { /* a program that is started again has those that it makes before it loads, and no others */
        n[MADE] = ft_made_since(&ft->made);
        n[FREED] = ft->made.freed;
    }
    for (int i = 0; i < KINDS; i++)
        word |= ft_min(n[i], MOST) << (BITS * i);
    return word ? FT_CARRY_OPEN | (uint64_t)ft->world.rank << (BITS * KINDS) | word : 0;
}

int ft_carry_tell(const struct ft *ft, enum ft_call call, uint64_t word, struct ft_error *e)
{
    uint32_t rank = (uint32_t)((word & ~FT_CARRY_OPEN) >> (BITS * KINDS));
    char text[256] = "", calls[64];

    for (int i = 0; i < KINDS; i++) {
        uint64_t n = word >> (BITS * i) & MOST;
        size_t at = strlen(text);

        if (n)
            snprintf(text + at, sizeof text - at, "%s%s: %llu", at ? ", " : "", what_of[i], (unsigned long long)n);
    }
    return ft_err_set(e, FT_EINVAL, "%s has no place for what rank %u has (%s): finish, receive or free it first", ft_sig_print(&(struct ft_sig){ .call = (uint8_t)call, .root = -1 }, calls,
                      sizeof calls), ft_region_rank_of(&ft->region, rank), text);
}

/* ---- what has come ---- */

static bool anybody_sends(const struct ft *ft)
{
    uint32_t first = ft_channel_of(&ft->region, 0, ft->world.rank), end = first + ft->region.header->params.nranks;

    for (uint32_t c = first; c < end; c++)
        if (c - first != ft->world.rank && ft_streams_is_used(&ft->region, c))
            return true;
    return false;
}

int64_t ft_carry_left(struct ft *ft, struct ft_error *e)
{
    struct ft_messages *m = ft->messages;
    int err = 0;

    if (!m && !anybody_sends(ft))
        return 0;
    m = ft_messages_of(ft, &err, e);
    if (!m)
        return err;
    m->busy = true;
    err = ft_messages_progress(m, e);
    m->busy = false;
    return err < 0 ? err : (int64_t)ft_match_kept(m->match);
}

/* ---- saving ---- */

static void put(uint64_t **to, uint64_t word) { *(*to)++ = htole64(word); }

static uint64_t words_of(const struct ft_arrived *a) { return MESSAGE + (ft_messages_bytes(a) + 7) / 8; }

/* What was sent to a communicator that is freed by now nobody receives. */
static bool is_wanted(const struct ft *ft, const struct ft_arrived *a) { return ft_comms_number(ft, a->is.context) != UINT64_MAX; }

static void count(const struct ft *ft, uint64_t n[HEAD], uint64_t *words)
{
    const struct ft_messages *m = ft->messages;

    memset(n, 0, HEAD * sizeof *n);
    *words = HEAD;
    for (uint32_t r = 0; m && r < m->n; r++) {
        n[AT_OUT] += m->out[r] != NULL;
        n[AT_IN] += m->in[r] != NULL;
    }
    for (uint32_t i = 0; i < ft->njoined; i++)
        n[AT_LEFT] += ft_comms_stream(ft, i)->left;
    for (uint32_t r = 0; m && r < m->n; r++)
        for (const struct ft_arrived *a = ft_match_oldest(m->match, (int32_t)r); a; a = ft_match_next(m->match, a))
            if (is_wanted(ft, a)) {
                n[AT_MESSAGES]++;
                *words += words_of(a);
            }
    *words += (n[AT_OUT] + n[AT_IN]) * CHANNEL + n[AT_LEFT] * LEFT;
    n[AT_FORMAT] = FORMAT;
    n[AT_FIRST] = ft->nfirst;
    if (m) {
        struct ft_answers_place at = m->writes ? ft_answers_at(&m->answers) : (struct ft_answers_place){ 0 };

        n[AT_POSTS] = m->posts;
        n[AT_SELF] = m->nself;
        n[AT_ANSWERS] = at.unit;
        n[AT_ANSWERS_END] = at.end;
        n[AT_ANSWERS_SAID] = at.said;
    }
}

static void put_channel(uint64_t **to, uint32_t other, const struct ft_msg_channel *c, uint64_t synchronous)
{
    put(to, other);
    put(to, c->unit);
    put(to, c->end);
    put(to, synchronous);
}

static int put_message(struct ft *ft, uint64_t **to, const struct ft_arrived *a, struct ft_error *e)
{
    uint64_t bytes = ft_messages_bytes(a), words = words_of(a) - MESSAGE;
    int err;

    put(to, ft_comms_number(ft, a->is.context));
    put(to, (uint64_t)a->is.source);
    put(to, (uint64_t)a->is.tag);
    put(to, a->number);
    put(to, ft_messages_synchronous(a));
    put(to, bytes);
    if (words)
        (*to)[words - 1] = 0;
    err = ft_messages_copy(ft->messages, a, *to, e);
    *to += words;
    return err;
}

static int put_all(struct ft *ft, const uint64_t head[HEAD], uint64_t *to, struct ft_error *e)
{
    struct ft_messages *m = ft->messages;
    int err = 0;

    for (int i = 0; i < HEAD; i++)
        put(&to, head[i]);
    for (uint32_t r = 0; m && r < m->n; r++)
        if (m->out[r])
            put_channel(&to, r, &m->out[r]->c, m->out[r]->nsynchronous);
    for (uint32_t r = 0; m && r < m->n; r++)
        if (m->in[r])
            put_channel(&to, r, &m->in[r]->c, m->in[r]->nsynchronous);
    for (uint32_t i = 0; i < ft->njoined; i++) {
        const struct ft_stream *s = ft_comms_stream(ft, i);

        if (s->left) {
            put(&to, s->number);
            put(&to, s->use);
            put(&to, s->unit);
            put(&to, ft_stream_position(s).end);
        }
    }
    for (uint32_t r = 0; m && r < m->n; r++)
        for (const struct ft_arrived *a = ft_match_oldest(m->match, (int32_t)r); a && !err; a = ft_match_next(m->match, a))
            if (is_wanted(ft, a))
                err = put_message(ft, &to, a, e);
    return err;
}

/* The bytes of what is kept are in the checkpoint, but this process reads them from the log when somebody receives them. */
static void note_positions(const struct ft *ft, struct ft_positions *p)
{
    const struct ft_messages *m = ft->messages;

    for (uint32_t r = 0; m && m->writes && r < m->n; r++)
        FT_INVARIANT(!m->in[r] || m->in[r]->c.unit >= ft_look(&m->in[r]->c.theirs->done), "what was sent before a checkpoint has come");
    ft_comms_positions(ft, p);
    ft_messages_positions(ft, p);
}

int ft_carry_save(struct ft *ft, void **bytes, uint64_t *n, struct ft_positions *p, struct ft_error *e)
{
    uint64_t head[HEAD], words;

    *bytes = NULL;
    *n = 0;
    p->n = 0;
    if (!ft_carry_is_used(ft))
        return 0;
    count(ft, head, &words);
    *bytes = malloc(words * sizeof *head);
    if (!*bytes)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for the messages of a checkpoint", ft->world.me);
    *n = words * sizeof *head;
    note_positions(ft, p);
    return put_all(ft, head, *bytes, e);
}

/* ---- loading ---- */

struct reader {
    const char *at, *end;
    bool short_of;   /* something is not there */
};

static const void *get(struct reader *r, uint64_t n)
{
    const char *at = r->at;

    if (r->short_of || n > (uint64_t)(r->end - r->at)) {
        r->short_of = true;
        return NULL;
    }
    r->at += n;
    return at;
}

/* n words; zeros if they are not there. */
static void get_row(struct reader *r, uint64_t *row, uint64_t n)
{
    const void *at = get(r, n * sizeof *row);

    memset(row, 0, n * sizeof *row);
    if (at)
        memcpy(row, at, n * sizeof *row);
    for (uint64_t i = 0; i < n; i++)
        row[i] = le64toh(row[i]);
}

static int damaged(const struct ft *ft, struct ft_error *e)
{
    return ft_err_set(e, FT_ESYS, "rank %u: what its checkpoint has of messages cannot be read", ft->world.me);
}

/* Numbers go on. All ranks anew: only these, and there is one log less. */
static void go_on(struct ft_msg_channel *c, const uint64_t *row, bool again)
{
    ft_msg_go_to(c, ft_max(c->unit, row[UNIT]), again ? row[END] : c->end);
    if (ft_peek(&c->mine->done) < c->unit)
        ft_publish(&c->mine->done, c->unit);
}

static int load_channels(struct ft_messages *m, struct reader *r, const uint64_t *head, bool again, struct ft_error *e)
{
    uint64_t row[CHANNEL];
    struct ft_outgoing *out;
    int err;

    for (uint64_t i = 0; i < head[AT_OUT]; i++) {
        get_row(r, row, CHANNEL);
        if (r->short_of || row[OTHER] >= m->n)
            return damaged(m->ft, e);
        out = ft_messages_outgoing(m, (uint32_t)row[OTHER], e);
        if (!out)
            return FT_ESYS;
        go_on(&out->c, row, again);
        if (again)
            out->nsynchronous = row[SYNCHRONOUS];
    }
    for (uint64_t i = 0; i < head[AT_IN]; i++) {
        get_row(r, row, CHANNEL);
        if (r->short_of || row[OTHER] >= m->n)
            return damaged(m->ft, e);
        err = m->in[row[OTHER]] ? 0 : ft_messages_hear(m, (uint32_t)row[OTHER], e);
        if (err)
            return FT_ESYS;
        go_on(&m->in[row[OTHER]]->c, row, again);
        if (again)
            m->in[row[OTHER]]->nsynchronous = row[SYNCHRONOUS];
    }
    return 0;
}

static int load_left(struct ft *ft, struct reader *r, uint64_t n, bool again, struct ft_error *e)
{
    uint64_t row[LEFT];
    int err = 0;

    for (uint64_t i = 0; i < n && !err; i++) {
        get_row(r, row, LEFT);
        if (r->short_of || row[STREAM] >= ft->region.header->params.nstreams)
            return damaged(ft, e);
        if (again)
            err = ft_comms_left(ft, &(struct ft_use){ (uint32_t)row[STREAM], row[USE], row[LEFT_UNIT], row[LEFT_END] }, e);
    }
    return err;
}

static int load_message(struct ft_messages *m, struct reader *r, bool again, struct ft_error *e)
{
    uint64_t row[MESSAGE], context;
    const void *bytes;

    get_row(r, row, MESSAGE);
    bytes = get(r, row[BYTES]);
    get(r, -row[BYTES] % 8);
    if (r->short_of || row[SOURCE] >= m->n || !ft_comms_context(m->ft, row[COMM], &context))
        return damaged(m->ft, e);
    return ft_messages_restore(m, &(struct ft_envelope){ .context = context, .source = (int32_t)row[SOURCE], .tag = (int32_t)row[TAG] }, row[NUMBER],
                               again ? row[ACK] : 0, bytes, row[BYTES], e);
}

static int load_messages(struct ft *ft, struct reader *r, const uint64_t *head, bool again, struct ft_error *e)
{
    struct ft_answers_place at = { head[AT_ANSWERS], head[AT_ANSWERS_END], head[AT_ANSWERS_SAID] };
    struct ft_messages *m = NULL;
    int err = 0;

    if (again && ft->messages)
        return ft_err_set(e, FT_EDIVERGED, "rank %u was restarted and has messages before its checkpoint is loaded, where it had none: what a program calls "
                          "before it loads must be the same in each of its lives", ft->world.me);
    m = again ? ft_messages_begin(ft, &at, &err, e) : ft_messages_of(ft, &err, e);
    if (!m)
        return err;
    m->busy = true;
    if (again)
        m->posts = head[AT_POSTS];
    m->nself = ft_max(m->nself, head[AT_SELF]);
    err = load_channels(m, r, head, again, e);
    if (!err)
        err = load_left(ft, r, head[AT_LEFT], again, e);
    for (uint64_t i = 0; i < head[AT_MESSAGES] && !err; i++)
        err = load_message(m, r, again, e);
    m->busy = false;
    return err;
}

int ft_carry_load(struct ft *ft, const void *bytes, uint64_t n, bool again, struct ft_error *e)
{
    struct reader r = { bytes, (const char *)bytes + n, false };
    uint64_t head[HEAD];
    int err;

    get_row(&r, head, HEAD);
    if (r.short_of || head[AT_FORMAT] != FORMAT)
        return damaged(ft, e);
    if (again)
        ft->nfirst = head[AT_FIRST];
    err = load_messages(ft, &r, head, again, e);
    return err ? err : r.at == r.end ? 0 : damaged(ft, e);
}
