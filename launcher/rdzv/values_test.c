/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous as torchelastic states it, statement 8: a key-value store of a round. Over the embedded store, by HTTP. */
#include "config.h"
#include "launcher/rdzv/values.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "launcher/rdzv/server.h"

enum { SIDES = 3 };

static struct event_base *base;
static struct ft_rdzv_server *server;
static struct ft_rdzv_store *store[SIDES];
static struct ft_rdzv_values *values[SIDES];
static struct ft_rdzv_secret secret;
static struct ft_rdzv_settings settings;
static struct ft_error e;

static void on_away(void *arg, const char *why)
{
    (void)arg;
    (void)why;
}

static void nothing(void *arg) { (void)arg; }

static void on_put(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why)
{
    (void)arg;
    (void)reply;
    cr_assert_eq(a, FT_RA_DONE, "%s", why);
}

static void setup(void)
{
    struct ft_rdzv_server_config c = {.connections = 64, .address = "127.0.0.1", .token = "tok", .seed = 9};
    char url[64];

    base = c.base = event_base_new();
    cr_assert_eq(ft_rdzv_server_new(&server, &c, &e), 0);
    snprintf(url, sizeof url, "rdzv://127.0.0.1:%u/j", ft_rdzv_server_port(server));
    ft_rdzv_settings_init(&settings);
    ft_rdzv_settings_url(&settings, url, &e);
    ft_rdzv_secret_read(&secret, NULL, &e);
    for (int i = 0; i < SIDES; i++) {
        struct ft_rdzv_store_config s = {.base = base, .settings = &settings, .mark = "/j/store", .password = "", .token = "tok", .patience_ms = 2000, .away = on_away,
                                         .back = nothing, .anew = nothing};

        store[i] = ft_rdzv_store_new(&s);
        values[i] = ft_rdzv_values_new(base, store[i], &secret, i == 2 ? "/j/values/2/" : "/j/values/1/", (uint64_t)i * 1000);
    }
}

static void teardown(void)
{
    for (int i = 0; i < SIDES; i++) {
        ft_rdzv_values_free(values[i]);
        ft_rdzv_store_free(store[i]);
    }
    ft_rdzv_server_free(server);
    event_base_free(base);
}

TestSuite(statement_8, .init = setup, .fini = teardown, .timeout = 20);

struct result {
    unsigned n;
    char value[64], why[128];
    size_t len;
};

static void on_done(void *arg, const unsigned char *value, size_t n, const char *why)
{
    struct result *r = arg;

    r->n++;
    r->len = n;
    memcpy(r->value, value ? value : (const unsigned char *)"", value && n < sizeof r->value ? n : 0);
    snprintf(r->why, sizeof r->why, "%s", why ? why : "");
}

static void until(const struct result *r, unsigned n)
{
    for (int i = 0; i < 500 && r->n < n; i++) {
        struct timeval t = {0, 10000};

        event_base_loopexit(base, &t);
        event_base_dispatch(base);
    }
    cr_assert_eq(r->n, n, "%u of %u answers", r->n, n);
}

Test(statement_8, values_are_any_bytes)
{
    static const char bytes[] = {0, 1, '\n', '"', (char)0xff, 0};
    struct result set = {0}, got = {0};

    ft_rdzv_values_set(values[0], "k", bytes, sizeof bytes, on_done, &set, &e);
    until(&set, 1);
    ft_rdzv_values_get(values[1], "k", 1000, on_done, &got, &e);
    until(&got, 1);
    cr_assert(got.len == sizeof bytes && memcmp(got.value, bytes, sizeof bytes) == 0);
}

Test(statement_8, get_and_wait_block_until_it_is_set)
{
    const char *const keys[] = {"a", "b"};
    struct result got = {0}, waited = {0}, set = {0};

    ft_rdzv_values_get(values[0], "a", 5000, on_done, &got, &e);
    ft_rdzv_values_wait(values[0], keys, 2, 5000, on_done, &waited, &e);
    ft_rdzv_values_set(values[1], "a", "x", 1, on_done, &set, &e);
    until(&set, 1);
    until(&got, 1);
    cr_assert_eq(got.value[0], 'x');
    cr_assert_eq(waited.n, 0);
    ft_rdzv_values_set(values[1], "b", "", 0, on_done, &set, &e);
    until(&waited, 1);
    cr_assert_str_empty(waited.why);
}

