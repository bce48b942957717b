/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/door.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/control/rundir.h"

struct ft_door {
    int dir, fd;
    char name[FT_SOCKET_NAME];

    /* of the process that has opened it */
    struct event *readable;
    void (*come)(void *arg, int fd);
    void *arg;
};

static bool is_welcome(int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && (who.uid == geteuid() || who.uid == 0);
}

static void on_connection(evutil_socket_t listener, short what, void *arg)
{
    const struct ft_door *d = arg;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)what;
    if (fd < 0)
        return;
    if (is_welcome(fd))
        d->come(d->arg, fd);
    else
        close(fd);
}

struct ft_door *ft_door_new(const char *id, struct ft_error *e)
{
    struct ft_door *d = calloc(1, sizeof *d);
    char path[FT_RUNDIR_PATH];

    if (!d) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    d->fd = -1;
    snprintf(d->name, sizeof d->name, "%.*s.sock", FT_SOCKET_NAME - 6, id);
    d->dir = ft_rundir_make(path, e);
    if (d->dir >= 0) {
        d->fd = ft_rundir_listen(d->dir, d->name);
        if (d->fd >= 0)
            return d;
        ft_err_set(e, FT_ESYS, "no socket in %.300s: %s", path, strerror(errno));
    }
    ft_door_free(d);
    return NULL;
}

void ft_door_forget(struct ft_door *d)
{
    d->readable = NULL;
}

int ft_door_open(struct ft_door *d, struct event_base *base, void (*come)(void *arg, int fd), void *arg)
{
    d->come = come;
    d->arg = arg;
    d->readable = event_new(base, d->fd, EV_READ | EV_PERSIST, on_connection, d);
    return d->readable ? event_add(d->readable, NULL) : -1;
}

void ft_door_shut(struct ft_door *d)
{
    if (d->readable)
        event_free(d->readable);
    d->readable = NULL;
}

void ft_door_remove(struct ft_door *d)
{
    unlinkat(d->dir, d->name, 0);
}

void ft_door_free(struct ft_door *d)
{
    if (!d)
        return;
    if (d->fd >= 0) {
        ft_door_remove(d);
        close(d->fd);
    }
    if (d->dir >= 0)
        close(d->dir);
    free(d);
}
