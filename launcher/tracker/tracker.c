/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/tracker/tracker.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/base/shared.h"
#include "launcher/base/timer.h"
#include "launcher/tracker/link.h"
#include "launcher/tracker/listener.h"
#include "launcher/tracker/mailbox.h"
#include "launcher/tracker/protocol.h"
#include "launcher/tracker/round.h"

enum { MORE = 64 /* connections, beside two of each worker */, SPARE = 64 /* copies of closed ones */, PAUSE_MS = 100 };
enum { HELD_MS = 2000 /* what a worker has said before, on another connection, may come later */ };

struct ft_tracker {
    struct ft_tracker_config config;
    int listener;
    uint16_t port;
    struct ft_mailbox copies;       /* of the connections */
    struct ft_round *round;

    /* of the agent */
    struct ft_tracker_calls calls;
    struct event_base *base;
    struct event *readable, *pause;
    struct ft_tracker_links links;
    uint32_t nlinks, ncopies;
    uint64_t nmade;
};

/* ---- connections ---- */

static void drop(struct ft_tracker_link *l)
{
    struct ft_tracker *t = l->tracker;

    TAILQ_REMOVE(&t->links, l, link);
    t->nlinks--;
    ft_tracker_link_end(l);
}

/* Nothing is told twice of it. */
static void refuse(struct ft_tracker_link *l, const char *why)
{
    ft_say(l->tracker->calls.say, "--xgboost-tracker: %s is no worker of XGBoost's: %s; its connection is closed", l->from, why);
    drop(l);
}

/* Those of closed connections are thrown away. Killed in the middle, a successor finds some twice: the second says nothing. */
static void renew_copies(struct ft_tracker *t)
{
    uint32_t old = t->ncopies;
    struct ft_tracker_link *l;
    int fd;

    t->ncopies = 0;
    TAILQ_FOREACH(l, &t->links, link)
        t->ncopies += ft_mailbox_put(&t->copies, l->fd) == 0;
    for (; old && (fd = ft_mailbox_take(&t->copies)) >= 0; old--)
        close(fd);
}

/* ---- a round: from the start of all to the end of all ---- */

static uint32_t waiting(const struct ft_tracker *t)
{
    const struct ft_tracker_link *l;
    uint32_t n = 0;

    TAILQ_FOREACH(l, &t->links, link)
        n += l->waits;
    return n;
}

static int by_task(const void *a, const void *b)
{
    const struct ft_tracker_link *x = *(struct ft_tracker_link *const *)a, *y = *(struct ft_tracker_link *const *)b;
    int order = ft_worker_compare(x->worker.task, y->worker.task);

    return order ? order : x->number < y->number ? -1 : 1;
}

/* Where others find a worker. One that has come over loopback is on this host. */
static const char *host_of(const struct ft_tracker *t, const struct ft_tracker_link *l)
{
    return t->config.host && (!strncmp(l->ip, "127.", 4) || !strcmp(l->ip, "::1")) ? t->config.host : l->ip;
}

static void tell_without_task(const struct ft_tracker *t, struct ft_tracker_link *const *list)
{
    for (uint32_t r = 0; r + 1 < t->config.world; r++)
        if (!strcmp(list[r]->worker.task, list[r + 1]->worker.task)) {
            ft_say_notice(t->calls.say, "--xgboost-tracker: several workers have dmlc_task_id \"%.60s\": their ranks are in the order in which "
                          "they came (give each its DMLC_TASK_ID)", list[r]->worker.task);
            return;
        }
}

/* All have come: each is told who is next. They are at work before anything of what they have said is read away, so a successor makes the
   same of it. */
static void begin(struct ft_tracker *t)
{
    uint32_t n = 0, world = t->config.world;
    struct ft_tracker_link **list = calloc(world, sizeof *list), *l;

    TAILQ_FOREACH(l, &t->links, link)
        if (list && l->waits)
            list[n++] = l;
    if (!list) {
        ft_say(t->calls.say, "out of memory");
        t->calls.failed(t->calls.arg);
        return;
    }
    qsort(list, world, sizeof *list, by_task);
    tell_without_task(t, list);
    for (uint32_t r = 0; r < world; r++) {
        const struct ft_tracker_link *next = list[(r + 1) % world];
        size_t len;
        char *text = ft_worker_next(host_of(t, next), next->worker.port, (r + 1) % world, &len);

        if (text)
            ft_tracker_link_say(list[r], text, len);
        ft_round_enter(t->round, r, list[r]->worker.task);
        free(text);
    }
    ft_round_begin(t->round);
    ft_say_step(t->calls.say, "--xgboost-tracker: all %u workers have come", world);
    for (uint32_t r = 0; r < world; r++)
        drop(list[r]);
    free(list);
}

static bool has_ended(const struct ft_tracker_link *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0;
}

static void left_early(struct ft_tracker_link *l)
{
    ft_say_detail(l->tracker->calls.say, "--xgboost-tracker: %s has left before it had all", l->from);
    drop(l);
}

