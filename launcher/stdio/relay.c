/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/relay.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/stdio/input.h"
#include "launcher/stdio/memory.h"
#include "launcher/stdio/pump.h"
#include "launcher/wire/wire.h"

enum { AHEAD = 512 << 10 };

/* input.h gives a rank's pipe all there is; here we are at its other end. */
struct ft_relay {
    struct event_base *base;
    struct ft_relay_config config;
    const struct ft_store *store;
    struct ft_input *input;
    int pipe;                  /* -1: nobody is there to have it */
    struct event *readable;
    uint64_t at;               /* place of the next byte from the pipe */
    uint64_t from;             /* what lies below is not said */
    uint64_t had;
    bool ended;                /* the last has been said */
};

static void on_ended(void *arg)
{
    (void)arg; /* the pipe's end says it */
}

static void on_failed(void *arg, const struct ft_error *e)
{
    struct ft_relay *r = arg;

    r->config.failed(r->config.arg, e);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_relay *r = arg;
    char data[FT_WIRE_PIECE];
    size_t skip;
    ssize_t n;

    (void)what;
    if (r->at >= r->had + AHEAD) {
        event_del(r->readable); /* ft_relay_had goes on */
        return;
    }
    n = read(fd, data, sizeof data);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        event_del(r->readable);
        r->ended = true;
        r->config.send(r->config.arg, r->at, true, "", 0);
        return;
    }
    skip = (size_t)ft_min(r->from - ft_min(r->from, r->at), (uint64_t)n);
    r->at += (uint64_t)n;
    if (skip < (size_t)n)
        r->config.send(r->config.arg, r->at - ((uint64_t)n - skip), false, data + skip, (uint32_t)((size_t)n - skip));
}

void ft_relay_stop(struct ft_relay *r)
{
    if (r->readable)
        event_free(r->readable);
    if (r->pipe >= 0)
        close(r->pipe);
    r->readable = NULL;
    r->pipe = -1;
}

/* The loop does not wait for a disk. */
static int open_pipe(struct ft_relay *r)
{
    int pipe = r->store->kind == FT_STORE_FILE ? ft_pump_open(r->store->from, (off_t)r->store->start) : -1;

    return pipe >= 0 ? pipe : ft_input_open(r->input);
}

/* From the beginning; what the node has is skipped. */
void ft_relay_from(struct ft_relay *r, uint64_t had)
{
    ft_relay_stop(r);
    r->pipe = open_pipe(r);
    if (r->pipe < 0)
        return;
    fcntl(r->pipe, F_SETFL, O_NONBLOCK);
    r->at = 0;
    r->from = r->had = had;
    r->ended = false;
    r->readable = event_new(r->base, r->pipe, EV_READ | EV_PERSIST, on_readable, r);
    if (r->readable)
        event_add(r->readable, NULL);
}

void ft_relay_had(struct ft_relay *r, uint64_t had)
{
    r->had = ft_max(r->had, had);
    if (r->readable && !r->ended && r->at < r->had + AHEAD)
        event_add(r->readable, NULL);
}

struct ft_relay *ft_relay_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_relay_config *config)
{
    struct ft_relay *r = calloc(1, sizeof *r);
    struct ft_input_config in = {.ended = on_ended, .failed = on_failed, .arg = r};

    if (!r)
        return NULL;
    r->base = base;
    r->config = *config;
    r->pipe = -1;
    r->store = &memory->store;
    r->input = ft_input_new(base, memory, &in);
    if (r->input)
        return r;
    free(r);
    return NULL;
}

void ft_relay_free(struct ft_relay *r)
{
    if (!r)
        return;
    ft_relay_stop(r);
    ft_input_free(r->input);
    free(r);
}
