/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/timer.h"

enum { LOOK = 16 << 10 /* no start is as long */, SILENT_MS = 60000 };

/* Retransmissions change neither count (ft/outcome/tcp.c). */
static size_t sent(int fd)
{
    struct tcp_info info = {0};
    socklen_t bytes = sizeof info;
    int waits = 0;

    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes);
    ioctl(fd, SIOCOUTQ, &waits);
    return (size_t)info.tcpi_bytes_acked + (size_t)waits;
}

struct ft_tracker_link *ft_tracker_link_new(struct event_base *base, int fd, event_callback_fn call)
{
    struct ft_tracker_link *l = calloc(1, sizeof *l);
    struct ft_address peer = {.len = sizeof peer.s};

    if (!l) {
        close(fd);
        return NULL;
    }
    l->fd = fd;
    l->room = LOOK;
    l->data = malloc(l->room);
    l->readable = event_new(base, fd, EV_READ | EV_PERSIST | EV_ET, call, l); /* what has been looked at is still there */
    l->silent = event_new(base, -1, 0, call, l);
    getpeername(fd, (struct sockaddr *)&peer.s, &peer.len);
    ft_address_ip(&peer, l->ip);
    ft_address_print(&peer, l->from);
    l->said = sent(fd);
    if (!l->data || !l->silent || !l->readable || event_add(l->readable, NULL) < 0) {
        ft_tracker_link_end(l);
        return NULL;
    }
    ft_timer_set(l->silent, SILENT_MS);
    return l;
}

static int make_room(struct ft_tracker_link *l)
{
    char *more;

    if (l->room - l->len >= LOOK)
        return 0;
    more = realloc(l->data, 2 * l->room);
    if (!more)
        return -1;
    l->data = more;
    l->room *= 2;
    return 0;
}

int ft_tracker_link_fill(struct ft_tracker_link *l)
{
    ssize_t n;

    if (!l->taken) {
        n = recv(l->fd, l->data, LOOK, MSG_PEEK | MSG_DONTWAIT);
        l->len = n > 0 ? (size_t)n : 0;
        l->taken = l->len == LOOK;
        if (!l->taken)
            return 0;
        l->len = 0;
    }
    do {
        if (make_room(l) < 0)
            return -1;
        n = recv(l->fd, l->data + l->len, l->room - l->len, MSG_DONTWAIT);
        l->len += n > 0 ? (size_t)n : 0;
    } while (n > 0 && l->len <= 2 * FT_WORKER_TEXT_MOST + LOOK); /* more than two objects can be */
    return 0;
}

void ft_tracker_link_say(struct ft_tracker_link *l, const char *text, size_t len)
{
    size_t had = l->said > l->at ? l->said - l->at : 0;
    ssize_t n;

    if (had < len && (n = send(l->fd, text + had, len - had, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
        l->said += (size_t)n;
    l->at += len;
}

void ft_tracker_link_greet(struct ft_tracker_link *l)
{
    size_t len;
    char *magic = l->at ? NULL : ft_worker_magic(&len);

    if (magic)
        ft_tracker_link_say(l, magic, len);
    free(magic);
}

void ft_tracker_link_end(struct ft_tracker_link *l)
{
    char rest[1024];
    int most = 2 * FT_WORKER_TEXT_MOST / (int)sizeof rest;

    ft_timer_free(l->readable);
    ft_timer_free(l->silent);
    while (most-- > 0 && recv(l->fd, rest, sizeof rest, MSG_DONTWAIT) > 0)
        ; /* what is left unread would be answered by a reset, which may overtake the answer */
    shutdown(l->fd, SHUT_RDWR);
    close(l->fd);
    ft_worker_free(&l->worker);
    free(l->data);
    free(l);
}
