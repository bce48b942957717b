/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/callers.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/agent/status.h"
#include "launcher/base/pass.h"
#include "launcher/base/say.h"
#include "launcher/base/timer.h"
#include "launcher/control/door.h"
#include "launcher/control/reach.h"
#include "launcher/net/auth.h"
#include "launcher/node/job.h"

enum {
    CALLERS_MAX = 64,
    CALL_MS = 3000,      /* for the ftrun to answer */
    TAKE_S = 10,         /* for a caller to take what it is told instead */
    IDLE_S = 2,          /* so long a caller may wait for something without the other host being asked whether it is there; ... */
    LOST_MS = 4000       /* ... without an answer the connection is none any more */
};

struct caller {
    LIST_ENTRY(caller) link;
    struct ft_callers *c;
    int fd;                     /* -1: io has it */
    struct ft_dial *dial;
    struct event *late;
    struct bufferevent *io;     /* with what it is told instead of a connection */
};

struct ft_callers {
    struct ft_node *node;
    struct ft_door *door;

    /* of the agent */
    LIST_HEAD(, caller) list;
    unsigned n;
};

static void drop(struct caller *caller)
{
    LIST_REMOVE(caller, link);
    caller->c->n--;
    if (caller->dial)
        ft_auth_hang_up(caller->dial);
    if (caller->io)
        bufferevent_free(caller->io);
    if (caller->fd >= 0)
        close(caller->fd);
    ft_timer_free(caller->late);
    free(caller);
}

/* ---- the job's ftrun cannot be reached ---- */

static char *what_is_known(const struct ft_node *n, const char *why)
{
    json_t *known = ft_status_info(n->agent), *ranks = ft_status_ranks(n->agent);
    char *line = NULL;

    if (!known) {
        json_decref(ranks);
        return NULL;
    }
    json_object_del(json_array_get(ranks, 0), "memory"); /* that is the node's */
    if (json_object_update_new(known, json_pack("{ss si si so}", "unreachable", why, "node", (int)n->d->node, "ranks",
                                                (int)n->d->world, "per_rank", ranks)) == 0)
        line = json_dumps(known, JSON_COMPACT);
    json_decref(known);
    return line;
}

static void on_taken(struct bufferevent *io, void *arg)
{
    (void)io;
    drop(arg);
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
    (void)io;
    (void)what; /* it is gone, or too slow */
    drop(arg);
}

static void refuse(struct caller *caller, const char *why)
{
    struct timeval limit = {.tv_sec = TAKE_S};
    char *line = what_is_known(caller->c->node, why);

    event_del(caller->late);
    if (line)
        caller->io = bufferevent_socket_new(caller->c->node->job->base, caller->fd, BEV_OPT_CLOSE_ON_FREE);
    if (!caller->io) {
        free(line);
        drop(caller);
        return;
    }
    caller->fd = -1;
    bufferevent_setcb(caller->io, NULL, on_taken, on_event, caller);
    bufferevent_set_timeouts(caller->io, NULL, &limit);
    evbuffer_add_printf(bufferevent_get_output(caller->io), "%c%s\n", FT_REACH_NOT, line);
    free(line);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct caller *caller = arg;
    char why[64];

    (void)fd;
    (void)what;
    if (caller->dial)
        ft_auth_hang_up(caller->dial);
    caller->dial = NULL;
    snprintf(why, sizeof why, "no answer within %g s", (double)CALL_MS / 1e3);
    refuse(caller, why);
}

/* ---- it can ---- */

static void give(const struct caller *caller, int fd)
{
    const char there = FT_REACH_THERE;
    int lost_ms = LOST_MS, idle = IDLE_S, every = 1;

    ft_address_tune(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_ms, sizeof lost_ms);
    fcntl(fd, F_SETFL, 0); /* a caller waits */
    ft_pass_descriptors(caller->fd, &there, 1, &fd, 1, MSG_DONTWAIT); /* if that fails it is gone, or asks again */
    close(fd);
}

static void on_dialled(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    struct caller *caller = arg;

    (void)kind;
    caller->dial = NULL;
    if (fd < 0) {
        refuse(caller, e->text);
        return;
    }
    give(caller, fd);
    drop(caller);
}

static void on_come(void *arg, int fd)
{
    struct ft_callers *c = arg;
    struct ft_node *n = c->node;
    struct caller *caller = c->n < CALLERS_MAX ? calloc(1, sizeof *caller) : NULL;

    if (!caller || !(caller->late = evtimer_new(n->job->base, on_late, caller))) {
        free(caller);
        close(fd);
        return;
    }
    caller->c = c;
    caller->fd = fd;
    LIST_INSERT_HEAD(&c->list, caller, link);
    c->n++;
    ft_timer_set(caller->late, CALL_MS);
    if (n->shared->fenced) {
        refuse(caller, "it has not been heard from, and the ranks here have been killed");
        return;
    }
    caller->dial = ft_auth_dial(n->auth, n->controllers, n->ncontrollers, FT_AUTH_ASK, on_dialled, caller);
    if (!caller->dial)
        refuse(caller, "out of memory");
}

/* ---- made and freed ---- */

struct ft_callers *ft_callers_new(struct ft_node *n, struct ft_error *e)
{
    struct ft_callers *c = calloc(1, sizeof *c);
    char id[64];

    if (!c) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    c->node = n;
    LIST_INIT(&c->list);
    snprintf(id, sizeof id, "%s.%u.%u", n->job->options->job_id, n->d->node, n->d->incarnation);
    c->door = ft_door_new(id, e);
    if (c->door)
        return c;
    free(c);
    return NULL;
}

void ft_callers_forget(struct ft_callers *c)
{
    if (!c)
        return;
    LIST_INIT(&c->list);
    c->n = 0;
    ft_door_forget(c->door);
}

int ft_callers_serve(struct ft_callers *c)
{
    return c ? ft_door_open(c->door, c->node->job->base, on_come, c) : 0;
}

void ft_callers_leave(struct ft_callers *c)
{
    struct caller *caller;

    if (!c)
        return;
    while ((caller = LIST_FIRST(&c->list)))
        drop(caller);
    ft_door_shut(c->door);
}

void ft_callers_free(struct ft_callers *c)
{
    if (c)
        ft_door_free(c->door);
    free(c);
}
