/* SPDX-License-Identifier: BSD-3-Clause */
/* etcd's JSON gateway. What it does that surprises is in docs/rendezvous.md. */
#include "config.h"

#include <event2/event.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ft/base/util.h"
#include "launcher/base/timer.h"
#include "launcher/rdzv/etcd_state.h"

enum {
    PAUSE_MS = 50,                             /* before the same is asked again */
    LOGINS = 3,                                /* in a row without a request that was accepted */
    PATIENT = 10                               /* times the patience, with a large answer */
};

/* gRPC's codes. */
enum { INVALID = 3, NOT_FOUND = 5, DENIED = 7, PRECONDITION = 9, UNIMPLEMENTED = 12, UNAUTHENTICATED = 16 };

struct call {
    LIST_ENTRY(call) link;
    struct ft_rdzv_store *store;
    const char *path;
    char *body;
    uint64_t patience_ms;
    unsigned tries;
    uint32_t endpoint;
    struct ft_transfer *transfer;
    struct event *again;
    bool waits, login;         /* waits: for a token */
    bool marked, first;        /* it is for the store of that mark alone; or it looks which mark there is */
    uint64_t era;
    char drawn[FT_MARK_DRAWN]; /* first: written if there is none */
    ft_rdzv_done *done;
    void *arg;
};

static void start(struct call *c);

/* ---- endpoints ---- */

static const char *name(const struct ft_rdzv_store *s, uint32_t i, char *text, size_t size)
{
    const struct ft_rdzv_endpoint *p = &s->config.settings->endpoints[i];
    bool six = strchr(p->host, ':');

    snprintf(text, size, "%s%s%s:%u", six ? "[" : "", p->host, six ? "]" : "", p->port);
    return text;
}

void ft_etcd_print_url(const struct ft_rdzv_store *s, const char *path, char *url, size_t size)
{
    char host[FT_RDZV_TEXT + 16];

    snprintf(url, size, "%s://%s%s", s->config.settings->tls ? "https" : "http", name(s, s->endpoint, host, sizeof host), path);
}

uint64_t ft_etcd_pause_ms(unsigned tries)
{
    return tries > 6 ? FT_ETCD_LONGEST_PAUSE_MS : ft_min(FT_ETCD_LONGEST_PAUSE_MS, (uint64_t)PAUSE_MS << tries);
}

void ft_etcd_leave(struct ft_rdzv_store *s, uint32_t endpoint, const char *why)
{
    char text[1024], host[FT_RDZV_TEXT + 16];

    snprintf(text, sizeof text, "%s: %s", name(s, endpoint, host, sizeof host), why);
    s->is_away = true;
    if (s->endpoint == endpoint && s->config.settings->n > 1) {
        struct ft_rdzv_watch *w;

        s->endpoint = (endpoint + 1) % s->config.settings->n;
        LIST_FOREACH(w, &s->watches, link)
            if (w->endpoint != s->endpoint)
                ft_timer_set(w->again, 0);
    }
    s->config.away(s->config.arg, text);
}

static void answered(struct ft_rdzv_store *s)
{
    if (!s->is_away)
        return;
    s->is_away = false;
    s->config.back(s->config.arg);
}

/* Whether it is the store that it was. */
static bool is_the_store(const struct call *c, struct ft_gateway_reply *r)
{
    struct ft_rdzv_store *s = c->store;
    struct ft_rdzv_mark there = {0};
    bool same;

    if (!c->marked)
        return true;
    if (c->era != s->era || (r->held && !c->first))
        return c->era == s->era;
    if (r->held)
        there = (struct ft_rdzv_mark){(unsigned char *)strdup(c->drawn), strlen(c->drawn)};
    else
        there = ft_rdzv_mark_take(s->mark_key, r);
    if (c->first && !s->mark.value) {
        s->mark = there;
        return true;
    }
    same = ft_rdzv_mark_is(&there, &s->mark);
    ft_rdzv_mark_free(&there);
    if (same || !s->mark.value)
        return same;
    ft_rdzv_mark_free(&s->mark);
    s->era++;
    s->config.anew(s->config.arg);
    return false;
}

/* ---- calls ---- */

static void free_call(struct call *c)
{
    LIST_REMOVE(c, link);
    if (c->transfer)
        ft_transfer_cancel(c->transfer);
    ft_timer_free(c->again);
    if (c->body)
        OPENSSL_cleanse(c->body, strlen(c->body));
    free(c->body);
    free(c);
}

static void end(struct call *c, enum ft_rdzv_answer a, const struct ft_gateway_reply *r, const char *why)
{
    ft_rdzv_done *done = c->done;
    void *arg = c->arg;

    free_call(c);
    done(arg, a, r, why);
}

