/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/fetch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/shm/transfer.h"
#include "ft/shm/word.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/wire/greeting.h"

enum {
    SENT = 256 << 10,    /* bytes of a piece, as sent */
    TURN = 4,            /* pieces in a turn of the loop: others want it, too */
    STALL_S = 20,        /* without a byte: who does not move is given up */
    ROOM_MS = 1, ROOMS = 20000, /* looks for memory before that is given up */
    ROUNDS = 3, ROUND_MS = 50   /* a source's agent may have been killed, and its successor has the log as well */
};

/* ---- the other end ---- */

struct ft_serving {
    int fd;
    struct ft_reader reader;
    uint64_t at;
    size_t done, end;    /* of out */
    bool last;           /* out has the piece without bytes */
    struct event *writable;
    void (*gone)(void *arg);
    void *arg;
    uint8_t out[FT_PIECE_HEAD + SENT];
};

static uint64_t floor_of(const struct ft_region *r)
{
    return ft_look(&ft_region_stream(r, 0).head->floor) * r->header->params.extent_bytes;
}

void ft_fetch_answer(const struct ft_region *region, uint64_t position, struct ft_answer *a)
{
    struct ft_reader t;

    ft_reader_open(&t, region, 0, -1);
    a->extent_bytes = t.extent_bytes;
    a->position = ft_reader_end(&t);
    a->verdict = floor_of(region) <= position ? FT_VERDICT_YES : FT_VERDICT_RELEASED;
}

void ft_fetch_hang_up(struct ft_serving *s)
{
    if (s->writable)
        event_free(s->writable);
    close(s->fd);
    free(s);
}

static void end_serving(struct ft_serving *s)
{
    void (*gone)(void *arg) = s->gone;
    void *arg = s->arg;

    ft_fetch_hang_up(s);
    gone(arg);
}

/* The next piece. False: it cannot be read any more. */
static bool fill(struct ft_serving *s)
{
    uint64_t end = ft_reader_end(&s->reader);
    uint64_t n = ft_min(ft_min(SENT, end - ft_min(s->at, end)), s->reader.extent_bytes - s->at % s->reader.extent_bytes);
    struct ft_piece p = {.position = s->at, .length = (uint32_t)n};
    uint8_t *bytes = s->out + FT_PIECE_HEAD;

    if (n && !ft_reader_read(&s->reader, s->at, bytes, n))
        return false;
    p.hash = ft_piece_hash(p.position, bytes, p.length);
    ft_piece_put(&p, s->out);
    s->done = 0;
    s->end = FT_PIECE_HEAD + n;
    s->at += n;
    s->last = n == 0;
    return true;
}

