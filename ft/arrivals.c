/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that have come: who gets them. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/messages.h"
#include "ft/shm/streams.h"
#include "ft/shm/wait.h"

enum { SAY_AGAIN = 256 << 10 /* bytes: so often others are told how far this rank is; a quarter of an extent, at most */ };

static struct ft_request *request_of(struct ft_posted *p) { return (struct ft_request *)(void *)((char *)p - offsetof(struct ft_request, posted)); }
static struct ft_message *message_of(struct ft_arrived *a) { return (struct ft_message *)(void *)((char *)a - offsetof(struct ft_message, arrived)); }

struct ft_message *ft_messages_new(struct ft_messages *m)
{
    struct ft_message *a = m->unused_messages;

    if (a) {
        m->unused_messages = a->next;
        return a;
    }
    a = malloc(sizeof *a);
    if (a) {
        a->made = m->made_messages;
        m->made_messages = a;
        a->own = NULL;
    }
    return a;
}

void ft_messages_drop(struct ft_messages *m, struct ft_message *a)
{
    free(a->own);
    a->own = NULL;
    a->next = m->unused_messages;
    m->unused_messages = a;
}

/* Below that no message is kept, nor on its way. */
static uint64_t needs(const struct ft_messages *m, uint32_t source)
{
    const struct ft_incoming *in = m->in[source];
    struct ft_arrived *oldest = ft_match_oldest(m->match, (int32_t)source);
    uint64_t from = oldest ? message_of(oldest)->log_before : in->c.end;

    return in->probed.next == &in->probed ? from : ft_min(from, in->probed.next->log_before);
}

static void say_needs(struct ft_messages *m, uint32_t source)
{
    struct ft_incoming *in = m->in[source];
    uint64_t again = in->said + ft_min(SAY_AGAIN, in->c.log.extent_bytes / 4), from;

    if (in->c.end < again || (from = needs(m, source)) < again)
        return;
    in->said = from;
    ft_msg_need(&in->c, from);
}

/* ---- a receive gets its message ---- */

static void end_receive(struct ft_messages *m, struct ft_request *r)
{
    r->over = true;
    r->told.truncated = r->come > r->room;
    r->told.bytes = ft_min(r->come, r->room);
    r->told.sent = r->come;
    m->received += r->matched;
    m->received_bytes += r->come;
    if (--m->nunder == 0)
        m->ft->patience.meanwhile = NULL;
    if (r->ended)
        ft_request_end(m->ft, r);
}

static void say_matched(void *arg, _Atomic uint64_t *word, uint64_t value)
{
    const struct ft_msg_channel *c = arg;

    ft_wait_announce(c->patience, FT_AWAIT_MATCHED, c->number, word, value);
}

static int acknowledge(struct ft_messages *m, uint32_t source, uint64_t synchronous, struct ft_error *e)
{
    struct ft_incoming *in = m->in[source];

    return ft_acks_match(&in->acks, synchronous, say_matched, &in->c) ? ft_messages_no_memory(m->ft, e) : 0;
}

/* Before anything that follows from it leaves the process, it is written down who has it, if nothing else says so. A replay that wants another
   one than its predecessor is given that, and the program is another one. */
static int match(struct ft_messages *m, struct ft_request *r, const struct ft_envelope *is, uint64_t number, struct ft_error *e)
{
    const struct ft_envelope *wants = &r->posted.wants;

    if (r->posted.decided && (wants->context != is->context || (wants->tag != FT_MATCH_ANY && wants->tag != is->tag)))
        return ft_err_set(e, FT_EDIVERGED, "rank %u, restarted, receives with tag %d and any source what it received with tag %d before: its program is "
                          "not deterministic", m->ft->world.me, wants->tag, is->tag);
    if (r->posted.wants.source == FT_MATCH_ANY) {
        if (m->writes && !r->posted.decided)
            ft_answers_match(&m->answers, r->posted.number, is->source, number);
        r->told.source = ft_messages_rank(m, r->ranks, r->n, is->source);
    }
    r->told.tag = is->tag;
    r->matched = true;
    return 0;
}

/* A piece that has come. */
static int fill(struct ft_incoming *in, struct ft_request *r, const struct ft_unit *u, struct ft_error *e)
{
    uint64_t fits = r->room > r->come ? ft_min(r->room - r->come, u->sig.length) : 0;
    int err = ft_msg_read(&in->c, u, 0, fits, &r->view, r->come, e);

    r->come += u->sig.length;
    return err;
}

