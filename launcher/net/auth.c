/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/net/auth.h"

#include <errno.h>
#include <event2/event.h>
#include <openssl/crypto.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/base/timer.h"

enum { ACCEPTS = 32 /* a turn: others are waiting */, PAUSE_MS = 100, TELL_MS = 1000 };

/* Who has connected to us. */
struct stranger {
    TAILQ_ENTRY(stranger) link;
    struct listener *listener;
    struct ft_handshake *handshake;
};

struct listener {
    SLIST_ENTRY(listener) link;
    struct ft_auth *auth;
    int fd;
    unsigned kinds;
    ft_auth_done *done;
    void *arg;
    struct event *readable, *pause;
};

struct ft_dial {
    LIST_ENTRY(ft_dial) link;
    struct ft_auth *auth;
    enum ft_auth_kind kind;
    ft_auth_done *done;
    void *arg;
    size_t n, next;
    struct ft_handshake *handshake;  /* with the one it is talking to, or NULL */
    struct event *later;        /* done is not called by who has just called us */
    struct ft_error e;
    struct ft_address to[];
};

struct ft_auth {
    struct event_base *base;
    const struct ft_say *say;
    unsigned char secret[FT_SECRET_BYTES];
    TAILQ_HEAD(strangers, stranger) strangers;  /* that have connected to us, the oldest first */
    unsigned nstrangers, room;
    SLIST_HEAD(, listener) listeners;
    LIST_HEAD(, ft_dial) dials;
    uint64_t told_ms;           /* when the last line was said */
    unsigned long untold;       /* strangers since */
};

/* ---- calling ---- */

static void try_next(struct ft_dial *d);

static void free_dial(struct ft_dial *d)
{
    ft_handshake_free(d->handshake);
    LIST_REMOVE(d, link);
    ft_timer_free(d->later);
    free(d);
}

static void on_answered(void *arg, int fd, enum ft_auth_kind kind, const char *why)
{
    struct ft_dial *d = arg;
    char text[FT_ADDRESS_TEXT];
    ft_auth_done *done;

    d->handshake = NULL;
    if (why) {
        close(fd);
        ft_err_set(&d->e, FT_ESYS, "no connection with %s: %s", ft_address_print(&d->to[d->next - 1], text), why);
        try_next(d);
        return;
    }
    done = d->done;
    arg = d->arg;
    free_dial(d);
    done(arg, fd, kind, NULL);
}

static void on_failed(evutil_socket_t fd, short what, void *arg)
{
    struct ft_dial *d = arg;
    ft_auth_done *done = d->done;
    struct ft_error e = d->e;
    enum ft_auth_kind kind = d->kind;

    (void)fd;
    (void)what;
    arg = d->arg;
    free_dial(d);
    done(arg, -1, kind, &e);
}

