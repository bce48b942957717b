/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/auth.h"

#include <errno.h>
#include <event2/event.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/say.h"

enum { NONCE_BYTES = 32, ACCEPTS = 32 /* a turn: others are waiting */, PAUSE_MS = 100, TELL_MS = 1000 };

/* What each side sends first. Zeros must be zeros: a later version may say something there. */
struct hello {
    char magic[8];
    unsigned char kind, zero[23];
    unsigned char nonce[NONCE_BYTES];
};
_Static_assert(sizeof(struct hello) == FT_HELLO_BYTES, "a hello has no padding");

static const char magic[8] = "ftmpi1";

enum state {
    CONNECTING,      /* caller */
    HELLO,           /* the other's is awaited */
    PROOF,           /* the same */
    LAST_WORDS       /* answerer: all is proved, our proof is not sent yet */
};

struct stranger {
    TAILQ_ENTRY(stranger) link;
    struct ft_auth *auth;
    struct ft_dial *dial;       /* NULL: it has connected to us */
    struct listener *listener;
    int fd;
    enum state state;
    struct hello mine, theirs;
    unsigned char proof[FT_PROOF_BYTES];                 /* theirs */
    unsigned char out[FT_HELLO_BYTES + FT_PROOF_BYTES];  /* to be sent */
    size_t in_done, out_done, out_end;
    struct event *readable, *writable, *limit;
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
    struct stranger *stranger;  /* the one it is talking to, or NULL */
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

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct timeval milliseconds(unsigned ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
}

/* ---- what is sent ---- */

static void make_hello(struct hello *h, unsigned kind)
{
    *h = (struct hello){.kind = (unsigned char)kind};
    memcpy(h->magic, magic, sizeof magic);
    FT_INVARIANT(getrandom(h->nonce, sizeof h->nonce, 0) == sizeof h->nonce, "the kernel gives random bytes");
}

/* NULL, or what is wrong. */
static const char *check_hello(const struct hello *h, unsigned kinds)
{
    static const unsigned char zero[sizeof h->zero];

    if (memcmp(h->magic, magic, sizeof magic))
        return "it does not speak our language";
    if (memcmp(h->zero, zero, sizeof zero))
        return "it speaks another version of our language";
    if (h->kind == 0 || h->kind >= FT_AUTH_KINDS || !(kinds >> h->kind & 1))
        return "it wants something that is not to be had here";
    return NULL;
}

static void make_proof(const struct ft_auth *a, const char *role, const struct hello *caller, const struct hello *answerer,
                       unsigned char proof[FT_PROOF_BYTES])
{
    unsigned char text[16 + 1 + 2 * NONCE_BYTES] = {0};
    unsigned n = FT_PROOF_BYTES;

    strncpy((char *)text, role, 16);
    text[16] = caller->kind;
    memcpy(text + 17, caller->nonce, NONCE_BYTES);
    memcpy(text + 17 + NONCE_BYTES, answerer->nonce, NONCE_BYTES);
    FT_INVARIANT(HMAC(EVP_sha256(), a->secret, FT_SECRET_BYTES, text, sizeof text, proof, &n) && n == FT_PROOF_BYTES,
                 "libcrypto has HMAC-SHA256");
}

static void my_proof(const struct stranger *s, unsigned char proof[FT_PROOF_BYTES])
{
    if (s->dial)
        make_proof(s->auth, "caller", &s->mine, &s->theirs, proof);
    else
        make_proof(s->auth, "answerer", &s->theirs, &s->mine, proof);
}

static bool is_proved(const struct stranger *s)
{
    unsigned char proof[FT_PROOF_BYTES];

    if (s->dial)
        make_proof(s->auth, "answerer", &s->mine, &s->theirs, proof);
    else
        make_proof(s->auth, "caller", &s->theirs, &s->mine, proof);
    return CRYPTO_memcmp(proof, s->proof, sizeof proof) == 0;
}

/* ---- the end of a stranger ---- */

static void free_event(struct event *ev)
{
    if (ev)
        event_free(ev);
}

/* Returns its descriptor. */
static int forget(struct stranger *s)
{
    int fd = s->fd;

    if (s->dial) {
        s->dial->stranger = NULL;
    } else {
        TAILQ_REMOVE(&s->auth->strangers, s, link);
        s->auth->nstrangers--;
    }
    free_event(s->readable);
    free_event(s->writable);
    free_event(s->limit);
    free(s);
    return fd;
}

static void drop(struct stranger *s)
{
    int fd = forget(s);

    if (fd >= 0)
        close(fd);
}

static void tell(struct ft_auth *a, int fd, const char *what)
{
    struct ft_address who = {.len = sizeof who.s};
    char text[FT_ADDRESS_TEXT] = "?", more[64] = "";
    uint64_t now = now_ms();

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

static void try_next(struct ft_dial *d);

/* It did not prove itself. */
static void turn_away(struct stranger *s, const char *what)
{
    struct ft_dial *d = s->dial;
    char text[FT_ADDRESS_TEXT];

    if (!d) {
        tell(s->auth, s->fd, what);
        drop(s);
        return;
    }
    ft_err_set(&d->e, FT_ESYS, "no connection with %s: %s", ft_address_print(&d->to[d->next - 1], text), what);
    drop(s);
    try_next(d);
}

static void free_dial(struct ft_dial *d)
{
    if (d->stranger)
        drop(d->stranger);
    LIST_REMOVE(d, link);
    free_event(d->later);
    free(d);
}

static void welcome(struct stranger *s)
{
    struct ft_dial *d = s->dial;
    enum ft_auth_kind kind = (enum ft_auth_kind)(d ? s->mine.kind : s->theirs.kind);
    struct listener *l = s->listener;
    ft_auth_done *done = d ? d->done : l->done;
    void *arg = d ? d->arg : l->arg;
    int fd = forget(s);

    if (d)
        free_dial(d);
    done(arg, fd, kind, NULL);
}

/* ---- the handshake ---- */

static void say_more(struct stranger *s, const void *data, size_t n)
{
    memcpy(s->out + s->out_end, data, n);
    s->out_end += n;
}

static void say_proof(struct stranger *s)
{
    unsigned char proof[FT_PROOF_BYTES];

    my_proof(s, proof);
    say_more(s, proof, sizeof proof);
}

/* False: the stranger is gone. */
static bool send_out(struct stranger *s)
{
    while (s->out_done < s->out_end) {
        ssize_t n = send(s->fd, s->out + s->out_done, s->out_end - s->out_done, MSG_NOSIGNAL);

        if (n > 0) {
            s->out_done += (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            event_add(s->writable, NULL);
            return true;
        } else if (n == 0 || errno != EINTR) {
            turn_away(s, n < 0 ? strerror(errno) : "it does not listen");
            return false;
        }
    }
    if (s->state == LAST_WORDS) {
        welcome(s);
        return false;
    }
    return true;
}

/* Reads what is missing of n bytes and no more. False: not all is there yet, or the stranger is gone. */
static bool take_in(struct stranger *s, void *to, size_t n)
{
    while (s->in_done < n) {
        ssize_t got = recv(s->fd, (char *)to + s->in_done, n - s->in_done, 0);

        if (got > 0) {
            s->in_done += (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            return false;
        } else if (got == 0 || errno != EINTR) {
            turn_away(s, got < 0 ? strerror(errno) : s->state == PROOF && s->dial ? "it broke off; is it of another job?" : "it broke off");
            return false;
        }
    }
    s->in_done = 0;
    return true;
}

static bool take_hello(struct stranger *s)
{
    const char *wrong;

    if (!take_in(s, &s->theirs, sizeof s->theirs))
        return false;
    wrong = check_hello(&s->theirs, s->dial ? 1u << s->dial->kind : s->listener->kinds);
    if (wrong) {
        turn_away(s, wrong);
        return false;
    }
    s->state = PROOF;
    if (s->dial) {
        say_proof(s);
    } else {
        make_hello(&s->mine, s->theirs.kind);
        say_more(s, &s->mine, sizeof s->mine);
    }
    return send_out(s);
}

static void take_proof(struct stranger *s)
{
    if (!take_in(s, s->proof, sizeof s->proof))
        return;
    if (!is_proved(s)) {
        turn_away(s, "it does not know the job's secret");
    } else if (s->dial) {
        welcome(s);
    } else {
        s->state = LAST_WORDS;
        say_proof(s);
        send_out(s);
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct stranger *s = arg;

    (void)fd;
    (void)what;
    if (s->state == HELLO && !take_hello(s))
        return;
    if (s->state == PROOF)
        take_proof(s);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct stranger *s = arg;
    socklen_t size = sizeof(int);
    int error = 0;

    (void)what;
    if (s->state == CONNECTING) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) {
            turn_away(s, strerror(error));
            return;
        }
        s->state = HELLO;
        event_add(s->readable, NULL);
    }
    send_out(s);
}

/* One limit for all of it: a byte now and then does not prolong it. */
static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct stranger *s = arg;

    (void)fd;
    (void)what;
    turn_away(s, s->state == CONNECTING ? "no answer within 5 seconds" : "it has not proved itself within 5 seconds");
}

/* fd is its own from now on. NULL: no memory. */
static struct stranger *meet(struct ft_auth *a, int fd, struct ft_dial *d, struct listener *l)
{
    struct timeval limit = milliseconds(FT_AUTH_MS);
    struct stranger *s = calloc(1, sizeof *s);

    if (!s) {
        close(fd);
        return NULL;
    }
    *s = (struct stranger){.auth = a, .dial = d, .listener = l, .fd = fd, .state = d ? CONNECTING : HELLO};
    if (d) {
        d->stranger = s;
    } else {
        TAILQ_INSERT_TAIL(&a->strangers, s, link);
        a->nstrangers++;
    }
    s->readable = event_new(a->base, fd, EV_READ | EV_PERSIST, on_readable, s);
    s->writable = event_new(a->base, fd, EV_WRITE, on_writable, s);
    s->limit = evtimer_new(a->base, on_limit, s);
    if (s->readable && s->writable && s->limit && event_add(s->limit, &limit) == 0 && event_add(d ? s->writable : s->readable, NULL) == 0)
        return s;
    drop(s);
    return NULL;
}

/* ---- calling ---- */

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
    char text[FT_ADDRESS_TEXT];
    int fd = ft_address_socket(to->s.ss_family);
    struct stranger *s;

    if (fd < 0 || (connect(fd, (const struct sockaddr *)&to->s, to->len) < 0 && errno != EINPROGRESS)) {
        ft_err_set(&d->e, FT_ESYS, "no connection with %s: %s", ft_address_print(to, text), strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    s = meet(d->auth, fd, d, NULL);
    if (!s) {
        ft_err_set(&d->e, FT_ENOMEM, "out of memory");
        return false;
    }
    make_hello(&s->mine, d->kind);
    say_more(s, &s->mine, sizeof s->mine); /* goes out once it is connected */
    return true;
}

static void try_next(struct ft_dial *d)
{
    struct timeval now = {0};

    while (d->next < d->n)
        if (call(d, &d->to[d->next++]))
            return;
    event_add(d->later, &now);
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

static void rest(struct listener *l)
{
    struct timeval pause = milliseconds(PAUSE_MS);

    event_del(l->readable);
    event_add(l->pause, &pause);
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
            turn_away(TAILQ_FIRST(&a->strangers), "it has not proved itself before too many others came");
        if (fd >= 0)
            meet(a, fd, NULL, l);
    }
}

static void free_listener(struct listener *l)
{
    free_event(l->readable);
    free_event(l->pause);
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
