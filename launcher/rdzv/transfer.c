/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/transfer.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "launcher/base/timer.h"
#include "launcher/rdzv/curl.h"

enum { CONNECT_MS = 3000, SILENT_MS = 15000 /* of a connection's other end, before it counts as dead */ };

struct ft_transfer {
    LIST_ENTRY(ft_transfer) link;
    struct ft_transfers *all;
    struct ft_transfer_request request;
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    char *got;
    size_t n, room;
    bool too_much;
};

/* A socket of curl's. */
struct socket_event {
    LIST_ENTRY(socket_event) link;
    struct event *event;
};

struct ft_transfers {
    struct ft_transfers_config config;
    CURLM *multi;
    struct event *timer;
    LIST_HEAD(, ft_transfer) list;
    LIST_HEAD(, socket_event) sockets;
};

/* ---- curl's events ---- */

static void free_transfer(struct ft_transfer *x)
{
    LIST_REMOVE(x, link);
    if (x->easy)
        ft_curl.multi_remove_handle(x->all->multi, x->easy);
    ft_curl.easy_cleanup(x->easy);
    ft_curl.slist_free_all(x->headers);
    free(x->got);
    free(x);
}

static void finish(struct ft_transfer *x, CURLcode code)
{
    struct ft_transfer_request r = x->request;
    long status = 0;
    char why[CURL_ERROR_SIZE], *body = x->got;
    size_t n = x->n;

    ft_curl.easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    snprintf(why, sizeof why, "%s", x->too_much ? "its answer is too long" : x->error[0] ? x->error : ft_curl.easy_strerror(code));
    x->got = NULL;
    free_transfer(x);
    r.done(r.arg, code == CURLE_OK ? (int)status : 0, body ? body : "", n, code == CURLE_OK ? "" : why);
    free(body);
}

/* One line of a stream; false: there is none. Not while curl calls us: whoever is told may begin transfers and cancel any. */
static bool give_line(struct ft_transfers *t)
{
    struct ft_transfer *x;

    LIST_FOREACH(x, &t->list, link) {
        char *newline = x->request.line && x->n ? memchr(x->got, '\n', x->n) : NULL, *line;
        size_t len = newline ? (size_t)(newline - x->got) : 0;

        if (!newline)
            continue;
        line = malloc(len + 1);
        if (!line)
            return false; /* it is tried again with what comes next */
        memcpy(line, x->got, len);
        x->n -= len + 1;
        memmove(x->got, newline + 1, x->n);
        x->request.line(x->request.arg, line, len);
        free(line);
        return true;
    }
    return false;
}

static void look(struct ft_transfers *t)
{
    CURLMsg *m;
    int left;

    while (give_line(t))
        ;
    while ((m = ft_curl.multi_info_read(t->multi, &left))) {
        struct ft_transfer *x;

        if (m->msg != CURLMSG_DONE)
            continue;
        ft_curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        finish(x, m->data.result);
    }
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct ft_transfers *t = arg;
    int running;

    ft_curl.multi_socket_action(t->multi, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0), &running);
    look(t);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct ft_transfers *t = arg;
    int running;

    (void)fd;
    (void)what;
    ft_curl.multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    look(t);
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
    const struct ft_transfers *t = arg;

    (void)multi;
    if (ms < 0)
        event_del(t->timer);
    else
        ft_timer_set(t->timer, (uint64_t)ms);
    return 0;
}

static void free_socket(struct socket_event *s)
{
    LIST_REMOVE(s, link);
    ft_timer_free(s->event);
    free(s);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct ft_transfers *t = arg;
    struct socket_event *s = known;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s)
            free_socket(s);
        return 0;
    }
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s)
            return -1;
        LIST_INSERT_HEAD(&t->sockets, s, link);
        ft_curl.multi_assign(t->multi, fd, s);
    }
    ft_timer_free(s->event);
    s->event = event_new(t->config.base, fd, EV_PERSIST | (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0), on_ready, t);
    return s->event ? event_add(s->event, NULL) : -1;
}

/* ---- one transfer ---- */

static bool keep(struct ft_transfer *x, const char *bytes, size_t n)
{
    if (x->n + n > FT_TRANSFER_BODY) {
        x->too_much = true;
        return false;
    }
    if (x->n + n + 1 > x->room) {
        size_t room = 2 * (x->n + n + 1);
        char *got = realloc(x->got, room);

        if (!got)
            return false;
        x->got = got;
        x->room = room;
    }
    memcpy(x->got + x->n, bytes, n);
    x->n += n;
    x->got[x->n] = 0;
    return true;
}

