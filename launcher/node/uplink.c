/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/uplink.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/timer.h"
#include "launcher/net/channel.h"
#include "launcher/stdio/memory.h"

enum { FIRST_MS = 20, LAST_MS = 500, AHEAD = 1 << 20 /* bytes in the buffer */, OPEN = 2 << 20 /* not acknowledged */, PIECE = 256 << 10 };

struct ft_uplink {
    struct ft_uplink_config config;
    struct ft_dial *dial;
    struct ft_channel *channel; /* NULL: there is no connection */
    struct event *again;
    unsigned wait_ms;
    uint64_t dialled_ns;
    uint64_t sent;              /* place in the spool */
    char trouble[FT_ERROR_TEXT];
};

static void dial(struct ft_uplink *u);

static void later(struct ft_uplink *u)
{
    ft_timer_set(u->again, u->wait_ms);
    u->wait_ms = ft_min(2 * u->wait_ms, LAST_MS);
}

static void hang_up(struct ft_uplink *u)
{
    ft_channel_free(u->channel);
    u->channel = NULL;
    u->config.down(u->config.arg);
    later(u);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    dial(arg);
}

static void on_frame(void *arg, struct ft_channel *channel, const struct ft_wire_frame *f)
{
    struct ft_uplink *u = arg;
    struct ft_error e;

    (void)channel;
    if (u->config.take(u->config.arg, f, &e) == 0)
        return;
    snprintf(u->trouble, sizeof u->trouble, "the ftrun that started it said something that is not understood: %.200s", e.text);
    hang_up(u);
}

static void on_closed(void *arg, struct ft_channel *channel, const struct ft_error *e)
{
    struct ft_uplink *u = arg;

    (void)channel;
    snprintf(u->trouble, sizeof u->trouble, "%s", e->text);
    hang_up(u);
}

/* Whole records only, of those at the beginning of data. */
static size_t whole_records(const uint8_t *data, size_t len)
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

/* The next of the spool, as a frame. data NULL: there is none, or no memory. */
static struct ft_wire_bytes next_piece(const struct ft_uplink *u)
{
    const struct ft_spool *s = u->config.spool;
    size_t most = ft_min(PIECE, s->state->tail - u->sent);
    struct ft_wire_bytes b = {.data = malloc(FT_WIRE_OUT_HEAD + most)};
    ssize_t n = b.data ? pread(s->fd, b.data + FT_WIRE_OUT_HEAD, most, (off_t)u->sent) : -1;
    size_t len = n > 0 ? whole_records(b.data + FT_WIRE_OUT_HEAD, (size_t)n) : 0;

    if (!len) {
        free(b.data);
        return (struct ft_wire_bytes){0};
    }
    ft_wire_out_head(b.data, u->sent, (uint32_t)len);
    b.len = FT_WIRE_OUT_HEAD + len;
    return b;
}

void ft_uplink_flush(struct ft_uplink *u)
{
    const struct ft_spool *s = u->config.spool;

    u->sent = ft_max(u->sent, s->written);
    while (u->channel && u->sent < s->state->tail && u->sent - s->written < OPEN && ft_channel_backlog(u->channel) < AHEAD) {
        struct ft_wire_bytes b = next_piece(u);

        if (!b.data)
            return;
        ft_channel_send(u->channel, b);
        u->sent += b.len - FT_WIRE_OUT_HEAD;
    }
}

static void on_written(void *arg)
{
    ft_uplink_flush(arg);
}

static void on_dialled(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct ft_uplink *u = arg;
    struct ft_channel_config config = {.frame = on_frame, .closed = on_closed, .written = on_written, .low = AHEAD / 2, .arg = u};
    int one = 1;

    (void)kind;
    u->dial = NULL;
    if (fd < 0) {
        snprintf(u->trouble, sizeof u->trouble, "%s", e->text);
        later(u);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    u->channel = ft_channel_new(u->config.base, fd, &config);
    if (!u->channel) {
        later(u);
        return;
    }
    u->wait_ms = FIRST_MS;
    u->sent = u->config.spool->written;
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
    return u->channel;
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
    if (u->channel)
        ft_channel_send(u->channel, frame);
    else
        free(frame.data);
}

void ft_uplink_free(struct ft_uplink *u)
{
    if (!u)
        return;
    if (u->dial)
        ft_auth_hang_up(u->dial);
    ft_channel_free(u->channel);
    event_free(u->again);
    free(u);
}