Test(statement_8, they_do_not_block_for_ever)
{
    struct result got = {0};

    cr_assert_eq(FT_VALUES_WAIT_MS, 300000);
    ft_rdzv_values_get(values[0], "never", 200, on_done, &got, &e);
    until(&got, 1);
    cr_assert(strstr(got.why, "nobody has set \"never\""), "%s", got.why);
}

Test(statement_8, add_is_atomic)
{
    struct result r = {0}, got = {0};

    for (int i = 0; i < 20; i++) {
        ft_rdzv_values_add(values[0], "n", 1, on_done, &r, &e);
        ft_rdzv_values_add(values[1], "n", 2, on_done, &r, &e);
    }
    until(&r, 40);
    ft_rdzv_values_get(values[0], "n", 1000, on_done, &got, &e);
    until(&got, 1);
    cr_assert_str_eq(got.value, "60");
    ft_rdzv_values_set(values[0], "n", "x", 1, on_done, &r, &e);
    until(&r, 41);
    ft_rdzv_values_add(values[0], "n", 1, on_done, &r, &e);
    until(&r, 42);
    cr_assert(strstr(r.why, "no number"));
}

Test(statement_8, check_does_not_block)
{
    const char *const keys[] = {"a", "b"};
    struct result r = {0};

    ft_rdzv_values_check(values[0], keys, 1, on_done, &r, &e);
    until(&r, 1);
    cr_assert_eq(r.len, 0);
    ft_rdzv_values_set(values[0], "a", "x", 1, on_done, &r, &e);
    until(&r, 2);
    ft_rdzv_values_check(values[0], keys, 1, on_done, &r, &e);
    until(&r, 3);
    cr_assert_eq(r.len, 1);
    ft_rdzv_values_check(values[0], keys, 2, on_done, &r, &e);
    until(&r, 4);
    cr_assert_eq(r.len, 0);
}

Test(statement_8, each_round_has_its_own)
{
    const char *const keys[] = {"a"};
    struct result r = {0};

    ft_rdzv_values_set(values[0], "a", "x", 1, on_done, &r, &e);
    until(&r, 1);
    ft_rdzv_values_check(values[2], keys, 1, on_done, &r, &e);
    until(&r, 2);
    cr_assert_eq(r.len, 0);
}

Test(statement_8, what_strangers_write_is_not_there)
{
    struct ft_kvs_op op = {.kind = FT_KVS_PUT, .key = "/j/values/1/a", .value = (const unsigned char *)"evil", .n = 4};
    struct ft_kvs_txn txn = {.then = &op, .nthen = 1};
    struct result got = {0}, set = {0};

    ft_rdzv_store_do(store[2], &txn, false, on_put, NULL);
    ft_rdzv_values_get(values[0], "a", 300, on_done, &got, &e);
    until(&got, 1);
    cr_assert_neq(got.why[0], 0);
    ft_rdzv_values_set(values[0], "a", "good", 4, on_done, &set, &e);
    until(&set, 1);
    ft_rdzv_values_get(values[1], "a", 300, on_done, &got, &e);
    until(&got, 2);
    cr_assert_str_eq(got.value, "good");
}

Test(statement_8, bad_ones)
{
    const char *const none[] = {""};
    struct result r = {0};

    cr_assert_eq(ft_rdzv_values_get(values[0], "a/b", 1, on_done, &r, &e), FT_EINVAL);
    cr_assert_eq(ft_rdzv_values_wait(values[0], none, 0, 1, on_done, &r, &e), FT_EINVAL);
    cr_assert_eq(ft_rdzv_values_set(values[0], "a", "", FT_VALUES_BYTES + 1, on_done, &r, &e), FT_EINVAL);
    cr_assert_eq(r.n, 0);
}
