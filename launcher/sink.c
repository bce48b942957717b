/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/sink.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FULL = 1 << 20, PIECE = 4096 };

/* How to write without waiting. */
enum way { WAY_FILE, WAY_NONBLOCK, WAY_SOCKET, WAY_POLL };

struct ft_sink {
    int fd;
    int own;              /* second opening of the same pipe or terminal; -1 if there is none */
    enum way way;
    bool dead;
    int error;
    struct evbuffer *waiting;
    struct event *writable;
    void (*room)(void *arg);
    void *arg;
};

static int reopen(int fd)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void choose_way(struct ft_sink *s, int fd)
{
    struct stat st;

    s->fd = fd;
    s->own = -1;
    s->way = WAY_FILE;
    if (fstat(fd, &st) < 0) {
        s->dead = true;
    } else if (S_ISSOCK(st.st_mode)) {
        s->way = WAY_SOCKET;
    } else if (S_ISFIFO(st.st_mode) || (S_ISCHR(st.st_mode) && isatty(fd))) {
        s->own = reopen(fd);
        s->way = s->own >= 0 ? WAY_NONBLOCK : WAY_POLL;
        if (s->own >= 0)
            s->fd = s->own;
    }
}

static ssize_t write_some(struct ft_sink *s, const void *data, size_t len)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};

    switch (s->way) {
    case WAY_SOCKET:
        return send(s->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    case WAY_POLL: /* a pipe that polls as writable takes this much */
        if (poll(&p, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        return write(s->fd, data, len < PIECE ? len : PIECE);
    default:
        return write(s->fd, data, len);
    }
}

static void give_up(struct ft_sink *s, int error)
{
    s->dead = true;
    if (error != EPIPE && error != EIO && error != EBADF && error != ECONNRESET) /* EIO: the terminal hung up */
        s->error = error;
    evbuffer_drain(s->waiting, evbuffer_get_length(s->waiting));
}

/* Returns false when the descriptor takes no more for now. */
static bool flush(struct ft_sink *s)
{
    while (!s->dead && evbuffer_get_length(s->waiting)) {
        struct evbuffer_iovec v;
        ssize_t n;

        evbuffer_peek(s->waiting, -1, NULL, &v, 1);
        n = write_some(s, v.iov_base, v.iov_len);
        if (n >= 0)
            evbuffer_drain(s->waiting, (size_t)n);
        else if (errno == EAGAIN)
            return false;
        else if (errno != EINTR)
            give_up(s, errno);
    }
    return true;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_sink *s = arg;

    (void)fd;
    (void)what;
    if (!flush(s))
        event_add(s->writable, NULL);
    if (s->room)
        s->room(s->arg);
}

void ft_sink_add(struct ft_sink *s, const void *data, size_t len)
{
    const char *p = data;

    /* Straight through while nothing is waiting: no copy in the common case. */
    while (!s->dead && len && !evbuffer_get_length(s->waiting)) {
        ssize_t n = write_some(s, p, len);

        if (n >= 0) {
            p += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            give_up(s, errno);
        }
    }
    if (s->dead || !len)
        return;
    if (evbuffer_add(s->waiting, p, len) < 0)
        give_up(s, ENOMEM);
    else
        event_add(s->writable, NULL);
}

struct ft_sink *ft_sink_new(struct event_base *base, int fd, void (*room)(void *arg), void *arg)
{
    struct ft_sink *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    choose_way(s, fd);
    s->room = room;
    s->arg = arg;
    s->waiting = evbuffer_new();
    s->writable = event_new(base, s->fd, EV_WRITE, on_writable, s);
    if (!s->waiting || !s->writable) {
        ft_sink_free(s);
        return NULL;
    }
    return s;
}

bool ft_sink_same(int fd_a, int fd_b)
{
    struct stat a, b;

    return !fstat(fd_a, &a) && !fstat(fd_b, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool ft_sink_full(const struct ft_sink *s)
{
    return evbuffer_get_length(s->waiting) >= FULL;
}

size_t ft_sink_pending(const struct ft_sink *s)
{
    return evbuffer_get_length(s->waiting);
}

int ft_sink_error(const struct ft_sink *s)
{
    return s->error;
}

void ft_sink_free(struct ft_sink *s)
{
    if (!s)
        return;
    if (s->writable)
        event_free(s->writable);
    if (s->waiting)
        evbuffer_free(s->waiting);
    if (s->own >= 0)
        close(s->own);
    free(s);
}
