/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/channel.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = FT_WIRE_HEAD + FT_WIRE_MOST };

struct ft_channel {
    struct bufferevent *io;
    struct ft_channel_config config;
    bool *freed;               /* set by ft_channel_free while frames are being handed out */
};

static void close_with(struct ft_channel *c, const struct ft_error *e)
{
    bufferevent_disable(c->io, EV_READ | EV_WRITE);
    c->config.closed(c->config.arg, c, e);
}

/* The next frame, if it is all there; its bytes stay in the buffer. The number of them, 0 or FT_EDAMAGED. */
static int look(struct evbuffer *in, struct ft_wire_frame *f, struct ft_error *e)
{
    size_t have = evbuffer_get_length(in);
    const uint8_t *head;
    uint32_t length;

    if (have < FT_WIRE_HEAD)
        return 0;
    head = evbuffer_pullup(in, FT_WIRE_HEAD);
    if (!head)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    length = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
    if (length <= FT_WIRE_MOST && have < FT_WIRE_HEAD + length)
        return 0;
    if (length > FT_WIRE_MOST)
        length = 0; /* it is none, as its head says */
    head = evbuffer_pullup(in, FT_WIRE_HEAD + (ssize_t)length);
    return head ? ft_wire_next(head, FT_WIRE_HEAD + length, f, e) : ft_err_set(e, FT_ENOMEM, "out of memory");
}

static void on_read(struct bufferevent *io, void *arg)
{
    struct evbuffer *in = bufferevent_get_input(io);
    struct ft_channel *c = arg;
    struct ft_wire_frame f;
    struct ft_error e;
    bool freed = false;
    int n;

    c->freed = &freed;
    while ((n = look(in, &f, &e)) > 0) {
        c->config.frame(c->config.arg, c, &f);
        if (freed)
            return;
        evbuffer_drain(in, (size_t)n);
    }
    c->freed = NULL;
    if (n < 0)
        close_with(c, &e);
}

static void on_written(struct bufferevent *io, void *arg)
{
    const struct ft_channel *c = arg;

    (void)io;
    c->config.written(c->config.arg);
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
    struct ft_error e;

    (void)io;
    if (what & BEV_EVENT_EOF)
        ft_err_set(&e, FT_ESYS, "the connection was closed");
    else
        ft_err_set(&e, FT_ESYS, "the connection has broken: %s", strerror(errno));
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        close_with(arg, &e);
}

struct ft_channel *ft_channel_new(struct event_base *base, int fd, const struct ft_channel_config *config)
{
    struct ft_channel *c = calloc(1, sizeof *c);

    if (!c) {
        close(fd);
        return NULL;
    }
    c->config = *config;
    c->io = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (!c->io) {
        close(fd);
        free(c);
        return NULL;
    }
    bufferevent_setcb(c->io, on_read, config->written ? on_written : NULL, on_event, c);
    bufferevent_setwatermark(c->io, EV_WRITE, config->low, 0);
    bufferevent_setwatermark(c->io, EV_READ, 0, 2 * AHEAD);
    bufferevent_enable(c->io, EV_READ | EV_WRITE);
    return c;
}

static void free_bytes(const void *data, size_t len, void *arg)
{
    (void)len;
    (void)arg;
    free((void *)data);
}

void ft_channel_send(struct ft_channel *c, struct ft_wire_bytes bytes)
{
    struct evbuffer *out = bufferevent_get_output(c->io);

    if (bytes.data && evbuffer_add_reference(out, bytes.data, bytes.len, free_bytes, NULL) == 0)
        return;
    free(bytes.data);
    bufferevent_trigger_event(c->io, BEV_EVENT_ERROR, BEV_OPT_DEFER_CALLBACKS); /* what was to be said is state, and is said again */
}

size_t ft_channel_backlog(const struct ft_channel *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->io));
}

void ft_channel_free(struct ft_channel *c)
{
    if (!c)
        return;
    if (c->freed)
        *c->freed = true;
    bufferevent_free(c->io);
    free(c);
}
