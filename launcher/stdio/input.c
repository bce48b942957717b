/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/input.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launcher/stdio/memory.h"

enum { AGAIN_MS = 300, PIECE = 64 << 10, MOST = 1 << 20 /* at a time */, AHEAD = 4 << 20 };

struct ft_input {
    struct event_base *base;
    struct ft_store *store;
    struct ft_input_config config;
    struct event *more, *again;  /* standard input has something; look again for it */
    struct event *room;          /* the pipe has some */
    int pipe;                    /* write end, -1: nobody reads */
    bool failed, always;         /* always: it takes no poll(), as a regular file; it is always ready */
};

static void close_pipe(struct ft_input *in)
{
    if (in->room)
        event_free(in->room);
    in->room = NULL;
    if (in->pipe >= 0)
        close(in->pipe);
    in->pipe = -1;
}

static void end(struct ft_input *in)
{
    close_pipe(in);
    in->config.ended(in->config.arg);
}

static void wait_for_more(struct ft_input *in, int ms)
{
    struct timeval wait = {.tv_usec = ms * 1000};

    if (ms || in->always)
        event_add(in->again, &wait);
    else
        event_add(in->more, NULL);
}

/* Gives the rank what has been taken, as far as its pipe has room. False: there is no room. */
static bool give(struct ft_input *in)
{
    size_t given = 0;
    ssize_t n;

    while (given < MOST) {
        n = ft_store_give(in->store, in->pipe, PIECE);
        if (n == 0)
            return true;
        if (n > 0) {
            given += (size_t)n;
        } else if (errno == EAGAIN) {
            return false;
        } else if (errno != EINTR) {
            end(in); /* the rank has closed its stdin, or has left */
            return true;
        }
    }
    return false; /* others want to be served, too */
}

/* After anything has changed. */
static void go_on(struct ft_input *in)
{
    bool room = in->pipe < 0 || give(in);

    if (in->pipe < 0)
        return;
    if (!room)
        event_add(in->room, NULL);
    if (!ft_store_ended(in->store)) {
        if (room || ft_store_ahead(in->store) < AHEAD)
            wait_for_more(in, 0);
    } else if (room) {
        end(in);
    }
}

static void on_room(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    go_on(arg);
}

static void fail(struct ft_input *in)
{
    struct ft_error e;

    ft_err_set(&e, FT_ESYS, "standard input cannot be kept: %s", strerror(errno));
    in->failed = true;
    in->config.failed(in->config.arg, &e);
}

static void on_more(evutil_socket_t fd, short what, void *arg)
{
    struct pollfd readable = {.fd = 0, .events = POLLIN};
    struct ft_input *in = arg;

    (void)fd;
    (void)what;
    if (in->pipe < 0 || in->failed)
        return;
    if (isatty(0) && tcgetpgrp(0) != getpgrp()) { /* in the background: what is typed is for somebody else */
        wait_for_more(in, AGAIN_MS);
        return;
    }
    if (!in->always && poll(&readable, 1, 0) == 0) { /* it was time to look again, or Ctrl-Z took back what was typed */
        wait_for_more(in, 0);
        return;
    }
    if (ft_store_take(in->store) < 0 && errno != EAGAIN && errno != EINTR) {
        if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) {
            fail(in);
            return;
        }
        *in->store->ended = true; /* the terminal or the connection is gone */
    }
    go_on(in);
}

static bool is_always_ready(int fd)
{
    struct epoll_event readable = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool refused = epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &readable) < 0 && errno == EPERM;

    close(epoll);
    return refused;
}

struct ft_input *ft_input_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_input_config *config)
{
    struct ft_input *in = calloc(1, sizeof *in);

    if (!in)
        return NULL;
    in->base = base;
    in->store = &memory->store;
    in->config = *config;
    in->pipe = -1;
    in->always = is_always_ready(0);
    in->more = event_new(base, 0, EV_READ, on_more, in);
    in->again = evtimer_new(base, on_more, in);
    if (in->more && in->again)
        return in;
    ft_input_free(in);
    return NULL;
}

void ft_input_adopt(struct ft_input *in, int fd)
{
    close_pipe(in);
    if (fd < 0)
        return;
    in->pipe = fd;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    in->room = event_new(in->base, fd, EV_WRITE, on_room, in);
    if (in->room)
        go_on(in);
    else
        end(in);
}

int ft_input_open(struct ft_input *in)
{
    int ends[2];

    close_pipe(in);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    ft_store_rewind(in->store);
    ft_input_adopt(in, ends[1]);
    return ends[0];
}

int ft_input_fd(const struct ft_input *in)
{
    return in->pipe;
}

void ft_input_free(struct ft_input *in)
{
    if (!in)
        return;
    close_pipe(in);
    if (in->more)
        event_free(in->more);
    if (in->again)
        event_free(in->again);
    free(in);
}