static void begin_if_all(struct ft_tracker *t)
{
    struct ft_tracker_link *l = TAILQ_FIRST(&t->links), *next;

    for (; l && !ft_round_runs(t->round) && waiting(t) == t->config.world; l = next) {
        next = TAILQ_NEXT(l, link);
        if (l->waits && has_ended(l))
            left_early(l);
    }
    if (!ft_round_runs(t->round) && waiting(t) == t->config.world)
        begin(t);
}

static uint32_t waiting_as(const struct ft_tracker *t, const char *task)
{
    const struct ft_tracker_link *l;
    uint32_t n = 0;

    TAILQ_FOREACH(l, &t->links, link)
        n += l->waits && !strcmp(l->worker.task, task);
    return n;
}

/* The rest of a start: it waits for the others. */
static void admit(struct ft_tracker_link *l)
{
    size_t len;
    char *welcome = ft_worker_welcome(l->tracker->config.world, &len);

    if (welcome)
        ft_tracker_link_say(l, welcome, len);
    free(welcome);
    ft_timer_free(l->silent);
    l->silent = NULL;
    l->held = false;
    l->waits = true;
    begin_if_all(l->tracker);
}

/* Who is at work can not start, unless it has left and waits for the others to. */
static bool may_start(const struct ft_tracker *t, const char *task)
{
    return waiting(t) < t->config.world && (!ft_round_runs(t->round) || waiting_as(t, task) < ft_round_left(t->round, task));
}

static void admit_held(struct ft_tracker *t)
{
    struct ft_tracker_link *l = TAILQ_FIRST(&t->links);

    while (l)
        if (l->held && may_start(t, l->worker.task)) {
            admit(l);
            l = TAILQ_FIRST(&t->links); /* that one, and others, may be gone */
        } else {
            l = TAILQ_NEXT(l, link);
        }
}

static void refuse_start(struct ft_tracker_link *l)
{
    ft_say(l->tracker->calls.say, "--xgboost-tracker: worker \"%.60s\" at %s starts, but the job's %u workers are at work, and only all together can "
           "start again; its connection is closed", l->worker.task, l->from, l->tracker->config.world);
    drop(l);
}

static void start(struct ft_tracker_link *l)
{
    struct ft_tracker *t = l->tracker;
    const struct ft_worker *w = &l->worker;

    if (w->world != -1 && w->world != t->config.world) {
        ft_say(t->calls.say, "--xgboost-tracker: worker \"%.60s\" at %s is one of %lld, and the job has %u rank%s; its connection is closed",
               w->task, l->from, (long long)w->world, t->config.world, ft_plural(t->config.world));
        drop(l);
    } else if (ft_round_runs(t->round) && l->said > FT_WORKER_MAGIC_BYTES + FT_WORKER_WELCOME_MOST) {
        drop(l); /* it has had its whole answer from a predecessor of this process */
    } else if (may_start(t, w->task)) {
        admit(l);
    } else if (!l->held) {
        l->held = true;
        ft_timer_set(l->silent, HELD_MS);
    }
}

/* ---- commands ---- */

static void print(const struct ft_tracker *t, struct ft_worker *w)
{
    size_t len = strlen(w->text);
    char *line = malloc(len + 1);

    if (line) {
        memcpy(line, w->text, len);
        line[len] = '\n';
        t->calls.print(t->calls.arg, line, len + 1);
    }
    free(line);
}