static int fill_again(struct ft_incoming *in, struct ft_request *r, const struct ft_message *a, struct ft_error *e)
{
    uint64_t position = a->log_before, unit = a->arrived.number;
    struct ft_unit u = a->first;
    int err = fill(in, r, &u, e);

    position = u.at + ft_record_bytes(u.sig.length);
    while (!err && r->come < a->come) {
        err = ft_msg_walk(&in->c, ++unit, &position, &u, e);
        if (!err)
            err = fill(in, r, &u, e);
    }
    return err;
}

int ft_messages_copy(struct ft_messages *m, const struct ft_arrived *kept, void *bytes, struct ft_error *e)
{
    const struct ft_message *a = message_of((struct ft_arrived *)kept);
    struct ft_request all = { .view = ft_view_of(bytes, a->come, (struct ft_type){ .elem = 1, .kind = FT_BYTE }), .room = a->come };

    if (!a->apart)
        return fill_again(m->in[kept->is.source], &all, a, e);
    if (a->come)
        memcpy(bytes, a->own, a->come);
    return 0;
}

static int give_own(struct ft_messages *m, struct ft_request *r, struct ft_message *a, struct ft_error *e)
{
    uint64_t fits = ft_min(r->room, a->come);
    int err = match(m, r, &a->arrived.is, a->arrived.number, e);

    if (err)
        return err;
    if (fits)
        ft_view_unpack(&r->view, 0, fits, a->own);
    r->come = a->come;
    if (a->sender)
        a->sender->over = true;
    if (a->first.sig.reduction == FT_MESSAGE_SYNCHRONOUS)
        err = acknowledge(m, (uint32_t)a->arrived.is.source, a->synchronous, e);
    end_receive(m, r);
    ft_wait_stir(&m->ft->patience);
    return err;
}

int ft_messages_give(struct ft_messages *m, struct ft_request *r, struct ft_message *a, struct ft_error *e)
{
    uint32_t source = (uint32_t)a->arrived.is.source;
    struct ft_incoming *in;
    int err;

    if (a->apart) {
        err = give_own(m, r, a, e);
        if (m->in[source])
            say_needs(m, source);
        ft_messages_drop(m, a);
        return err;
    }
    in = m->in[source];
    err = match(m, r, &a->arrived.is, a->arrived.number, e);
    if (err)
        return err;
    r->told.site = a->first.site;
    if (a->first.sig.reduction == FT_MESSAGE_SYNCHRONOUS)
        err = acknowledge(m, source, a->synchronous, e);
    if (!err)
        err = fill_again(in, r, a, e);
    if (a->come == a->first.sig.count) {
        end_receive(m, r);
    } else { /* the rest is yet to come */
        in->into = r;
        in->kept = NULL;
    }
    say_needs(m, source);
    ft_messages_drop(m, a);
    return err;
}

static void meanwhile(void *arg)
{
    struct ft_messages *m = arg;
    struct ft_error e;

    if (m->busy || m->failed)
        return;
    m->busy = true;
    if (ft_messages_progress(m, &e) < 0)
        m->why = e;
    m->busy = false;
}

static void begin_receive(struct ft_messages *m)
{
    if (m->nunder++ || !m->writes)
        return;
    m->ft->patience.arg = m;
    m->ft->patience.meanwhile = meanwhile;
}

int ft_messages_post(struct ft_messages *m, struct ft_request *r, struct ft_error *e)
{
    struct ft_arrived *a;

    r->posted.number = ++m->posts;
    begin_receive(m);
    a = ft_match_post(m->match, &r->posted);
    if (!a)
        return r->posted.next ? 0 : ft_messages_no_memory(m->ft, e);
    m->kept_bytes -= ft_messages_bytes(a);
    return ft_messages_give(m, r, message_of(a), e);
}

/* ---- probes, and receives that are given up ---- */

uint64_t ft_messages_bytes(const struct ft_arrived *a) { return message_of((struct ft_arrived *)a)->first.sig.count; }

/* Its part of the log stays needed. */
struct ft_message *ft_messages_take(struct ft_messages *m, struct ft_arrived *kept, const struct ft_comm *c)
{
    struct ft_message *a = message_of(kept);
    struct ft_incoming *in = m->in[a->arrived.is.source]; /* NULL: its own */

