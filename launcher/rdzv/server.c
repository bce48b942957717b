/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/address.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/http.h"
#include "launcher/rdzv/kvs.h"
#include "launcher/rdzv/service.h"

enum { BACKLOG = 1024, ACCEPTS = 32, PAUSE_MS = 100, IDLE_MS = 600000, DEAD_MS = 30000 };

struct link {
    TAILQ_ENTRY(link) link;
    struct ft_rdzv_server *server;
    struct bufferevent *b;
    struct event *expiry;          /* a stranger's; idle */
    char from[FT_ADDRESS_TEXT];
    bool proved, dying, held;
    struct ft_http_request request;
    size_t head;                   /* not 0: the request's head was read, and its body is awaited */
    char *key, *end;               /* a watch */
    uint64_t at;
};

TAILQ_HEAD(links, link);

struct ft_rdzv_server {
    struct ft_rdzv_server_config config;
    struct ft_service service;
    int listener;
    uint16_t port;
    char token[FT_HTTP_TOKEN];
    struct event *readable, *pause, *leases, *news;
    struct links strangers, clients;       /* the oldest first */
    uint32_t nstrangers, nclients, nheld;
    uint64_t revision;             /* that all watches have been told */
};

static uint64_t now_ms(void) { return ft_timer_boot_ns() / 1000000; }

/* ---- a connection's end ---- */

static size_t unsent(const struct link *l) { return evbuffer_get_length(bufferevent_get_output(l->b)); }

static void drop(struct link *l)
{
    struct ft_rdzv_server *s = l->server;

    TAILQ_REMOVE(l->proved ? &s->clients : &s->strangers, l, link);
    if (l->proved)
        s->nclients--;
    else
        s->nstrangers--;
    s->nheld -= l->held;
    bufferevent_free(l->b);
    ft_timer_free(l->expiry);
    free(l->key);
    free(l->end);
    free(l);
}

static void turn_away(struct link *l, const char *what)
{
    struct ft_rdzv_server *s = l->server;

    if (!l->proved && s->config.stranger)
        s->config.stranger(s->config.arg, l->from, what);
}

/* ---- answers ---- */

static const char *reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 503: return "Service Unavailable";
    default: return "Bad Request";
    }
}

static void answer(struct link *l, int status, char *body)
{
    struct evbuffer *out = bufferevent_get_output(l->b);

    l->dying |= !body || l->request.closes;
    if (body)
        evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n", status, reason(status), strlen(body),
                            l->dying ? "Connection: close\r\n" : "");
    if (body)
        evbuffer_add(out, body, strlen(body));
    free(body);
}

/* The last answer on this connection. */
static void refuse(struct link *l, int status, int code, const char *text)
{
    turn_away(l, text);
    l->dying = true;
    answer(l, status, ft_service_error(code, text));
    bufferevent_disable(l->b, EV_READ);
    ft_timer_set(l->expiry, FT_SERVER_STRANGER_MS);
}

static void chunk(struct link *l, char *text)
{
    struct evbuffer *out = bufferevent_get_output(l->b);

    if (text) {
        evbuffer_add_printf(out, "%zx\r\n", strlen(text));
        evbuffer_add(out, text, strlen(text));
        evbuffer_add(out, "\r\n", 2);
    }
    free(text);
}

/* ---- watches ---- */

static void on_news(evutil_socket_t fd, short what, void *arg)
{
    struct ft_rdzv_server *s = arg;
    struct link *l, *next;

    (void)fd;
    (void)what;
    s->revision = ft_kvs_revision(s->service.kvs);
    for (l = TAILQ_FIRST(&s->clients); l; l = next) {
        next = TAILQ_NEXT(l, link);
        if (!l->key)
            continue;
        chunk(l, ft_service_news(&s->service, l->key, l->end, &l->at));
        if (unsent(l) > FT_SERVER_UNSENT)
            drop(l);
    }
}

/* After whatever may have changed something. */
static void changed(struct ft_rdzv_server *s)
{
    uint64_t due = ft_kvs_due(s->service.kvs), now = now_ms();

    if (s->revision != ft_kvs_revision(s->service.kvs))
        event_active(s->news, EV_TIMEOUT, 0);
    if (due != UINT64_MAX)
        ft_timer_set(s->leases, due > now ? due - now + 1 : 1);
}

static void on_leases(evutil_socket_t fd, short what, void *arg)
{
    struct ft_rdzv_server *s = arg;

    (void)fd;
    (void)what;
    ft_kvs_expire(s->service.kvs, now_ms());
    changed(s);
}

