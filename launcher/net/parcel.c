/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/parcel.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/address.h"
#include "launcher/base/timer.h"
#include "launcher/wire/greeting.h"

enum {
    SENT = 256 << 10,    /* bytes of a piece, as sent */
    TURN = 4,            /* pieces in a turn of the loop: others want it, too */
    STALL_S = 5,
    AGAIN_MS = 2         /* between looks whether it may end */
};

struct ft_parcel {
    struct ft_parcel_config config;
    struct event *ready;     /* the connection is */
    struct event *again;
    uint64_t at;             /* of all */
    size_t have, n;          /* of bytes: sent or received so far, to be */
    bool last;               /* sending: bytes has the piece without bytes */
    struct ft_piece piece;   /* receiving: its head has come, if n is not that of a head */
    uint8_t bytes[FT_PIECE_HEAD + FT_PIECE_MOST];
};

void ft_parcel_free(struct ft_parcel *p)
{
    if (!p)
        return;
    ft_timer_free(p->ready);
    ft_timer_free(p->again);
    if (p->config.fd >= 0)
        close(p->config.fd);
    free(p);
}

/* why NULL: all is well. */
static void finish(struct ft_parcel *p, const char *why)
{
    struct ft_parcel_config c = p->config;
    uint64_t length = p->at;

    if (!why)
        p->config.fd = -1; /* the callee's */
    ft_parcel_free(p);
    c.done(c.arg, why ? -1 : c.fd, length, why);
}

static struct ft_parcel *make(const struct ft_parcel_config *config, short what, event_callback_fn on_ready, event_callback_fn on_again)
{
    struct timeval limit = {.tv_sec = STALL_S};
    struct ft_parcel *p = malloc(sizeof *p);

    if (!p) {
        close(config->fd);
        return NULL;
    }
    memset(p, 0, offsetof(struct ft_parcel, bytes));
    p->config = *config;
    ft_address_tune(config->fd);
    p->ready = event_new(config->base, config->fd, (short)(what | EV_PERSIST), on_ready, p);
    p->again = on_again ? evtimer_new(config->base, on_again, p) : NULL;
    if (p->ready && (p->again || !on_again) && event_add(p->ready, &limit) == 0)
        return p;
    ft_parcel_free(p);
    return NULL;
}

/* ---- sending ---- */

/* The next piece. NULL, or why there is none. */
static const char *fill(struct ft_parcel *p)
{
    struct ft_piece piece = {.position = p->at, .length = (uint32_t)ft_min(SENT, p->config.length - p->at)};

    if (piece.length && !p->config.move(p->config.arg, p->at, p->bytes + FT_PIECE_HEAD, piece.length))
        return "it cannot be read any more";
    piece.hash = ft_piece_hash(piece.position, p->bytes + FT_PIECE_HEAD, piece.length);
    ft_piece_put(&piece, p->bytes);
    p->have = 0;
    p->n = FT_PIECE_HEAD + piece.length;
    p->at += piece.length;
    p->last = piece.length == 0;
    return NULL;
}

/* 1: the piece is sent, 0: not yet, -1: nobody reads it. */
static int drain(struct ft_parcel *p)
{
    while (p->have < p->n) {
        ssize_t n = send(p->config.fd, p->bytes + p->have, p->n - p->have, MSG_NOSIGNAL);

        if (n > 0)
            p->have += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 1;
}

static bool may_go_on(struct ft_parcel *p)
{
    if (p->at < p->config.length || !p->config.may_end || p->config.may_end(p->config.arg))
        return true;
    event_del(p->ready);
    ft_timer_set(p->again, AGAIN_MS);
    return false;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_parcel *p = arg;
    const char *why = what & EV_TIMEOUT ? "nobody reads it" : NULL;

    (void)fd;
    for (int i = 0; i < TURN && !why; i++) {
        int sent = drain(p);

        if (sent == 0)
            return;
        if (sent > 0 && p->last) {
            finish(p, NULL);
            return;
        }
        if (sent > 0 && !may_go_on(p))
            return;
        why = sent < 0 ? "it broke off" : fill(p);
    }
    if (why)
        finish(p, why);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct timeval limit = {.tv_sec = STALL_S};
    struct ft_parcel *p = arg;

    (void)fd;
    (void)what;
    if (may_go_on(p) && event_add(p->ready, &limit) < 0)
        finish(p, "out of memory");
}

struct ft_parcel *ft_parcel_send(const struct ft_parcel_config *config)
{
    return make(config, EV_WRITE, on_writable, on_again);
}

/* ---- receiving ---- */

static bool in_head(const struct ft_parcel *p) { return p->n == FT_PIECE_HEAD; }

/* All of what was read is there. NULL, or what is wrong with it. */
static const char *take(struct ft_parcel *p, bool *over)
{
    const uint8_t *bytes = p->bytes + FT_PIECE_HEAD;

    if (in_head(p)) {
        if (!ft_piece_get(p->bytes, &p->piece) || p->piece.position != p->at || p->piece.length > p->config.length - p->at)
            return "it breaks the protocol";
        *over = p->piece.length == 0;
        p->n += p->piece.length;
        return NULL;
    }
    if (ft_piece_hash(p->piece.position, bytes, p->piece.length) != p->piece.hash)
        return "what came is not what was sent";
    if (!p->config.move(p->config.arg, p->at, p->bytes + FT_PIECE_HEAD, p->piece.length))
        return "there is no memory for it";
    p->at += p->piece.length;
    p->have = 0;
    p->n = FT_PIECE_HEAD;
    return NULL;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_parcel *p = arg;
    const char *why = what & EV_TIMEOUT ? "nothing comes" : NULL;
    bool over = false;

    for (size_t turn = 0; turn < (size_t)TURN * SENT && !why && !over;) {
        ssize_t n = recv(fd, p->bytes + p->have, p->n - p->have, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            why = n < 0 ? strerror(errno) : "it broke off";
            break;
        }
        p->have += (size_t)n;
        turn += (size_t)n;
        if (p->have == p->n)
            why = take(p, &over);
    }
    if (why || over)
        finish(p, why);
}

struct ft_parcel *ft_parcel_receive(const struct ft_parcel_config *config)
{
    struct ft_parcel *p = make(config, EV_READ, on_readable, NULL);

    if (p)
        p->n = FT_PIECE_HEAD;
    return p;
}
