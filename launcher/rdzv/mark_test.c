/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a store is the one that it was. Over the embedded store, which is begun anew with the same cluster's number, as an etcd without
   its data. */
#include "config.h"
#include "launcher/rdzv/mark.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/rdzv/server.h"
#include "launcher/rdzv/store.h"

static struct event_base *base;
static struct ft_rdzv_server *server;
static struct ft_rdzv_settings settings;
static struct ft_error e;
static unsigned news, ends, anews, answers;
static enum ft_rdzv_answer answer;
static bool held;
static uint64_t revision;

static void on_away(void *arg, const char *why)
{
    (void)arg;
    (void)why;
}

static void on_back(void *arg) { (void)arg; }

static void on_anew(void *arg)
{
    (void)arg;
    anews++;
}

static void on_done(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    (void)arg;
    (void)why;
    answers++;
    answer = a;
    held = reply && reply->held;
    revision = reply ? reply->revision : 0;
}

static void on_events(void *arg, const struct ft_gateway_reply *events, const char *why)
{
    (void)arg;
    (void)why;
    news += events ? events->n : 0;
    ends += !events;
}

static void serve(uint16_t port)
{
    struct ft_rdzv_server_config c = {.base = base, .connections = 64, .address = "127.0.0.1", .port = port, .token = "tok", .seed = 9};

    cr_assert_eq(ft_rdzv_server_new(&server, &c, &e), 0, "%s", e.text);
}

static struct ft_rdzv_store *store_with(const char *mark)
{
    const struct ft_rdzv_store_config c = {.base = base, .settings = &settings, .mark = mark, .password = "", .token = "tok",
                                           .patience_ms = 2000, .away = on_away, .back = on_back, .anew = on_anew};

    return ft_rdzv_store_new(&c);
}

static void setup(void)
{
    char url[64];

    base = event_base_new();
    serve(0);
    snprintf(url, sizeof url, "rdzv://127.0.0.1:%u/j", ft_rdzv_server_port(server));
    ft_rdzv_settings_init(&settings);
    ft_rdzv_settings_url(&settings, url, &e);
}

static void teardown(void)
{
    ft_rdzv_server_free(server);
    event_base_free(base);
}

TestSuite(mark, .init = setup, .fini = teardown, .timeout = 20);

static void turn(void)
{
    const struct timeval t = {0, 10000};

    event_base_loopexit(base, &t);
    event_base_dispatch(base);
}

static void do_txn(struct ft_rdzv_store *s, const struct ft_kvs_txn *txn)
{
    unsigned before = answers;

    cr_assert_eq(ft_rdzv_store_do(s, txn, false, on_done, NULL), 0);
    for (int i = 0; i < 500 && answers == before; i++)
        turn();
    cr_assert_eq(answers, before + 1);
}

static void put(struct ft_rdzv_store *s, uint64_t at)
{
    const struct ft_kvs_op op = {.kind = FT_KVS_PUT, .key = "/j/round/state", .value = (const unsigned char *)"x", .n = 1};
    const struct ft_kvs_compare compare = {.what = FT_KVS_MOD, .key = op.key, .is = at};

    do_txn(s, &(struct ft_kvs_txn){.compares = &compare, .ncompares = 1, .then = &op, .nthen = 1});
}

static void look(struct ft_rdzv_store *s)
{
    const struct ft_kvs_op op = {.kind = FT_KVS_RANGE, .key = "/j/round/state"};

    do_txn(s, &(struct ft_kvs_txn){.then = &op, .nthen = 1});
}

/* The store of others, who have their own mark. */
static uint64_t others_put(unsigned n)
{
    struct ft_rdzv_store *s = store_with("/others/store");
    uint64_t at = 0;

    look(s);
    for (unsigned i = 0; i < n; i++) {
        put(s, at);
        cr_assert(held);
        at = revision;
    }
    ft_rdzv_store_free(s);
    return at;
}

