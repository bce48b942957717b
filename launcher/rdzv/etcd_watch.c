/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches of a store, each a stream that is asked for again when it ends. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base/timer.h"
#include "launcher/rdzv/etcd_state.h"

void ft_etcd_free_watch(struct ft_rdzv_watch *w)
{
    LIST_REMOVE(w, link);
    ft_rdzv_store_forget(w->store, w);
    ft_gateway_free(&w->held);
    if (w->transfer)
        ft_transfer_cancel(w->transfer);
    ft_timer_free(w->again);
    free(w->key);
    free(w->end);
    free(w);
}

static void break_off(struct ft_rdzv_watch *w, const char *why)
{
    ft_rdzv_events *events = w->events;
    void *arg = w->arg;

    ft_etcd_free_watch(w);
    events(arg, NULL, why);
}

/* Whoever is called may end the watch. */
static void give(struct ft_rdzv_watch *w, const struct ft_gateway_reply *r)
{
    if (!r->n)
        return;
    w->from = r->entries[r->n - 1].at + 1;
    w->events(w->arg, r, "");
}

/* False: no memory. */
static bool hold(struct ft_rdzv_watch *w, struct ft_gateway_reply *r)
{
    struct ft_gateway_reply *h = &w->held;
    struct ft_kvs_entry *all = r->n ? realloc(h->entries, (h->n + r->n) * sizeof *all) : NULL;

    if (!all)
        return !r->n;
    memcpy(all + h->n, r->entries, r->n * sizeof *all);
    h->entries = all;
    h->n += r->n;
    r->n = 0;
    return true;
}

static void on_known(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *r, const char *why)
{
    struct ft_rdzv_watch *w = arg;
    struct ft_gateway_reply held = w->held;

    (void)r;
    if (a != FT_RA_DONE || w->era != w->store->era) {
        char text[256];

        snprintf(text, sizeof text, "%s", a != FT_RA_DONE ? why : "the store has lost its memory");
        break_off(w, text);
        return;
    }
    w->known = true;
    w->held = (struct ft_gateway_reply){0};
    give(w, &held);
    ft_gateway_free(&held);
}

/* The stream is there, so whoever is asked now is that store, or a later one. Its own lines do not say which: with revisions of the old
   store it may have been begun on the new one. */
static bool is_known(struct ft_rdzv_watch *w)
{
    const struct ft_kvs_txn nothing = {0};

    if (!w->known && !w->asked)
        w->asked = ft_rdzv_store_do(w->store, &nothing, false, on_known, w) == 0; /* or the next line does it */
    return w->known;
}

/* A line of the stream. */
static void on_line(void *arg, const char *line, size_t n)
{
    struct ft_rdzv_watch *w = arg;
    struct ft_gateway_reply r;
    bool read = ft_gateway_read(line, n, &r);

    if (!read || r.code || r.canceled) {
        char why[sizeof r.error];

        snprintf(why, sizeof why, "%s", !read ? "its stream is damaged" : r.code ? r.error : "the changes asked for are compacted");
        ft_gateway_free(&r);
        break_off(w, why);
        return;
    }
    w->tries = 0;
    if (is_known(w))
        give(w, &r);
    else if (!hold(w, &r))
        break_off(w, "out of memory");
    ft_gateway_free(&r);
}

static void on_stream_end(void *arg, int status, const char *body, size_t n, const char *why)
{
    struct ft_rdzv_watch *w = arg;
    struct ft_rdzv_store *s = w->store;
    struct ft_gateway_reply r = {0};

    w->transfer = NULL;
    if (status && n && ft_gateway_read(body, n, &r) && r.code == FT_ETCD_OUT_OF_RANGE) {
        break_off(w, r.error);
        return;
    }
    ft_timer_set(w->again, ft_etcd_pause_ms(w->tries++));
    if (s->logs_in && ft_etcd_is_of_token(&r) && !s->logging_in) {
        s->has_token = false;
        ft_etcd_login(s);
    }
    if (!status)
        ft_etcd_leave(s, w->endpoint, why);
    ft_gateway_free(&r);
}

static void start_watch(struct ft_rdzv_watch *w)
{
    struct ft_rdzv_store *s = w->store;
    char url[FT_RDZV_TEXT + 128], *body;
    struct ft_transfer_request r = {.url = url, .token = s->token, .done = on_stream_end, .line = on_line, .arg = w};

    if (w->transfer)
        ft_transfer_cancel(w->transfer);
    w->transfer = NULL;
    w->known = w->asked = false;
    ft_gateway_free(&w->held);
    ft_rdzv_store_forget(s, w);
    w->endpoint = s->endpoint;
    r.body = body = ft_gateway_watch(w->key, w->end, w->from);
    ft_etcd_print_url(s, "/v3/watch", url, sizeof url);
    if (body)
        w->transfer = ft_transfer_post(s->transfers, &r);
    free(body);
    if (!w->transfer)
        ft_timer_set(w->again, FT_ETCD_LONGEST_PAUSE_MS);
}

static void on_watch_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    start_watch(arg);
}

struct ft_rdzv_watch *ft_rdzv_store_watch(struct ft_rdzv_store *s, const char *prefix, uint64_t from, ft_rdzv_events *events, void *arg)
{
    struct ft_rdzv_watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    *w = (struct ft_rdzv_watch){.store = s, .key = strdup(prefix), .end = ft_gateway_end(prefix), .from = from, .era = s->era,
                                .events = events, .arg = arg};
    w->again = evtimer_new(s->config.base, on_watch_again, w);
    LIST_INSERT_HEAD(&s->watches, w, link);
    if (!w->key || !w->end || !w->again) {
        ft_etcd_free_watch(w);
        return NULL;
    }
    ft_timer_set(w->again, 0);
    return w;
}

void ft_rdzv_store_unwatch(struct ft_rdzv_watch *w)
{
    if (w)
        ft_etcd_free_watch(w);
}