    ft_match_take(m->match, kept);
    m->kept_bytes -= a->first.sig.count;
    a->ranks = ft_ranks_hold(c->ranks);
    a->n = c->n;
    a->next = a->before = a;
    m->nprobed++;
    if (in) {
        struct ft_message *after = in->probed.before;

        while (after != &in->probed && after->arrived.number > a->arrived.number)
            after = after->before;
        a->before = after;
        a->next = after->next;
        a->before->next = a->next->before = a;
    }
    return a;
}

int ft_messages_receive(struct ft_messages *m, struct ft_request *r, struct ft_message *a, struct ft_error *e)
{
    a->before->next = a->next;
    a->next->before = a->before;
    m->nprobed--;
    r->posted.wants = a->arrived.is;
    r->told.source = ft_messages_rank(m, a->ranks, a->n, a->arrived.is.source);
    ft_ranks_release(a->ranks);
    begin_receive(m);
    return ft_messages_give(m, r, a, e);
}

void ft_messages_withdraw(struct ft_messages *m, struct ft_request *r)
{
    ft_match_withdraw(m->match, &r->posted);
    r->told.cancelled = true;
    end_receive(m, r);
    ft_wait_stir(&m->ft->patience);
}

/* ---- a message comes ---- */

static int put_aside(struct ft_messages *m, struct ft_message *a, struct ft_error *e)
{
    if (ft_match_keep(m->match, &a->arrived))
        return ft_messages_no_memory(m->ft, e);
    m->kept_bytes += a->first.sig.count;
    m->most_kept = ft_max(m->most_kept, ft_match_kept(m->match));
    return 0;
}

static int keep(struct ft_messages *m, struct ft_incoming *in, const struct ft_envelope *is, const struct ft_unit *u, struct ft_error *e)
{
    struct ft_message *a = ft_messages_new(m);

    if (!a)
        return ft_messages_no_memory(m->ft, e);
    *a = (struct ft_message){ .made = a->made, .arrived = { .is = *is, .number = in->c.unit }, .first = *u, .log_before = in->c.end, .come = u->sig.length,
                              .synchronous = in->nsynchronous };
    in->kept = a;
    return put_aside(m, a, e);
}

/* Its first piece. */
static int arrive(struct ft_messages *m, uint32_t source, const struct ft_unit *u, struct ft_error *e)
{
    struct ft_envelope is = { .context = u->sig.shape, .source = (int32_t)source, .tag = u->sig.root };
    struct ft_incoming *in = m->in[source];
    struct ft_posted *p = ft_match_arrive(m->match, &is, in->c.unit);
    bool synchronous = u->sig.reduction == FT_MESSAGE_SYNCHRONOUS;
    int err;

    in->into = NULL;
    in->kept = NULL;
    in->total = u->sig.count;
    in->come = u->sig.length;
    if (p) {
        in->into = request_of(p);
        in->into->told.site = u->site;
        err = match(m, in->into, &is, in->c.unit, e);
        if (!err && synchronous)
            err = acknowledge(m, source, in->nsynchronous, e);
        if (!err)
            err = fill(in, in->into, u, e);
    } else {
        err = keep(m, in, &is, u, e);
    }
    in->nsynchronous += synchronous;
    return err;
}

static int go_on(struct ft_incoming *in, const struct ft_unit *u, struct ft_error *e)
{
    int err = in->into ? fill(in, in->into, u, e) : 0;

    in->come += u->sig.length;
    if (in->kept)
        in->kept->come = in->come;
    return err;
}

static int take(struct ft_messages *m, uint32_t source, const struct ft_unit *u, struct ft_error *e)
{
    struct ft_incoming *in = m->in[source];
    int err = u->sig.cached == FT_MESSAGE_GOES_ON ? go_on(in, u, e) : arrive(m, source, u, e);

    if (err)
        return err;
    ft_msg_pass(&in->c, u);
    if (in->come == in->total) {
        if (in->into)
            end_receive(m, in->into);
        in->into = NULL;
        in->kept = NULL;
    }
    say_needs(m, source);
    return 0;
}

