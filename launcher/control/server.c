/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/control/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/wait.h"
#include "launcher/base/shared.h"
#include "launcher/control/door.h"
#include "launcher/options/options.h"

enum {
    CLIENTS_MAX = 64,
    REQUEST_MAX = 4096,         /* bytes */
    REQUEST_SECONDS = 10,       /* for a request to come, and for an answer to be taken */
    KEPT_FOR_SLOW = 1 << 20,    /* bytes of output that a client may lag behind */
    END_TURNS = 20, END_MS = 10,/* turns without progress before the job ends without a client */
    RETURN_MS = 3000            /* for a dead agent's clients to come back */
};

struct client {
    LIST_ENTRY(client) link;
    struct ft_control *c;
    struct bufferevent *io;
    bool asked, waits, attached;
    bool expects;               /* its answer, a status, is being made */
    uint64_t dropped;           /* bytes of output since the last that it got */
};

struct ft_control {
    struct ft_control_job job;
    struct ft_door *door;
    _Atomic uint32_t *waiting;  /* clients that do, of this agent; in shared memory */

    /* of the agent */
    struct event_base *base, *serving; /* serving: the job's, as long as that lasts */
    uint64_t since_ns;
    uint32_t expected;          /* so many waited for its predecessor */
    LIST_HEAD(, client) clients;
    unsigned nclients, nattached;
};

static void drop(struct client *cl)
{
    LIST_REMOVE(cl, link);
    cl->c->nclients--;
    cl->c->nattached -= cl->attached;
    atomic_fetch_sub(cl->c->waiting, cl->waits);
    bufferevent_free(cl->io);
    free(cl);
}

static void send_json(struct client *cl, json_t *object)
{
    struct evbuffer *out = bufferevent_get_output(cl->io);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    if (text) {
        evbuffer_add(out, text, strlen(text));
        evbuffer_add(out, "\n", 1);
    }
    free(text);
    json_decref(object);
}

/* After its answer a client that waits for nothing more has time to take it; then it goes. */
static void on_written(struct bufferevent *io, void *arg)
{
    struct client *cl = arg;

    (void)io;
    if (cl->asked && !cl->waits && !cl->expects)
        drop(cl);
}

static void on_event(struct bufferevent *io, short what, void *arg)
{
    (void)io;
    (void)what; /* end of file, an error, too slow */
    drop(arg);
}

/* What the job says of itself, with what only we know. */
static json_t *with_clients(const struct ft_control *c, json_t *info)
{
    if (info)
        json_object_set_new(info, "waiting", json_integer(atomic_load(c->waiting)));
    return info;
}

static void let_wait(struct client *cl)
{
    cl->waits = true;
    atomic_fetch_add(cl->c->waiting, 1);
    bufferevent_set_timeouts(cl->io, NULL, NULL);
    send_json(cl, with_clients(cl->c, cl->c->job.info(cl->c->job.arg)));
}

static void answer(struct client *cl, const char *request)
{
    const struct ft_control_job *job = &cl->c->job;

    cl->asked = true;
    if (!strcmp(request, "info")) {
        send_json(cl, with_clients(cl->c, job->info(job->arg)));
    } else if (!strcmp(request, "status")) {
        cl->expects = job->ask && job->ask(job->arg);
        if (!cl->expects)
            send_json(cl, with_clients(cl->c, job->status(job->arg)));
    } else if (!strcmp(request, "wait")) {
        let_wait(cl);
    } else if (!strcmp(request, "attach")) {
        let_wait(cl);
        cl->attached = true;
        cl->c->nattached++;
    } else if (!strcmp(request, "stop")) {
        let_wait(cl);
        job->stop(job->arg); /* the last: the job may be over with it */
    } else {
        send_json(cl, json_pack("{ss}", "error", "unknown request: is this ftrun of the same version as the job's?"));
    }
}