static size_t on_data(char *bytes, size_t one, size_t n, void *arg)
{
    struct ft_transfer *x = arg;

    (void)one;
    return keep(x, bytes, n) ? n : 0;
}

static int on_socket_made(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    int yes = 1, idle = 5, interval = 3, times = 3, silent = SILENT_MS;

    (void)arg;
    (void)purpose;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent, sizeof silent);
    return CURL_SOCKOPT_OK;
}

static bool add_header(struct ft_transfer *x, const char *text)
{
    struct curl_slist *more = ft_curl.slist_append(x->headers, text);

    if (more)
        x->headers = more;
    return more;
}

static bool headers(struct ft_transfer *x, const struct ft_transfer_request *r)
{
    char token[1200];

    snprintf(token, sizeof token, "Authorization: %s", r->token);
    return add_header(x, "Content-Type: application/json") && add_header(x, "Expect:") &&
           (!r->line || add_header(x, "Grpc-Metadata-hasleader: true")) && /* a watch ends when its etcd has lost the others */
           (!*r->token || add_header(x, token));
}

static void tls(CURL *easy, const struct ft_transfers_config *c)
{
    if (*c->cacert)
        ft_curl.easy_setopt(easy, CURLOPT_CAINFO, c->cacert);
    if (*c->cert) {
        ft_curl.easy_setopt(easy, CURLOPT_SSLCERT, c->cert);
        ft_curl.easy_setopt(easy, CURLOPT_SSLKEY, c->key);
    }
}

static bool set_up(struct ft_transfer *x, const struct ft_transfer_request *r)
{
    CURL *easy = x->easy = ft_curl.easy_init();

    if (!easy || !headers(x, r))
        return false;
    ft_curl.easy_setopt(easy, CURLOPT_PRIVATE, x);
    ft_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, x->error);
    ft_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    ft_curl.easy_setopt(easy, CURLOPT_PROXY, ""); /* hosts of a cluster are no business of a proxy's */
    ft_curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    ft_curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(r->patience_ms && r->patience_ms < CONNECT_MS ? r->patience_ms : CONNECT_MS));
    ft_curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)r->patience_ms);
    ft_curl.easy_setopt(easy, CURLOPT_HTTPHEADER, x->headers);
    ft_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    ft_curl.easy_setopt(easy, CURLOPT_WRITEDATA, x);
    ft_curl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket_made);
    tls(easy, &x->all->config);
    return ft_curl.easy_setopt(easy, CURLOPT_URL, r->url) == CURLE_OK &&
           ft_curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(r->body)) == CURLE_OK &&
           ft_curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, r->body) == CURLE_OK;
}

struct ft_transfer *ft_transfer_post(struct ft_transfers *t, const struct ft_transfer_request *request)
{
    struct ft_transfer *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->all = t;
    x->request = *request;
    LIST_INSERT_HEAD(&t->list, x, link);
    if (!set_up(x, request) || ft_curl.multi_add_handle(t->multi, x->easy) != CURLM_OK) {
        ft_curl.easy_cleanup(x->easy);
        x->easy = NULL;
        free_transfer(x);
        return NULL;
    }
    return x;
}

void ft_transfer_cancel(struct ft_transfer *x) { free_transfer(x); }

/* ---- all of them ---- */

struct ft_transfers *ft_transfers_new(const struct ft_transfers_config *config)
{
    struct ft_transfers *t = calloc(1, sizeof *t);
    struct ft_error e;

    if (!t || ft_curl_load(&e) < 0 || ft_curl.global_init(CURL_GLOBAL_DEFAULT) != 0) {
        free(t);
        return NULL;
    }
    t->config = *config;
    t->multi = ft_curl.multi_init();
    t->timer = evtimer_new(config->base, on_time, t);
    if (!t->multi || !t->timer) {
        ft_transfers_free(t);
        return NULL;
    }
    ft_curl.multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    ft_curl.multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
    ft_curl.multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    ft_curl.multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
    return t;
}

void ft_transfers_free(struct ft_transfers *t)
{
    if (!t)
        return;
    while (!LIST_EMPTY(&t->list))
        free_transfer(LIST_FIRST(&t->list));
    if (t->multi)
        ft_curl.multi_cleanup(t->multi);
    while (!LIST_EMPTY(&t->sockets))
        free_socket(LIST_FIRST(&t->sockets));
    ft_timer_free(t->timer);
    free(t);
}