static void fail(struct ft_tracker *t, const struct ft_tracker_link *l)
{
    for (char *c = l->worker.text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    ft_say(t->calls.say, "worker %lld (\"%.60s\", %s) of XGBoost has reported an error: %.400s (code %lld); the job is ended",
           (long long)l->worker.rank, l->worker.task, l->ip, l->worker.text, (long long)l->worker.code);
    t->calls.failed(t->calls.arg);
}

static void obey(struct ft_tracker_link *l)
{
    struct ft_tracker *t = l->tracker;

    switch (l->worker.command) {
    case FT_WORKER_START:
        start(l);
        return;
    case FT_WORKER_SHUTDOWN:
        if (l->worker.rank >= 0 && l->worker.rank < t->config.world)
            ft_round_leave(t->round, (uint32_t)l->worker.rank);
        break;
    case FT_WORKER_ERROR:
        fail(t, l);
        break;
    case FT_WORKER_PRINT:
        print(t, &l->worker);
        break;
    }
    drop(l);
    begin_if_all(t);
    admit_held(t);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct ft_tracker_link *l = arg;
    const struct ft_tracker *t = l->tracker;
    const char *why = NULL;
    bool ended = has_ended(l); /* asked first: then all that it has said is there */
    int is_whole = 0;

    (void)fd;
    if (what & EV_TIMEOUT && l->held) {
        refuse_start(l);
        return;
    }
    if (what & EV_TIMEOUT) { /* a rank may have been killed here, and come back to it */
        ft_say_notice(t->calls.say, "--xgboost-tracker: %s is connected, and says nothing", l->from);
        return;
    }
    if (!l->waits) { /* else nothing but its end */
        is_whole = ft_tracker_link_fill(l) < 0 ? -1 : ft_worker_read(&l->worker, l->data, l->len, &why);
        if (l->worker.greeted && is_whole >= 0)
            ft_tracker_link_greet(l);
    }
    if (is_whole < 0) {
        refuse(l, why ? why : "there is no memory for what it says");
    } else if (is_whole && !(l->held && ended)) {
        obey(l);
    } else if (ended) {
        left_early(l);
    }
}

/* The oldest that does not wait for others. */
static void make_room(struct ft_tracker *t)
{
    struct ft_tracker_link *l;

    TAILQ_FOREACH(l, &t->links, link)
        if (!l->waits)
            break;
    if (!l)
        return;
    ft_say(t->calls.say, "--xgboost-tracker: %u connections are open; %s, the oldest of which nothing has come, is closed", t->nlinks, l->from);
    drop(l);
}

/* Takes fd. */
static void take_up(struct ft_tracker *t, int fd)
{
    struct ft_tracker_link *l = ft_tracker_link_new(t->base, fd, on_readable);

    if (!l)
        return;
    l->tracker = t;
    l->number = t->nmade++;
    TAILQ_INSERT_TAIL(&t->links, l, link);
    t->nlinks++;
}

static void on_connection(evutil_socket_t listener, short what, void *arg)
{
    struct ft_tracker *t = arg;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)what;
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE) {
            event_del(t->readable);
            ft_timer_set(t->pause, PAUSE_MS);
        }
        return;
    }
    if (t->nlinks >= 2 * t->config.world + MORE)
        make_room(t);
    if (t->ncopies > 2 * t->nlinks + SPARE)
        renew_copies(t);
    t->ncopies += ft_mailbox_put(&t->copies, fd) == 0;
    take_up(t, fd);
}

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_tracker *t = arg;

    (void)fd;
    (void)what;
    event_add(t->readable, NULL);
}

/* ---- its life ---- */

int ft_tracker_new(struct ft_tracker **out, const struct ft_tracker_config *config, struct ft_error *e)
{
    struct ft_tracker *t = calloc(1, sizeof *t);
    int err;

    if (!t)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    t->config = *config;
    t->listener = -1;
    TAILQ_INIT(&t->links);
    t->round = ft_round_new(config->world);
    if (ft_mailbox_open(&t->copies) < 0)
        err = ft_err_set(e, FT_ESYS, "no socket for --xgboost-tracker: %s", strerror(errno));
    else if (!t->round)
        err = ft_err_set(e, FT_ENOMEM, "out of memory");
    else
        err = t->listener = ft_tracker_listen(config->host == NULL, config->port, &t->port, e);
    if (err < 0) {
        ft_tracker_free(t);
        return err;
    }
    *out = t;
    return 0;
}

uint16_t ft_tracker_port(const struct ft_tracker *t) { return t->port; }

void ft_tracker_forget(struct ft_tracker *t)
{
    if (!t)
        return;
    TAILQ_INIT(&t->links);
    t->nlinks = t->ncopies = 0;
    t->readable = t->pause = NULL;
    t->base = NULL;
}

/* What a dead agent has left, in the order in which it came. */
static void adopt(struct ft_tracker *t)
{
    struct ft_tracker_link *l;
    int fd;

    while ((fd = ft_mailbox_take(&t->copies)) >= 0)
        take_up(t, fd);
    TAILQ_FOREACH(l, &t->links, link)
        t->ncopies += ft_mailbox_put(&t->copies, l->fd) == 0;
}

int ft_tracker_serve(struct ft_tracker *t, struct event_base *base, const struct ft_tracker_calls *calls)
{
    if (!t)
        return 0;
    t->base = base;
    t->calls = *calls;
    adopt(t);
    t->pause = evtimer_new(base, on_pause, t);
    t->readable = event_new(base, t->listener, EV_READ | EV_PERSIST, on_connection, t);
    return t->pause && t->readable ? event_add(t->readable, NULL) : -1;
}

bool ft_tracker_was_used(const struct ft_tracker *t) { return ft_round_any(t->round); }

void ft_tracker_renew(struct ft_tracker *t)
{
    struct ft_tracker_link *l;

    if (!t)
        return;
    while ((l = TAILQ_FIRST(&t->links)))
        drop(l);
    renew_copies(t);
    ft_round_renew(t->round);
}

void ft_tracker_leave(struct ft_tracker *t)
{
    struct ft_tracker_link *l;

    if (!t)
        return;
    while ((l = TAILQ_FIRST(&t->links)))
        drop(l);
    ft_timer_free(t->readable);
    ft_timer_free(t->pause);
    t->readable = t->pause = NULL;
}

void ft_tracker_free(struct ft_tracker *t)
{
    if (!t)
        return;
    if (t->listener >= 0)
        close(t->listener);
    ft_mailbox_close(&t->copies);
    ft_round_free(t->round);
    free(t);
}