static void on_request(struct bufferevent *io, void *arg)
{
    struct client *cl = arg;
    struct evbuffer *in = bufferevent_get_input(io);
    json_t *object = NULL;
    const char *request = NULL;
    size_t len;
    char *line;

    if (cl->asked) { /* nobody has more than one question */
        evbuffer_drain(in, evbuffer_get_length(in));
        return;
    }
    line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);
    if (!line && evbuffer_get_length(in) < REQUEST_MAX)
        return;
    if (line)
        object = json_loadb(line, len, 0, NULL);
    if (object)
        request = json_string_value(json_object_get(object, "request"));
    if (request)
        answer(cl, request);
    else
        drop(cl);
    json_decref(object);
    free(line);
}

static void serve(struct ft_control *c, int fd)
{
    struct timeval limit = {.tv_sec = REQUEST_SECONDS};
    struct client *cl = c->nclients < CLIENTS_MAX ? calloc(1, sizeof *cl) : NULL;

    if (!cl || !(cl->io = bufferevent_socket_new(c->base, fd, BEV_OPT_CLOSE_ON_FREE))) {
        free(cl);
        close(fd);
        return;
    }
    cl->c = c;
    LIST_INSERT_HEAD(&c->clients, cl, link);
    c->nclients++;
    bufferevent_setcb(cl->io, on_request, on_written, on_event, cl);
    bufferevent_setwatermark(cl->io, EV_READ, 0, REQUEST_MAX);
    bufferevent_set_timeouts(cl->io, &limit, &limit);
    /* Writing is enabled from the start. Enabled here, with nothing to write, it would keep the limit that let_wait takes back: libevent 2.1 does not
       forget the time limit of an event that is not pending. */
    bufferevent_enable(cl->io, EV_READ);
}

static void on_come(void *arg, int fd)
{
    serve(arg, fd);
}

void ft_control_take(struct ft_control *c, int fd)
{
    if (c && c->base)
        serve(c, fd);
    else
        close(fd);
}

struct ft_control *ft_control_new(const struct ft_control_job *job, struct ft_error *e)
{
    struct ft_control *c = calloc(1, sizeof *c);