static void again_later(struct call *c, const char *why)
{
    ft_etcd_leave(c->store, c->endpoint, why);
    if (c->first)
        ft_rdzv_mark_again(c->body, c->drawn);
    ft_timer_set(c->again, ft_etcd_pause_ms(c->tries++));
}

/* The token does not do (any more). False: nor does another one. */
static bool log_in_again(struct call *c)
{
    struct ft_rdzv_store *s = c->store;

    if (!s->logs_in || s->logins >= LOGINS)
        return false;
    s->has_token = false;
    c->waits = true;
    return s->logging_in || ft_etcd_login(s) == 0;
}

bool ft_etcd_is_of_token(const struct ft_gateway_reply *r)
{
    return r->code == UNAUTHENTICATED || strstr(r->error, "auth token") || strstr(r->error, "auth store is old");
}

static void deny(struct call *c, const struct ft_gateway_reply *r)
{
    char why[1024], host[FT_RDZV_TEXT + 16];

    name(c->store, c->endpoint, host, sizeof host);
    if (c->store->config.settings->embedded && r->code == UNAUTHENTICATED)
        snprintf(why, sizeof why, "the store at %s turns this host away: the job's secret there is another one", host);
    else
        snprintf(why, sizeof why, "the store at %s says: %s", host, r->error);
    end(c, FT_RA_DENIED, NULL, why);
}

static void on_error(struct call *c, const struct ft_gateway_reply *r)
{
    if (!c->login && ft_etcd_is_of_token(r)) {
        if (!log_in_again(c))
            deny(c, r);
        return;
    }
    switch (r->code) {
    case NOT_FOUND:
        end(c, FT_RA_NO_LEASE, r, r->error);
        break;
    case INVALID:
    case DENIED:
    case PRECONDITION:
    case FT_ETCD_OUT_OF_RANGE:
    case UNIMPLEMENTED:
    case UNAUTHENTICATED:
        deny(c, r);
        break;
    default: /* it has no leader, it is too busy, it has no room: that passes */
        again_later(c, r->error);
        break;
    }
}

static void on_answer(void *arg, int status, const char *body, size_t n, const char *why)
{
    struct call *c = arg;
    struct ft_rdzv_store *s = c->store;
    struct ft_gateway_reply r = {0};
    bool read = status && ft_gateway_read(body, n, &r);

    c->transfer = NULL;
    if (!status) {
        again_later(c, why);
    } else if (!read && status == 404) {
        snprintf(r.error, sizeof r.error, "%d (it has no %s: etcd 3.4 or later is needed)", status, c->path);
        deny(c, &r);
    } else if (!read) {
        snprintf(r.error, sizeof r.error, "it answers %d, and nothing that is of a store", status);
        again_later(c, r.error);
    } else if (r.code) {
        on_error(c, &r);
    } else {
        answered(s);
        if (!c->login)
            s->logins = 0;
        if (is_the_store(c, &r))
            end(c, FT_RA_DONE, &r, "");
        else
            end(c, FT_RA_ANEW, NULL, "the store has lost its memory");
    }
    ft_gateway_free(&r);
}

static void start(struct call *c)
{
    struct ft_rdzv_store *s = c->store;
    char url[FT_RDZV_TEXT + 128];
    struct ft_transfer_request r = {.url = url, .token = c->login ? "" : s->token, .body = c->body,
                                    .patience_ms = c->patience_ms, .done = on_answer, .arg = c};

    if (c->transfer)
        return;
    if (!c->login && s->logs_in && !s->has_token) {
        c->waits = true;
        if (!s->logging_in && ft_etcd_login(s) < 0)
            ft_timer_set(c->again, FT_ETCD_LONGEST_PAUSE_MS);
        return;
    }
    c->waits = false;
    c->endpoint = s->endpoint;
    ft_etcd_print_url(s, c->path, url, sizeof url);
    c->transfer = ft_transfer_post(s->transfers, &r);
    if (!c->transfer)
        ft_timer_set(c->again, FT_ETCD_LONGEST_PAUSE_MS);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    start(arg);
}

/* Takes body. NULL: no memory. */
static struct call *ask(struct ft_rdzv_store *s, const char *path, char *body, uint64_t patience_ms, bool login, ft_rdzv_done *done,
                        void *arg)
{
    struct call *c = calloc(1, sizeof *c);

    if (c)
        c->again = evtimer_new(s->config.base, on_again, c);
    if (!body || !c || !c->again) {
        free(body);
        free(c);
        return NULL;
    }
    c->store = s;
    c->path = path;
    c->body = body;
    c->patience_ms = patience_ms;
    c->login = login;
    c->done = done;
    c->arg = arg;
    LIST_INSERT_HEAD(&s->calls, c, link);
    ft_timer_set(c->again, 0); /* not within whoever asks */
    return c;
}