static bool call(struct ft_dial *d, const struct ft_address *to)
{
    struct ft_handshake_config config = {.base = d->auth->base, .secret = d->auth->secret, .caller = true, .kinds = 1u << d->kind,
                                         .done = on_answered, .arg = d};
    char text[FT_ADDRESS_TEXT];
    int fd = ft_address_socket(to->s.ss_family);

    if (fd < 0 || (connect(fd, (const struct sockaddr *)&to->s, to->len) < 0 && errno != EINPROGRESS)) {
        ft_err_set(&d->e, FT_ESYS, "no connection with %s: %s", ft_address_print(to, text), strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    d->handshake = ft_handshake_new(fd, &config);
    if (!d->handshake)
        ft_err_set(&d->e, FT_ENOMEM, "out of memory");
    return d->handshake;
}

static void try_next(struct ft_dial *d)
{
    while (d->next < d->n)
        if (call(d, &d->to[d->next++]))
            return;
    ft_timer_set(d->later, 0);
}

struct ft_dial *ft_auth_dial(struct ft_auth *a, const struct ft_address *to, size_t n, enum ft_auth_kind kind, ft_auth_done *done,
                             void *arg)
{
    struct ft_dial *d = calloc(1, sizeof *d + n * sizeof *to);

    if (!d)
        return NULL;
    *d = (struct ft_dial){.auth = a, .kind = kind, .done = done, .arg = arg, .n = n};
    memcpy(d->to, to, n * sizeof *to);
    ft_err_set(&d->e, FT_EINVAL, "no address to connect to");
    d->later = evtimer_new(a->base, on_failed, d);
    if (!d->later) {
        free(d);
        return NULL;
    }
    LIST_INSERT_HEAD(&a->dials, d, link);
    try_next(d);
    return d;
}

void ft_auth_hang_up(struct ft_dial *d)
{
    free_dial(d);
}

/* ---- being called ---- */

static void tell(struct ft_auth *a, int fd, const char *what)
{
    struct ft_address who = {.len = sizeof who.s};
    char text[FT_ADDRESS_TEXT] = "?", more[64] = "";
    uint64_t now = ft_timer_boot_ns() / 1000000;

    if (a->told_ms && now - a->told_ms < TELL_MS) {
        a->untold++;
        return;
    }
    if (getpeername(fd, (struct sockaddr *)&who.s, &who.len) == 0)
        ft_address_print(&who, text);
    if (a->untold)
        snprintf(more, sizeof more, " (%lu more since the last such line)", a->untold);
    a->told_ms = now;
    a->untold = 0;
    ft_say_notice(a->say, "a stranger connected from %s: %s; it was turned away%s", text, what, more);
}

static void forget(struct stranger *s)
{
    struct ft_auth *a = s->listener->auth;

    TAILQ_REMOVE(&a->strangers, s, link);
    a->nstrangers--;
    free(s);
}

static void drop(struct stranger *s)
{
    ft_handshake_free(s->handshake);
    forget(s);
}

static void on_proved(void *arg, int fd, enum ft_auth_kind kind, const char *why)
{
    struct stranger *s = arg;
    const struct listener *l = s->listener;

    forget(s);
    if (why) {
        tell(l->auth, fd, why);
        close(fd);
        return;
    }
    l->done(l->arg, fd, kind, NULL);
}

static void meet(struct listener *l, int fd)
{
    struct ft_auth *a = l->auth;
    struct stranger *s = calloc(1, sizeof *s);
    struct ft_handshake_config config = {.base = a->base, .secret = a->secret, .kinds = l->kinds, .done = on_proved, .arg = s};

    if (!s) {
        close(fd);
        return;
    }
    s->listener = l;
    TAILQ_INSERT_TAIL(&a->strangers, s, link);
    a->nstrangers++;
    s->handshake = ft_handshake_new(fd, &config);
    if (!s->handshake)
        forget(s);
}

/* The oldest makes room. */
static void turn_away_one(struct ft_auth *a)
{
    struct stranger *s = TAILQ_FIRST(&a->strangers);

    tell(a, ft_handshake_fd(s->handshake), "it has not proved itself before too many others came");
    drop(s);
}

static void rest(struct listener *l)
{
    event_del(l->readable);
    ft_timer_set(l->pause, PAUSE_MS);
}

static void on_pause_over(evutil_socket_t fd, short what, void *arg)
{
    struct listener *l = arg;

    (void)fd;
    (void)what;
    event_add(l->readable, NULL);
}

static void on_connection(evutil_socket_t listener, short what, void *arg)
{
    struct listener *l = arg;
    struct ft_auth *a = l->auth;

    (void)what;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
            return;
        if (fd < 0 && TAILQ_EMPTY(&a->strangers)) { /* no descriptors, no memory: it stays readable */
            rest(l);
            return;
        }
        if (fd < 0 || a->nstrangers >= a->room)
            turn_away_one(a);
        if (fd >= 0)
            meet(l, fd);
    }
}

static void free_listener(struct listener *l)
{
    ft_timer_free(l->readable);
    ft_timer_free(l->pause);
    free(l);
}

int ft_auth_listen(struct ft_auth *a, int fd, unsigned kinds, ft_auth_done *done, void *arg)
{
    struct listener *l = calloc(1, sizeof *l);

    if (!l)
        return -1;
    *l = (struct listener){.auth = a, .fd = fd, .kinds = kinds, .done = done, .arg = arg};
    l->readable = event_new(a->base, fd, EV_READ | EV_PERSIST, on_connection, l);
    l->pause = evtimer_new(a->base, on_pause_over, l);
    if (!l->readable || !l->pause || event_add(l->readable, NULL) < 0) {
        free_listener(l);
        return -1;
    }
    SLIST_INSERT_HEAD(&a->listeners, l, link);
    return 0;
}

/* ---- all of it ---- */

struct ft_auth *ft_auth_new(struct event_base *base, const unsigned char secret[FT_SECRET_BYTES], const struct ft_say *say)
{
    struct ft_auth *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->base = base;
    a->say = say;
    a->room = FT_STRANGERS;
    memcpy(a->secret, secret, FT_SECRET_BYTES);
    TAILQ_INIT(&a->strangers);
    SLIST_INIT(&a->listeners);
    LIST_INIT(&a->dials);
    return a;
}

void ft_auth_expect(struct ft_auth *a, unsigned friends)
{
    a->room = FT_STRANGERS + friends;
}

void ft_auth_free(struct ft_auth *a)
{
    struct listener *l;

    if (!a)
        return;
    while (!LIST_EMPTY(&a->dials))
        free_dial(LIST_FIRST(&a->dials));
    while (!TAILQ_EMPTY(&a->strangers))
        drop(TAILQ_FIRST(&a->strangers));
    while ((l = SLIST_FIRST(&a->listeners))) {
        SLIST_REMOVE_HEAD(&a->listeners, link);
        free_listener(l);
    }
    OPENSSL_cleanse(a->secret, sizeof a->secret);
    free(a);
}