/* 1: all of out is sent, 0: not yet, -1: nobody reads it. */
static int drain(struct ft_serving *s)
{
    while (s->done < s->end) {
        ssize_t n = send(s->fd, s->out + s->done, s->end - s->done, MSG_NOSIGNAL);

        if (n > 0)
            s->done += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 1;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_serving *s = arg;
    int sent = what & EV_TIMEOUT ? -1 : 1;

    (void)fd;
    for (int i = 0; i < TURN && sent > 0; i++) {
        sent = drain(s);
        if (sent > 0 && (s->last || !fill(s)))
            sent = -1;
    }
    if (sent < 0)
        end_serving(s);
}

struct ft_serving *ft_fetch_serve(struct event_base *base, int fd, const struct ft_region *region, int spill_fd, uint64_t position,
                                  void (*gone)(void *arg), void *arg)
{
    struct timeval limit = {.tv_sec = STALL_S};
    struct ft_serving *s = malloc(sizeof *s);

    if (!s) {
        close(fd);
        return NULL;
    }
    memset(s, 0, offsetof(struct ft_serving, out));
    s->fd = fd;
    s->at = position;
    s->gone = gone;
    s->arg = arg;
    ft_address_tune(fd);
    ft_reader_open(&s->reader, region, 0, spill_fd);
    s->writable = event_new(base, fd, EV_WRITE | EV_PERSIST, on_writable, s);
    if (s->writable && event_add(s->writable, &limit) == 0)
        return s;
    ft_fetch_hang_up(s);
    return NULL;
}

/* ---- this end ---- */

enum state { IDLE, ANSWER, HEAD, BYTES, ROOM };

struct ft_fetch {
    struct ft_fetch_config config;
    struct ft_auth *auth;
    struct ft_source *sources;
    size_t n, next;
    unsigned round;
    struct ft_dial *dial;
    int fd;                      /* -1: none */
    struct event *readable;      /* of fd */
    struct event *later;         /* next source; or room for a piece */
    enum state state;
    struct ft_writer writer;
    struct ft_piece piece;
    uint8_t head[FT_PIECE_HEAD > FT_ANSWER_BYTES ? FT_PIECE_HEAD : FT_ANSWER_BYTES];
    uint8_t *bytes;              /* FT_PIECE_MOST */
    size_t have;                 /* of what is being read */
    unsigned looks;              /* for room */
    struct ft_error e;
    ft_fetch_done *done;
    void *arg;
};

static const struct ft_source *source_of(const struct ft_fetch *f) { return &f->sources[f->next - 1]; }

static void hang_up(struct ft_fetch *f)
{
    if (f->dial)
        ft_auth_hang_up(f->dial);
    if (f->readable)
        event_free(f->readable);
    if (f->fd >= 0)
        close(f->fd);
    f->dial = NULL;
    f->readable = NULL;
    f->fd = -1;
    f->state = IDLE;
}

void ft_fetch_stop(struct ft_fetch *f)
{
    if (!f)
        return;
    hang_up(f);
    ft_auth_free(f->auth);
    if (f->later)
        event_free(f->later);
    free(f->sources);
    free(f->bytes);
    free(f);
}

static void finish(struct ft_fetch *f)
{
    ft_fetch_done *done = f->done;
    void *arg = f->arg;
    uint64_t units = f->writer.unit, bytes = f->writer.end;
    struct ft_error e = f->e;

    ft_fetch_stop(f);
    done(arg, units, bytes, &e);
}

static void soon(struct ft_fetch *f, unsigned ms)
{
    ft_timer_set(f->later, ms);
}

/* This source gives no more. What is whole of it stays; the next one goes on from there. */
static void next_source(struct ft_fetch *f, const char *why)
{
    ft_err_set(&f->e, FT_ESYS, "the log cannot be fetched from node %u: %s", source_of(f)->node, why);
    ft_say_step(f->config.say, "%s", f->e.text);
    hang_up(f);
    ft_writer_cut(&f->writer);
    soon(f, 0);
}

static bool start_piece(struct ft_fetch *f)
{
    uint64_t room = f->writer.extent_bytes - f->writer.at % f->writer.extent_bytes;

    if (!ft_piece_get(f->head, &f->piece) || f->piece.position != f->writer.at || f->piece.length > room) {
        next_source(f, "it breaks the protocol");
        return false;
    }
    if (!f->piece.length) { /* that was all */
        f->e.text[0] = 0;
        finish(f);
        return false;
    }
    f->state = BYTES;
    return true;
}

/* Puts the piece where it belongs, if there is memory. False: not now; or the fetch has ended with this source. */
static bool put_piece(struct ft_fetch *f)
{
    struct ft_error e;

    if (ft_writer_room(&f->writer) < f->piece.length) {
        if (f->looks++ == ROOMS) {
            next_source(f, "this host has no memory for it");
            return false;
        }
        event_del(f->readable);
        soon(f, ROOM_MS);
        return false;
    }
    f->looks = 0;
    if (ft_writer_put(&f->writer, f->bytes, f->piece.length, &e) < 0) {
        next_source(f, e.text);
        return false;
    }
    f->state = HEAD;
    return true;
}

static bool take_answer(struct ft_fetch *f)
{
    struct ft_answer a;
    bool sound = ft_answer_get(f->head, &a) && a.node == source_of(f)->node;

    if (!sound || a.verdict != FT_VERDICT_YES) {
        next_source(f, sound ? ft_verdict_text(a.verdict) : "it breaks the protocol");
        return false;
    }
    if (a.incarnation != source_of(f)->incarnation || a.extent_bytes != f->writer.extent_bytes) {
        next_source(f, "its log is of another kind");
        return false;
    }
    f->state = HEAD;
    return true;
}

/* All of what was read is there. False: see there. */
static bool take(struct ft_fetch *f)
{
    f->have = 0;
    if (f->state == ANSWER)
        return take_answer(f);
    if (f->state == HEAD)
        return start_piece(f);
    if (ft_piece_hash(f->piece.position, f->bytes, f->piece.length) != f->piece.hash) {
        next_source(f, "what came is not what was sent");
        return false;
    }
    f->state = ROOM;
    return put_piece(f);
}

static size_t needed(const struct ft_fetch *f)
{
    return f->state == ANSWER ? FT_ANSWER_BYTES : f->state == HEAD ? FT_PIECE_HEAD : f->piece.length;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_fetch *f = arg;

    if (what & EV_TIMEOUT) {
        next_source(f, "nothing comes");
        return;
    }
    for (size_t turn = 0; turn < (size_t)TURN * SENT;) {
        uint8_t *to = f->state == BYTES ? f->bytes : f->head;
        ssize_t n = recv(fd, to + f->have, needed(f) - f->have, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            next_source(f, n < 0 ? strerror(errno) : "it broke off");
            return;
        }
        f->have += (size_t)n;
        turn += (size_t)n;
        if (f->have == needed(f) && !take(f))
            return;
    }
}

static int watch(struct ft_fetch *f)
{
    struct timeval limit = {.tv_sec = STALL_S};

    return event_add(f->readable, &limit);
}

static void on_dialed(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_fetch *f = arg;
    const struct ft_source *source = source_of(f);
    struct ft_greeting g = {.want = FT_WANT_LOG, .from = f->config.node, .from_incarnation = f->config.incarnation, .to = source->node,
                            .to_incarnation = source->incarnation, .position = f->writer.at};
    uint8_t text[FT_GREETING_BYTES];

    (void)kind;
    f->dial = NULL;
    if (fd < 0) {
        next_source(f, e->text);
        return;
    }
    f->fd = fd;
    f->have = f->looks = 0;
    f->state = ANSWER;
    ft_address_tune(fd);
    ft_greeting_put(&g, text);
    f->readable = event_new(f->config.base, fd, EV_READ | EV_PERSIST, on_readable, f);
    if (!f->readable || watch(f) < 0)
        next_source(f, "out of memory");
    else if (send(fd, text, sizeof text, MSG_NOSIGNAL) != (ssize_t)sizeof text)
        next_source(f, "it broke off");
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    struct ft_fetch *f = arg;
    const struct ft_source *source;

    (void)fd;
    (void)what;
    if (f->state == ROOM) {
        if (put_piece(f) && watch(f) < 0)
            next_source(f, "out of memory");
        return;
    }
    if (f->next == f->n && f->n && ++f->round < ROUNDS) {
        f->next = 0;
        soon(f, f->round * ROUND_MS);
        return;
    }
    if (f->next == f->n) {
        finish(f);
        return;
    }
    source = &f->sources[f->next++];
    f->dial = ft_auth_dial(f->auth, source->addresses, source->naddresses, FT_AUTH_FETCH, on_dialed, f);
    if (!f->dial)
        next_source(f, "out of memory");
}

struct ft_fetch *ft_fetch_start(const struct ft_fetch_config *config, const struct ft_source *sources, size_t n, ft_fetch_done *done,
                                void *arg)
{
    struct ft_fetch *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    *f = (struct ft_fetch){.config = *config, .n = n, .fd = -1, .done = done, .arg = arg};
    f->auth = ft_auth_new(config->base, config->secret, config->say);
    f->sources = malloc((n + !n) * sizeof *sources);
    f->bytes = malloc(FT_PIECE_MOST);
    f->later = evtimer_new(config->base, on_later, f);
    if (!f->auth || !f->sources || !f->bytes || !f->later) {
        ft_fetch_stop(f);
        return NULL;
    }
    memcpy(f->sources, sources, n * sizeof *sources);
    ft_err_set(&f->e, FT_EJOB, "no other host has the log");
    if (ft_writer_open(&f->writer, config->region, config->keeper, config->spill_fd, &f->e) < 0)
        f->n = 0;
    soon(f, 0);
    return f;
}