int ft_messages_hear(struct ft_messages *m, uint32_t source, struct ft_error *e)
{
    struct ft_incoming *in = calloc(1, sizeof *in);
    const struct ft *ft = m->ft;

    if (!in)
        return ft_messages_no_memory(m->ft, e);
    if (m->nheard >= FT_MOST_CHANNELS / 2) {
        free(in);
        return ft_err_set(e, FT_EINVAL, "rank %u exchanges messages with as many others as ftmpi can do yet, %d", ft->world.me, FT_MOST_CHANNELS / 2);
    }
    ft_msg_open(&in->c, &ft->region, source, m->me, m->me, &ft->patience, ft->kick_fd, ft->spill_fd);
    in->acks.words = ft_region_stream(&ft->region, in->c.number).acks;
    in->probed.next = in->probed.before = &in->probed;
    m->in[source] = in;
    m->heard[m->nheard++] = source;
    return 0;
}

/* Who has begun to send. */
static int look_for_senders(struct ft_messages *m, struct ft_error *e)
{
    const struct ft_region *region = &m->ft->region;
    uint32_t first = ft_channel_of(region, 0, m->me), end = first + m->n;
    int err = 0;

    if (m->nheard + 1 == m->n)
        return 0;
    for (uint32_t c = ft_streams_used_below(region, first, end); c < end && !err; c = ft_streams_used_below(region, c + 1, end))
        if (c - first != m->me && !m->in[c - first])
            err = ft_messages_hear(m, c - first, e);
    return err;
}

static int progress(struct ft_messages *m, struct ft_error *e)
{
    int err = look_for_senders(m, e), moved = 0;

    for (uint32_t i = 0; i < m->nheard && !err; i++) {
        struct ft_unit u;

        while (!err && ft_msg_look(&m->in[m->heard[i]]->c, &u)) {
            err = take(m, m->heard[i], &u, e);
            moved = 1;
        }
    }
    return err ? err : moved;
}

static int read_again(struct ft_messages *m)
{
    int err;

    err = ft_answers_resume(&m->answers, &m->why);
    m->woken = false;
    return err;
}

int ft_messages_ready(struct ft_messages *m, struct ft_error *e)
{
    if (!m->failed && m->woken)
        m->failed = read_again(m);
    if (m->failed)
        *e = m->why;
    return m->failed;
}

static int noted(struct ft_messages *m, int moved)
{
    if (moved < 0)
        m->failed = moved;
    return moved;
}

int ft_messages_progress(struct ft_messages *m, struct ft_error *e)
{
    int err = ft_messages_ready(m, e);

    if (err || !m->writes)
        return err; /* alone: there is nothing */
    m->again = false;
    return noted(m, progress(m, e));
}

/* None of that sender is left: what is waited for has not come to the predecessor, so there may be anything. */
static int take_again(struct ft_messages *m, uint32_t source, struct ft_error *e)
{
    struct ft_unit u;
    int err = m->in[source] || !ft_streams_is_used(&m->ft->region, ft_channel_of(&m->ft->region, source, m->me)) ? 0 : ft_messages_hear(m, source, e);

    if (err || !m->in[source] || !ft_msg_replays(&m->in[source]->c) || !ft_msg_look(&m->in[source]->c, &u))
        return err;
    err = take(m, source, &u, e);
    return err ? err : 1;
}

int ft_messages_again(struct ft_messages *m, const struct ft_await *what, struct ft_error *e)
{
    int err = ft_messages_ready(m, e);

    if (err || !m->writes || what->kind != FT_AWAIT_MESSAGE || what->rank == m->me)
        return err;
    return noted(m, take_again(m, what->rank, e));
}

/* ---- what is told, and written down ---- */

void ft_messages_say(struct ft_messages *m, bool yes, uint64_t answer)
{
    if (yes)
        ft_answers_yes(&m->answers, answer);
    else
        ft_answers_no(&m->answers);
}

void ft_messages_nobody(struct ft_messages *m, const struct ft_request *r)
{
    if (m->writes && !r->posted.decided)
        ft_answers_match(&m->answers, r->posted.number, FT_MATCH_NOBODY, 0);
}

/* ---- to itself ---- */

int ft_messages_to_self(struct ft_messages *m, const struct ft_comm *c, const struct ft_view *v, uint64_t bytes, int tag,
                        struct ft_request *sender, struct ft_error *e)
{
    struct ft_envelope is = { .context = c->context, .source = (int32_t)m->me, .tag = tag };
    struct ft_message *a = ft_messages_new(m);
    char *own = bytes ? malloc(bytes) : NULL;
    struct ft_posted *p;