static void lose_memory(void)
{
    uint16_t port = ft_rdzv_server_port(server);

    ft_rdzv_server_free(server);
    serve(port);
}

/* Finding: the same cluster's number, and revisions beyond those of before: that was taken for the store that it was. */
Test(mark, a_store_without_its_memory_is_known_though_its_revisions_are_higher)
{
    struct ft_rdzv_store *s = store_with("/j/store");
    uint64_t at;

    look(s);
    put(s, 0);
    cr_assert(answer == FT_RA_DONE && held);
    cr_assert(ft_rdzv_store_watch(s, "/j/round/", revision + 1, on_events, NULL));
    put(s, revision);
    for (int i = 0; i < 500 && !news; i++)
        turn();
    cr_assert_eq(news, 1);
    lose_memory();
    at = others_put(20);
    put(s, at);
    cr_assert_eq(answer, FT_RA_ANEW);
    cr_assert_eq(anews, 1);
    for (int i = 0; i < 500 && !ends; i++)
        turn();
    cr_assert(news == 1 && ends == 1, "%u changes of another store were told", news - 1);
    look(s);
    cr_assert_eq(answer, FT_RA_DONE);
    put(s, at);
    cr_assert(answer == FT_RA_DONE && held && anews == 1);
    ft_rdzv_store_free(s);
}

/* The watch is the first one that gets there. */
Test(mark, a_watch_on_another_store_tells_nothing)
{
    struct ft_rdzv_store *s = store_with("/j/store");

    look(s);
    cr_assert(ft_rdzv_store_watch(s, "/j/round/", 2, on_events, NULL));
    for (int i = 0; i < 10; i++)
        turn();
    lose_memory();
    others_put(20);
    for (int i = 0; i < 500 && !ends; i++)
        turn();
    cr_assert(news == 0 && ends == 1 && anews == 1);
    ft_rdzv_store_free(s);
}

Test(mark, two_hosts_have_the_same)
{
    struct ft_rdzv_store *a = store_with("/j/store"), *b = store_with("/j/store");

    look(a);
    look(b);
    put(a, 0);
    put(b, revision);
    cr_assert(held && anews == 0);
    ft_rdzv_store_free(a);
    ft_rdzv_store_free(b);
}

/* Whoever can write there can change it: then all is read anew, and goes on. */
Test(mark, one_that_a_stranger_has_written)
{
    struct ft_rdzv_store *s = store_with("/j/store"), *stranger = store_with("/others/store");
    const struct ft_kvs_op op = {.kind = FT_KVS_PUT, .key = "/j/store", .value = (const unsigned char *)"\0\n", .n = 2};

    look(s);
    do_txn(stranger, &(struct ft_kvs_txn){.then = &op, .nthen = 1});
    look(s);
    cr_assert(answer == FT_RA_ANEW && anews == 1);
    look(s);
    put(s, 0);
    cr_assert(answer == FT_RA_DONE && held && anews == 1);
    ft_rdzv_store_free(s);
    ft_rdzv_store_free(stranger);
}

static bool has(const char *request, const char *drawn)
{
    char *text = ft_gateway_to64((const unsigned char *)drawn, FT_MARK_DRAWN - 1);
    bool is = strstr(request, text);

    free(text);
    return is;
}

/* A request whose answer was lost was done, and may be done again on another store: two stores never have one mark. */
Test(mark, another_one_for_each_try)
{
    char drawn[FT_MARK_DRAWN], first[FT_MARK_DRAWN], *request;
    struct ft_kvs_txn nothing = {0};
    size_t n;

    cr_assert_eq(ft_rdzv_mark_draw(drawn), 0);
    strcpy(first, drawn);
    request = ft_rdzv_mark_first("/j/store", drawn, &nothing);
    n = strlen(request);
    ft_rdzv_mark_again(request, drawn);
    cr_assert_str_neq(first, drawn);
    cr_assert_eq(strlen(request), n);
    cr_assert(has(request, drawn) && !has(request, first));
    free(request);
}
