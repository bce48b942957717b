/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/uplink.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/stdio_memory.h"
#include "launcher/timer.h"

enum { FIRST_MS = 20, LAST_MS = 500, AHEAD = 1 << 20 /* bytes in the buffer */, OPEN = 2 << 20 /* not acknowledged */, PIECE = 256 << 10 };

struct ft_uplink {
    struct ft_uplink_config config;
    struct ft_dial *dial;
    struct bufferevent *io;
    struct event *again;
    unsigned wait_ms;
    uint64_t dialled_ns;
    uint64_t sent;              /* place in the spool */
    char trouble[FT_ERROR_TEXT];
    char piece[PIECE];
};

static void dial(struct ft_uplink *u);

static void later(struct ft_uplink *u)
{
    ft_timer_set(u->again, u->wait_ms);
    u->wait_ms = ft_min(2 * u->wait_ms, LAST_MS);
}

static void hang_up(struct ft_uplink *u)
{
    bufferevent_free(u->io);
    u->io = NULL;
    u->config.down(u->config.arg);
    later(u);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    dial(arg);
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
    (void)io;
    (void)what;
    hang_up(arg);
}

/* Every whole frame that is there. Returns false if one is none. */
static bool take_frames(struct ft_uplink *u, struct evbuffer *in, struct ft_error *e)
{
    uint8_t head[FT_WIRE_HEAD];
    struct ft_wire_frame f;
    int n;

    while (evbuffer_copyout(in, head, sizeof head) == (ssize_t)sizeof head) {
        if (ft_wire_next(head, sizeof head, &f, e) < 0)
            return false;
        n = FT_WIRE_HEAD + (int)f.length;
        if (evbuffer_get_length(in) < (size_t)n)
            return true;
        f.payload = evbuffer_pullup(in, n) + FT_WIRE_HEAD;
        if (u->config.take(u->config.arg, &f, e) < 0)
            return false;
        evbuffer_drain(in, (size_t)n);
    }
    return true;
}

static void on_readable(struct bufferevent *io, void *arg)
{
    struct ft_uplink *u = arg;
    struct ft_error e;

    if (take_frames(u, bufferevent_get_input(io), &e))
        return;
    snprintf(u->trouble, sizeof u->trouble, "the controller said something that is not understood: %.200s", e.text);
    hang_up(u);
}

static void on_written(struct bufferevent *io, void *arg)
{
    (void)io;
    ft_uplink_flush(arg);
}

/* Whole records only, of those at the beginning of data. */
static size_t whole_records(const char *data, size_t len)
{
    struct ft_wire_record r;
    struct ft_error e;
    size_t at = 0;
    int n;

    while ((n = ft_wire_record(data + at, len - at, &r, &e)) > 0)
        at += (size_t)n;
    FT_INVARIANT(n == 0, "a node's spool holds records");
    return at;
}

void ft_uplink_flush(struct ft_uplink *u)
{
    const struct ft_spool *s = u->config.spool;
    struct evbuffer *out = u->io ? bufferevent_get_output(u->io) : NULL;
    uint8_t head[FT_WIRE_OUT_HEAD];

    u->sent = ft_max(u->sent, s->written);
    while (out && u->sent < s->state->tail && u->sent - s->written < OPEN && evbuffer_get_length(out) < AHEAD) {
        ssize_t n = pread(s->fd, u->piece, ft_min(sizeof u->piece, s->state->tail - u->sent), (off_t)u->sent);
        size_t len = n > 0 ? whole_records(u->piece, (size_t)n) : 0;

        if (!len)
            return;
        ft_wire_out_head(head, u->sent, (uint32_t)len);
        evbuffer_add(out, head, sizeof head);
        evbuffer_add(out, u->piece, len);
        u->sent += len;
    }
}

static void on_dialled(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_uplink *u = arg;
    int one = 1;

    (void)kind;
    u->dial = NULL;
    if (fd < 0) {
        snprintf(u->trouble, sizeof u->trouble, "%s", e->text);
        later(u);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    u->io = bufferevent_socket_new(u->config.base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!u->io) {
        close(fd);
        later(u);
        return;
    }
    u->wait_ms = FIRST_MS;
    u->sent = u->config.spool->written;
    bufferevent_setcb(u->io, on_readable, on_written, on_event, u);
    bufferevent_setwatermark(u->io, EV_WRITE, AHEAD / 2, 0);
    bufferevent_enable(u->io, EV_READ | EV_WRITE);
    u->config.up(u->config.arg);
    ft_uplink_flush(u);
}

static void dial(struct ft_uplink *u)
{
    u->dialled_ns = ft_timer_boot_ns();
    u->dial = ft_auth_dial(u->config.auth, u->config.controllers, u->config.ncontrollers, FT_AUTH_CONTROL, on_dialled, u);
    if (!u->dial)
        later(u);
}

struct ft_uplink *ft_uplink_new(const struct ft_uplink_config *config)
{
    struct ft_uplink *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->config = *config;
    u->wait_ms = FIRST_MS;
    u->again = evtimer_new(config->base, on_again, u);
    if (!u->again) {
        free(u);
        return NULL;
    }
    dial(u);
    return u;
}

bool ft_uplink_is_up(const struct ft_uplink *u)
{
    return u->io;
}

uint64_t ft_uplink_dialled(const struct ft_uplink *u)
{
    return u->dialled_ns;
}

const char *ft_uplink_trouble(const struct ft_uplink *u)
{
    return u->trouble;
}

void ft_uplink_say(struct ft_uplink *u, struct ft_wire_bytes frame)
{
    if (u->io && frame.data)
        bufferevent_write(u->io, frame.data, frame.len);
    free(frame.data);
}

void ft_uplink_free(struct ft_uplink *u)
{
    if (!u)
        return;
    if (u->dial)
        ft_auth_hang_up(u->dial);
    if (u->io)
        bufferevent_free(u->io);
    event_free(u->again);
    free(u);
}
