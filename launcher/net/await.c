/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/await.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/timer.h"

struct ft_await {
    int fd;
    uint8_t bytes[FT_AWAIT_MOST];
    size_t have, n;
    struct event *readable;
    ft_await_done *done;
    void *arg;
};

void ft_await_free(struct ft_await *a)
{
    if (!a)
        return;
    ft_timer_free(a->readable);
    if (a->fd >= 0)
        close(a->fd);
    free(a);
}

static void give_up(struct ft_await *a, const char *why)
{
    ft_await_done *done = a->done;
    void *arg = a->arg;

    ft_await_free(a);
    done(arg, -1, NULL, why);
}

static void finish(struct ft_await *a)
{
    int fd = a->fd;

    a->fd = -1;
    ft_timer_free(a->readable);
    a->readable = NULL;
    a->done(a->arg, fd, a->bytes, NULL);
    ft_await_free(a);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_await *a = arg;

    if (what & EV_TIMEOUT) {
        give_up(a, "it sends nothing");
        return;
    }
    while (a->have < a->n) {
        ssize_t n = recv(fd, a->bytes + a->have, a->n - a->have, 0);

        if (n > 0) {
            a->have += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            give_up(a, "it broke off");
            return;
        }
    }
    finish(a);
}

struct ft_await *ft_await_new(struct event_base *base, int fd, size_t n, unsigned ms, ft_await_done *done, void *arg)
{
    struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
    struct ft_await *a = calloc(1, sizeof *a);

    FT_INVARIANT(n <= FT_AWAIT_MOST, "few bytes are awaited");
    if (!a) {
        close(fd);
        return NULL;
    }
    *a = (struct ft_await){.fd = fd, .n = n, .done = done, .arg = arg};
    a->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, a);
    if (a->readable && event_add(a->readable, &limit) == 0)
        return a;
    ft_await_free(a);
    return NULL;
}