    if (!a || (bytes && !own)) {
        free(own);
        if (a)
            ft_messages_drop(m, a);
        return ft_messages_no_memory(m->ft, e);
    }
    if (bytes)
        ft_view_pack(v, 0, bytes, own);
    *a = (struct ft_message){ .made = a->made, .arrived = { .is = is, .number = m->nself++ }, .come = bytes, .first.sig.count = bytes, .apart = true, .own = own, .sender = sender };
    p = ft_match_arrive(m->match, &is, a->arrived.number);
    if (!p) {
        ft_wait_stir(&m->ft->patience);
        return put_aside(m, a, e);
    }
    return ft_messages_give(m, request_of(p), a, e);
}

/* ---- for checkpoints ---- */

uint64_t ft_messages_synchronous(const struct ft_arrived *kept)
{
    const struct ft_message *a = message_of((struct ft_arrived *)kept);

    return a->first.sig.reduction == FT_MESSAGE_SYNCHRONOUS ? a->synchronous + 1 : 0;
}

/* The log from its channel's next message on is needed as long as it is kept: nothing else says that those behind it are kept, too. */
int ft_messages_restore(struct ft_messages *m, const struct ft_envelope *is, uint64_t number, uint64_t synchronous, const void *bytes, uint64_t n,
                        struct ft_error *e)
{
    struct ft_message *a = ft_messages_new(m);
    char *own = n ? malloc(n) : NULL;

    if (!a || (n && !own)) {
        free(own);
        if (a)
            ft_messages_drop(m, a);
        return ft_messages_no_memory(m->ft, e);
    }
    if (n)
        memcpy(own, bytes, n);
    *a = (struct ft_message){ .made = a->made, .arrived = { .is = *is, .number = number }, .come = n, .first.sig.count = n, .apart = true, .own = own,
                              .log_before = m->in[is->source] ? m->in[is->source]->c.end : 0 };
    if (synchronous) {
        a->first.sig.reduction = FT_MESSAGE_SYNCHRONOUS;
        a->synchronous = synchronous - 1;
    }
    return put_aside(m, a, e);
}

/* ---- for people ---- */

void ft_messages_tell(const struct ft_messages *m)
{
    const struct ft_arrived *oldest = ft_match_first(m->match);
    struct ft_message_words *w;

    if (!m->ft->block)
        return;
    w = &m->ft->block->messages;
    ft_note(&w->kept, ft_match_kept(m->match));
    ft_note(&w->kept_bytes, m->kept_bytes);
    ft_note(&w->most_kept, m->most_kept);
    ft_note(&w->oldest, oldest ? (uint64_t)oldest->is.source << 32 | (uint32_t)oldest->is.tag : 0);
    ft_note(&w->receives, ft_match_posted(m->match));
    ft_note(&w->requests, m->nopen);
    ft_note(&w->sent, m->sent);
    ft_note(&w->sent_bytes, m->sent_bytes);
    ft_note(&w->received, m->received);
    ft_note(&w->received_bytes, m->received_bytes);
}

/* ---- for snapshots ---- */

void ft_messages_positions(const struct ft *ft, struct ft_positions *p)
{
    const struct ft_messages *m = ft->messages;

    if (!m || !m->writes)
        return;
    ft_position_add(p, m->answers.log.number, (struct ft_position){ m->answers.log.unit, m->answers.log.end });
    for (uint32_t r = 0; r < m->n; r++) {
        if (m->out[r])
            ft_position_add(p, m->out[r]->c.number, (struct ft_position){ m->out[r]->c.unit, m->out[r]->c.end });
        if (m->in[r])
            ft_position_add(p, m->in[r]->c.number, (struct ft_position){ m->in[r]->c.unit, needs(m, r) });
    }
}

/* Other threads stand still: nothing that takes memory or reads files. */
void ft_messages_resume(struct ft *ft)
{
    struct ft_messages *m = ft->messages;

    if (!m || !m->writes)
        return;
    m->woken = m->again = true;
    for (uint32_t r = 0; r < m->n; r++) {
        if (m->out[r])
            ft_msg_resume(&m->out[r]->c);
        if (m->in[r])
            ft_msg_resume(&m->in[r]->c);
    }
}
