/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/input.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_MS = 300 };

struct ft_input {
    struct event_base *base;
    struct event *typed, *room, *again;  /* the terminal has something; the pipe has room; look for the foreground again */
    int pipe;                            /* write end, -1: nobody reads */
    char waiting[4096];
    size_t n;
};

static void close_pipe(struct ft_input *in)
{
    if (in->room)
        event_free(in->room);
    in->room = NULL;
    if (in->pipe >= 0)
        close(in->pipe);
    in->pipe = -1;
    in->n = 0;
}

/* Writes what is waiting; then either the pipe's room or the terminal is waited for, never both. */
static void pass_on(struct ft_input *in)
{
    while (in->n > 0) {
        ssize_t n = write(in->pipe, in->waiting, in->n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            event_add(in->room, NULL);
            return;
        }
        if (n < 0) {  /* rank 0 has closed its stdin, or has left */
            close_pipe(in);
            return;
        }
        in->n -= (size_t)n;
        memmove(in->waiting, in->waiting + n, in->n);
    }
    event_add(in->typed, NULL);
}

static void on_room(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pass_on(arg);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ft_input *in = arg;

    (void)fd;
    (void)what;
    if (in->pipe >= 0)
        event_add(in->typed, NULL);
}

static void on_typed(evutil_socket_t fd, short what, void *arg)
{
    struct timeval soon = {.tv_usec = AGAIN_MS * 1000};
    struct ft_input *in = arg;
    ssize_t n;

    (void)what;
    if (in->pipe < 0)
        return;
    if (tcgetpgrp(fd) != getpgrp()) {  /* in the background: what is typed is for somebody else */
        event_add(in->again, &soon);
        return;
    }
    n = read(fd, in->waiting, sizeof in->waiting);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        close_pipe(in);  /* Ctrl-D, or the terminal is gone */
        return;
    }
    in->n = n < 0 ? 0 : (size_t)n;
    pass_on(in);
}

struct ft_input *ft_input_new(struct event_base *base)
{
    struct ft_input *in;

    if (!isatty(0) || !(in = calloc(1, sizeof *in)))
        return NULL;
    in->base = base;
    in->pipe = -1;
    in->typed = event_new(base, 0, EV_READ, on_typed, in);
    in->again = evtimer_new(base, on_again, in);
    if (in->typed && in->again)
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
        event_add(in->typed, NULL);
    else
        close_pipe(in);
}

int ft_input_open(struct ft_input *in)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
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
    if (in->typed)
        event_free(in->typed);
    if (in->again)
        event_free(in->again);
    free(in);
}