/* ---- users ---- */

static void on_login(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *r, const char *why)
{
    struct ft_rdzv_store *s = arg;
    struct call *c, *next;

    s->logging_in = false;
    if (a == FT_RA_DONE) {
        snprintf(s->token, sizeof s->token, "%s", r->token);
        s->has_token = true;
    } else if (strstr(why, "authentication is not enabled")) {
        s->token[0] = 0;
        s->logs_in = false;
        a = FT_RA_DONE;
    }
    for (c = LIST_FIRST(&s->calls); c; c = next) {
        next = LIST_NEXT(c, link);
        if (!c->waits)
            continue;
        c->waits = false;
        if (a == FT_RA_DONE) {
            ft_timer_set(c->again, 0);
        } else {
            end(c, FT_RA_DENIED, NULL, why);
            return; /* whoever was told may have ended all */
        }
    }
}

int ft_etcd_login(struct ft_rdzv_store *s)
{
    if (!ask(s, "/v3/auth/authenticate", ft_gateway_login(s->config.settings->user, s->password), s->config.patience_ms, true, on_login, s))
        return -1;
    s->logging_in = true;
    s->logins++;
    return 0;
}

/* ---- what is asked ---- */

int ft_rdzv_store_do(struct ft_rdzv_store *s, const struct ft_kvs_txn *txn, bool patient, ft_rdzv_done *done, void *arg)
{
    uint64_t patience_ms = patient ? PATIENT * s->config.patience_ms : s->config.patience_ms;
    bool first = !s->mark.value && !txn->ncompares;
    char drawn[FT_MARK_DRAWN] = "";
    struct call *c;

    if (first && ft_rdzv_mark_draw(drawn) < 0)
        return -1;
    c = ask(s, "/v3/kv/txn", first ? ft_rdzv_mark_first(s->mark_key, drawn, txn) : ft_rdzv_mark_txn(s->mark_key, &s->mark, txn),
            patience_ms, false, done, arg);
    if (!c)
        return -1;
    c->marked = true;
    c->first = first;
    c->era = s->era;
    memcpy(c->drawn, drawn, sizeof drawn);
    return 0;
}

int ft_rdzv_store_grant(struct ft_rdzv_store *s, uint64_t ttl_s, ft_rdzv_done *done, void *arg)
{
    return ask(s, "/v3/lease/grant", ft_gateway_grant(ttl_s), s->config.patience_ms, false, done, arg) ? 0 : -1;
}

int ft_rdzv_store_keep(struct ft_rdzv_store *s, uint64_t lease, ft_rdzv_done *done, void *arg)
{
    return ask(s, "/v3/lease/keepalive", ft_gateway_lease(lease), s->config.patience_ms, false, done, arg) ? 0 : -1;
}

int ft_rdzv_store_revoke(struct ft_rdzv_store *s, uint64_t lease, ft_rdzv_done *done, void *arg)
{
    return ask(s, "/v3/lease/revoke", ft_gateway_lease(lease), s->config.patience_ms, false, done, arg) ? 0 : -1;
}

void ft_rdzv_store_forget(struct ft_rdzv_store *s, const void *arg)
{
    struct call *c, *next;

    for (c = LIST_FIRST(&s->calls); c; c = next) {
        next = LIST_NEXT(c, link);
        if (c->arg == arg && !c->login)
            free_call(c);
    }
}

/* ---- its life ---- */

struct ft_rdzv_store *ft_rdzv_store_new(const struct ft_rdzv_store_config *config)
{
    const struct ft_rdzv_settings *settings = config->settings;
    struct ft_transfers_config t = {.base = config->base, .cacert = settings->cacert, .cert = settings->cert, .key = settings->key};
    struct ft_rdzv_store *s = calloc(1, sizeof *s);

    if (s)
        s->transfers = ft_transfers_new(&t);
    if (!s || !s->transfers) {
        free(s);
        return NULL;
    }
    s->config = *config;
    snprintf(s->mark_key, sizeof s->mark_key, "%s", config->mark);
    s->logs_in = *settings->user;
    snprintf(s->password, sizeof s->password, "%s", config->password);
    snprintf(s->token, sizeof s->token, "%s", config->token);
    return s;
}

void ft_rdzv_store_free(struct ft_rdzv_store *s)
{
    if (!s)
        return;
    while (!LIST_EMPTY(&s->calls))
        free_call(LIST_FIRST(&s->calls));
    while (!LIST_EMPTY(&s->watches))
        ft_etcd_free_watch(LIST_FIRST(&s->watches));
    ft_transfers_free(s->transfers);
    ft_rdzv_mark_free(&s->mark);
    OPENSSL_cleanse(s->password, sizeof s->password);
    OPENSSL_cleanse(s->token, sizeof s->token);
    free(s);
}