static void begin_watch(struct link *l, const char *body)
{
    struct ft_rdzv_server *s = l->server;

    if (!ft_service_watch(body, l->request.body, &l->key, &l->end, &l->at)) {
        answer(l, 400, ft_service_error(3, "no watch that is spoken here"));
        return;
    }
    if (!l->at)
        l->at = ft_kvs_revision(s->service.kvs) + 1;
    evbuffer_add_printf(bufferevent_get_output(l->b), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    chunk(l, ft_service_created(&s->service));
    chunk(l, ft_service_news(&s->service, l->key, l->end, &l->at));
    event_del(l->expiry);
}

/* ---- requests ---- */

static bool knows_token(const struct link *l)
{
    const char *token = l->server->token;
    size_t n = strlen(token);

    return strlen(l->request.token) == n && CRYPTO_memcmp(l->request.token, token, n) == 0;
}

static void prove(struct link *l)
{
    struct ft_rdzv_server *s = l->server;

    if (l->proved)
        return;
    TAILQ_REMOVE(&s->strangers, l, link);
    TAILQ_INSERT_TAIL(&s->clients, l, link);
    s->nstrangers--;
    s->nclients++;
    l->proved = true;
}

/* The head has come. */
static bool accept_head(struct link *l)
{
    if (!knows_token(l)) {
        refuse(l, 401, 16, "no token of the job's secret");
        return false;
    }
    if (!l->proved && l->server->nclients >= l->server->config.connections) {
        refuse(l, 503, 14, "etcdserver: too many connections");
        return false;
    }
    prove(l);
    ft_timer_set(l->expiry, IDLE_MS);
    if (l->request.waits)
        evbuffer_add_printf(bufferevent_get_output(l->b), "HTTP/1.1 100 Continue\r\n\r\n");
    return true;
}

static void serve(struct link *l)
{
    struct ft_rdzv_server *s = l->server;
    struct evbuffer *in = bufferevent_get_input(l->b);
    const char *body = (const char *)evbuffer_pullup(in, (ev_ssize_t)l->request.body);
    int status = 200;
    char *text;

    if (strcmp(l->request.path, "/v3/watch") == 0) {
        begin_watch(l, body ? body : "");
    } else {
        ft_kvs_expire(s->service.kvs, now_ms());
        text = ft_service_answer(&s->service, now_ms(), l->request.path, body ? body : "", l->request.body, &status);
        answer(l, status, text);
    }
    evbuffer_drain(in, l->request.body);
    l->head = 0;
    changed(s);
}

/* So much waits to be sent that no more is made: what all ask for at once is large. */
static bool is_full(const struct ft_rdzv_server *s, const struct link *l)
{
    size_t all = 0;
    const struct link *other;

    if (unsent(l) > FT_SERVER_UNSENT)
        return true;
    TAILQ_FOREACH(other, &s->clients, link)
        if ((all += unsent(other)) > FT_SERVER_ALL_UNSENT)
            return true;
    return false;
}

/* False: nothing more can be done with it now; it may be gone. */
static bool read_one(struct link *l)
{
    struct evbuffer *in = bufferevent_get_input(l->b);
    size_t n = evbuffer_get_length(in), most = n < FT_HTTP_HEAD ? n : FT_HTTP_HEAD;
    int head = 0;

    if (l->dying)
        return false;
    if (l->key) { /* nothing is said while one watches */
        evbuffer_drain(in, n);
        return false;
    }
    if (!l->head) {
        head = n ? ft_http_read((const char *)evbuffer_pullup(in, (ev_ssize_t)most), n, FT_SERVER_BODY, &l->request) : 0;
        if (head < 0)
            refuse(l, -head, 3, "no request that is spoken here");
        if (head <= 0)
            return false;
        evbuffer_drain(in, (size_t)head);
        l->head = (size_t)head;
        if (!accept_head(l))
            return false;
        n -= (size_t)head;
    }
    if (n < l->request.body)
        return false;
    if (is_full(l->server, l)) {
        l->server->nheld += !l->held;
        l->held = true;
        return false;
    }
    l->server->nheld -= l->held;
    l->held = false;
    serve(l);
    return true;
}

static void on_read(struct bufferevent *b, void *arg)
{
    (void)b;
    while (read_one(arg)) {
    }
}

static void on_written(struct bufferevent *b, void *arg)
{
    struct link *l = arg, *next;
    struct ft_rdzv_server *s = l->server;

    (void)b;
    if (l->dying) {
        drop(l);
        return;
    }
    for (l = s->nheld ? TAILQ_FIRST(&s->clients) : NULL; l; l = next) {
        next = TAILQ_NEXT(l, link);
        if (l->held)
            on_read(l->b, l);
    }
}

static void on_end(struct bufferevent *b, short what, void *arg)
{
    (void)b;
    (void)what;
    drop(arg);
}

static void on_expired(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    if (!l->dying)
        turn_away(l, "it has not shown the job's token in time");
    drop(l);
}

/* ---- being called ---- */

static void tune(int fd)
{
    int yes = 1, idle = 10, interval = 5, times = 3, dead = DEAD_MS;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof dead);
}