    if (!c || !(c->waiting = ft_shared_new(sizeof *c->waiting))) {
        ft_control_free(c);
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    c->job = *job;
    LIST_INIT(&c->clients);
    c->door = ft_door_new(job->id, e);
    if (c->door)
        return c;
    ft_control_free(c);
    return NULL;
}

void ft_control_forget(struct ft_control *c)
{
    if (!c)
        return;
    LIST_INIT(&c->clients);
    c->nclients = c->nattached = 0;
    ft_door_forget(c->door);
}

static int listen_in(struct ft_control *c, struct event_base *base)
{
    c->base = base;
    return ft_door_open(c->door, base, on_come, c);
}

int ft_control_serve(struct ft_control *c, struct event_base *base)
{
    if (!c)
        return 0;
    c->expected = atomic_exchange(c->waiting, 0);
    c->since_ns = ft_clock_ns();
    c->serving = base;
    return listen_in(c, base);
}

void ft_control_answer(struct ft_control *c)
{
    struct client *cl;

    if (!c)
        return;
    LIST_FOREACH(cl, &c->clients, link) {
        if (cl->expects)
            send_json(cl, with_clients(c, c->job.status(c->job.arg)));
        cl->expects = false;
    }
}

/* Tells a client that has been too slow what it missed, once it has caught up. */
static void tell_dropped(struct client *cl)
{
    if (cl->dropped)
        send_json(cl, json_pack("{sI}", "dropped", (json_int_t)cl->dropped));
    cl->dropped = 0;
}

static void pass_on(struct client *cl, int stream, const char *data, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(cl->io);
    size_t waiting = evbuffer_get_length(out);

    /* Once it has missed something it misses more until half is taken: few gaps rather than many. */
    if (waiting + len > KEPT_FOR_SLOW || (cl->dropped && waiting > KEPT_FOR_SLOW / 2)) {
        cl->dropped += len;
        return;
    }
    tell_dropped(cl);
    evbuffer_add_printf(out, "{\"stream\":%d,\"bytes\":%zu}\n", stream, len);
    evbuffer_add(out, data, len);
}

void ft_control_tap(struct ft_control *c, int stream, const char *data, size_t len)
{
    struct client *cl;

    if (!c || !c->nattached || !len)
        return;
    LIST_FOREACH(cl, &c->clients, link)
        if (cl->attached)
            pass_on(cl, stream, data, len);
}

/* Writes what clients take without waiting for them. Returns bytes left. */
static size_t push(struct ft_control *c)
{
    struct client *cl;
    size_t left = 0;

    LIST_FOREACH(cl, &c->clients, link) {
        struct evbuffer *out = bufferevent_get_output(cl->io);

        evbuffer_unfreeze(out, 1); /* the loop, which keeps the front of the buffer to itself, is over */
        while (evbuffer_get_length(out) && evbuffer_write(out, bufferevent_getfd(cl->io)) > 0)
            ;
        left += evbuffer_get_length(out);
    }
    return left;
}

static bool is_expected(const struct ft_control *c)
{
    return atomic_load(c->waiting) < c->expected && ft_clock_ns() - c->since_ns < RETURN_MS * 1000000ull;
}

/* What is on its way on a connection that the job's loop has accepted. */
static void take_along(struct client *cl, struct event_base *base)
{
    bufferevent_disable(cl->io, EV_READ | EV_WRITE);
    bufferevent_base_set(base, cl->io);
    bufferevent_enable(cl->io, EV_READ | EV_WRITE);
}

/* Who has connected already, and who waited for our predecessor; in a loop of their own, since the job's is over. */
static void await_latecomers(struct ft_control *c)
{
    struct timespec pause = {.tv_nsec = END_MS * 1000000};
    struct event_base *base = event_base_new();
    struct client *cl;

    if (!base)
        return;
    LIST_FOREACH(cl, &c->clients, link)
        take_along(cl, base);
    ft_door_shut(c->door);
    if (listen_in(c, base) == 0) {
        event_base_loop(base, EVLOOP_NONBLOCK);
        while (is_expected(c)) {
            nanosleep(&pause, NULL);
            event_base_loop(base, EVLOOP_NONBLOCK);
        }
    }
}

void ft_control_end(struct ft_control *c, int code)
{
    struct timespec pause = {.tv_nsec = END_MS * 1000000};
    size_t left, before = SIZE_MAX;
    struct client *cl;

    if (!c)
        return;
    await_latecomers(c);
    ft_door_remove(c->door);
    LIST_FOREACH(cl, &c->clients, link)
        if (cl->waits) {
            tell_dropped(cl);
            send_json(cl, json_pack("{si}", "end", code));
        }
    for (int turns = 0; (left = push(c)) && turns < END_TURNS; turns++) {
        if (left < before)
            turns = 0;
        before = left;
        nanosleep(&pause, NULL);
    }
}

void ft_control_leave(struct ft_control *c)
{
    struct client *cl;

    if (!c)
        return;
    while ((cl = LIST_FIRST(&c->clients)))
        drop(cl);
    ft_door_shut(c->door);
    if (c->base && c->base != c->serving)
        event_base_free(c->base);
    c->base = NULL;
}

void ft_control_free(struct ft_control *c)
{
    if (!c)
        return;
    ft_door_free(c->door);
    ft_shared_free(c->waiting, sizeof *c->waiting);
    free(c);
}

json_t *ft_control_command(const struct ft_options *o)
{
    json_t *words = json_array();

    for (size_t i = 0; i < o->ncontexts; i++) {
        if (i)
            json_array_append_new(words, json_string(":"));
        for (char **arg = o->contexts[i].argv; *arg; arg++) {
            json_t *word = json_string(*arg);

            json_array_append_new(words, word ? word : json_string("?")); /* not UTF-8 */
        }
    }
    return words;
}