static void meet(struct ft_rdzv_server *s, int fd, const struct ft_address *from)
{
    struct link *l = calloc(1, sizeof *l);

    if (l)
        l->b = bufferevent_socket_new(s->config.base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!l || !l->b) {
        close(fd);
        free(l);
        return;
    }
    l->server = s;
    ft_address_print(from, l->from);
    TAILQ_INSERT_TAIL(&s->strangers, l, link);
    s->nstrangers++;
    l->expiry = evtimer_new(s->config.base, on_expired, l);
    bufferevent_setcb(l->b, on_read, on_written, on_end, l);
    bufferevent_setwatermark(l->b, EV_READ, 0, FT_SERVER_BODY + FT_HTTP_HEAD);
    if (!l->expiry || bufferevent_enable(l->b, EV_READ | EV_WRITE) < 0) {
        drop(l);
        return;
    }
    ft_timer_set(l->expiry, FT_SERVER_STRANGER_MS);
    tune(fd);
}

static void on_connection(evutil_socket_t listener, short what, void *arg)
{
    struct ft_rdzv_server *s = arg;

    (void)what;
    for (int i = 0; i < ACCEPTS; i++) {
        struct ft_address from = {.len = sizeof from.s};
        int fd = accept4(listener, (struct sockaddr *)&from.s, &from.len, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
            return;
        if (fd < 0) { /* no descriptors, no memory: it stays readable */
            event_del(s->readable);
            ft_timer_set(s->pause, PAUSE_MS);
            return;
        }
        if (s->nstrangers >= FT_SERVER_STRANGERS) {
            turn_away(TAILQ_FIRST(&s->strangers), "it has not shown the job's token before too many others came");
            drop(TAILQ_FIRST(&s->strangers));
        }
        meet(s, fd, &from);
    }
}

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    const struct ft_rdzv_server *s = arg;

    (void)fd;
    (void)what;
    event_add(s->readable, NULL);
}

/* ---- its life ---- */

static int listen_at(const char *address, uint16_t port, uint16_t *got)
{
    struct ft_address at;
    int fd, yes = 1, no = 0, err;

    if (!ft_address_parse(&at, address, port)) {
        errno = EINVAL;
        return -1;
    }
    fd = ft_address_socket(at.s.ss_family);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at.s.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, (struct sockaddr *)&at.s, at.len) == 0 && listen(fd, BACKLOG) == 0 && getsockname(fd, (struct sockaddr *)&at.s, &at.len) == 0) {
        *got = ft_address_port(&at);
        return fd;
    }
    err = errno;
    close(fd);
    errno = err;
    return -1;
}

static int open_listener(struct ft_rdzv_server *s, struct ft_error *e)
{
    bool all = strcmp(s->config.address, "::") == 0;

    s->listener = listen_at(s->config.address, s->config.port, &s->port);
    if (s->listener < 0 && all && errno != EADDRINUSE)
        s->listener = listen_at("0.0.0.0", s->config.port, &s->port); /* a host without IPv6 */
    if (s->listener < 0)
        return ft_err_set(e, FT_ESYS, "--rdzv: cannot serve at port %u: %s", s->config.port, strerror(errno));
    return 0;
}

static int open_events(struct ft_rdzv_server *s, struct ft_error *e)
{
    struct event_base *base = s->config.base;

    s->service.kvs = ft_kvs_new(s->config.seed);
    s->service.cluster = s->config.seed | 1;
    s->readable = event_new(base, s->listener, EV_READ | EV_PERSIST, on_connection, s);
    s->pause = evtimer_new(base, on_pause, s);
    s->leases = evtimer_new(base, on_leases, s);
    s->news = evtimer_new(base, on_news, s);
    if (!s->service.kvs || !s->readable || !s->pause || !s->leases || !s->news || event_add(s->readable, NULL) < 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    s->revision = ft_kvs_revision(s->service.kvs);
    return 0;
}

int ft_rdzv_server_new(struct ft_rdzv_server **out, const struct ft_rdzv_server_config *config, struct ft_error *e)
{
    struct ft_rdzv_server *s = calloc(1, sizeof *s);
    int err, number = 0;

    if (!s)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    s->config = *config;
    s->listener = -1;
    TAILQ_INIT(&s->strangers);
    TAILQ_INIT(&s->clients);
    snprintf(s->token, sizeof s->token, "%s", config->token);
    err = open_listener(s, e);
    number = errno;
    if (err == 0)
        err = open_events(s, e);
    if (err < 0) {
        ft_rdzv_server_free(s);
        errno = number;
        return err;
    }
    *out = s;
    return 0;
}

void ft_rdzv_server_free(struct ft_rdzv_server *s)
{
    if (!s)
        return;
    while (!TAILQ_EMPTY(&s->strangers))
        drop(TAILQ_FIRST(&s->strangers));
    while (!TAILQ_EMPTY(&s->clients))
        drop(TAILQ_FIRST(&s->clients));
    ft_timer_free(s->readable);
    ft_timer_free(s->pause);
    ft_timer_free(s->leases);
    ft_timer_free(s->news);
    if (s->listener >= 0)
        close(s->listener);
    ft_kvs_free(s->service.kvs);
    OPENSSL_cleanse(s->token, sizeof s->token);
    free(s);
}

uint16_t ft_rdzv_server_port(const struct ft_rdzv_server *s) { return s->port; }
uint32_t ft_rdzv_server_clients(const struct ft_rdzv_server *s) { return s->nclients; }
