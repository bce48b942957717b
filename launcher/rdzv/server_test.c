/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded store: it does what etcd does, as far as that is spoken; and no request, whatever it is, does harm. */
#include "config.h"
#include "launcher/rdzv/server.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/rdzv/gateway.h"
#include "launcher/rdzv/http.h"
#include "launcher/rdzv/service.h"

/* ---- base64 and requests ---- */

Test(gateway, base64)
{
    unsigned char bytes[300], *back;
    size_t n;

    srand(1);
    for (size_t len = 0; len < 300; len++) {
        char *text;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)rand();
        text = ft_gateway_to64(bytes, len);
        back = ft_gateway_from64(text, &n);
        cr_assert(back && n == len && memcmp(back, bytes, n) == 0);
        free(back);
        if (len % 3 == 0 && len)
            text[len / 2] = '!';
        back = len % 3 == 0 && len ? ft_gateway_from64(text, &n) : NULL;
        cr_assert_null(back);
        free(text);
    }
    cr_assert_null(ft_gateway_from64("a", &n));
    cr_assert_null(ft_gateway_from64("a=b=", &n));
}

Test(gateway, zero_fields_are_left_out_and_numbers_are_strings)
{
    static const char body[] = "{\"header\":{\"cluster_id\":\"5\",\"revision\":\"18446744073709551615\"},\"responses\":[{\"response_put\":{}},"
                               "{\"response_range\":{\"kvs\":[{\"key\":\"YQ==\",\"mod_revision\":7}],\"count\":\"1\"}}]}";
    struct ft_gateway_reply r;

    cr_assert(ft_gateway_read(body, strlen(body), &r));
    cr_assert_not(r.held);
    cr_assert_eq(r.revision, UINT64_MAX);
    cr_assert_eq(r.n, 1);
    cr_assert_str_eq(r.entries[0].key, "a");
    cr_assert(r.entries[0].at == 7 && r.entries[0].n == 0 && r.entries[0].value && r.entries[0].lease == 0);
    ft_gateway_free(&r);
}

Test(gateway, errors_of_both_kinds)
{
    static const char one[] = "{\"error\":\"etcdserver: no leader\",\"message\":\"etcdserver: no leader\",\"code\":14}",
                      two[] = "{\"error\":{\"grpc_code\":11,\"http_code\":400,\"message\":\"compacted\",\"http_status\":\"Bad Request\"}}";
    struct ft_gateway_reply r;

    cr_assert(ft_gateway_read(one, strlen(one), &r) && r.code == 14);
    cr_assert_str_eq(r.error, "etcdserver: no leader");
    cr_assert(ft_gateway_read(two, strlen(two), &r) && r.code == 11);
    cr_assert_not(ft_gateway_read("404 page not found\n", 19, &r));
    cr_assert_not(ft_gateway_read("[]", 2, &r));
}

static int head_of(const char *text, struct ft_http_request *r) { return ft_http_read(text, strlen(text), 1000, r); }

Test(http, heads)
{
    struct ft_http_request r;

    cr_assert_gt(head_of("POST /v3/kv/txn HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nAuthorization: abc\r\nExpect: 100-continue\r\n\r\n{}", &r), 0);
    cr_assert_str_eq(r.path, "/v3/kv/txn");
    cr_assert_str_eq(r.token, "abc");
    cr_assert(r.body == 12 && r.waits && !r.closes);
    cr_assert_eq(head_of("POST /v3/kv/txn HTTP/1.1\r\nHost: a\r\n", &r), 0);
    cr_assert_eq(head_of("GET / HTTP/1.1\r\n\r\n", &r), -405);
    cr_assert_eq(head_of("POST / HTTP/1.0\r\n\r\n", &r), -505);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\n\r\n", &r), -411);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", &r), -413);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", &r), -413);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", &r), -400);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", &r), -400);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", &r), -501);
    cr_assert_eq(head_of("POST / HTTP/1.1\r\nContent-Length : 1\r\n\r\n", &r), -400);
    cr_assert_eq(head_of("\r\n\r\n", &r), -400);
    cr_assert_eq(head_of("POST /0123456789012345678901234567890123456789012345678901234567890123456789 HTTP/1.1\r\n\r\n", &r), -414);
}

Test(http, a_head_without_an_end)
{
    static char text[FT_HTTP_HEAD + 100];
    struct ft_http_request r;

    memset(text, 'a', sizeof text - 1);
    cr_assert_eq(head_of(text, &r), -431);
}

/* ---- what is answered ---- */

static struct ft_service s;
static int status;
static char *said;

static void setup(void)
{
    s = (struct ft_service){ft_kvs_new(0), 5};
    said = NULL;
}

static const char *ask_at(uint64_t now, const char *path, const char *body)
{
    free(said);
    said = ft_service_answer(&s, now, path, body, strlen(body), &status);
    return said;
}

static const char *ask(const char *path, const char *body) { return ask_at(0, path, body); }

static void teardown(void)
{
    free(said);
    ft_kvs_free(s.kvs);
}

TestSuite(service, .init = setup, .fini = teardown);

#define PUT "{\"request_put\":{\"key\":\"L2E=\",\"value\":\"eA==\"}}"
#define RANGE "{\"request_range\":{\"key\":\"L2E=\"}}"

Test(service, compare_and_set)
{
    ask("/v3/kv/txn", "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"mod_revision\":\"0\"}],\"success\":[" PUT "],\"failure\":[" RANGE "]}");
    cr_assert(strstr(said, "\"succeeded\":true"), "%s", said);
    cr_assert_eq(ft_kvs_revision(s.kvs), 2);
    ask("/v3/kv/txn", "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"mod_revision\":\"0\"}],\"success\":[" PUT "],\"failure\":[" RANGE "]}");
    cr_assert_null(strstr(said, "succeeded"));
    cr_assert(strstr(said, "\"mod_revision\":\"2\"") && strstr(said, "\"value\":\"eA==\""), "%s", said);
    cr_assert_eq(ft_kvs_revision(s.kvs), 2);
    ask("/v3/kv/txn", "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"mod_revision\":\"2\"}],\"success\":[{\"request_delete_range\":{\"key\":\"L2E=\"}}]}");
    cr_assert(strstr(said, "\"deleted\":\"1\""), "%s", said);
    ask("/v3/kv/range", "{\"key\":\"L2E=\"}");
    cr_assert_null(strstr(said, "kvs"));
}

Test(service, put_and_range)
{
    ask("/v3/kv/put", "{\"key\":\"L2E=\",\"value\":\"eA==\"}");
    ask("/v3/kv/put", "{\"key\":\"L2I=\",\"value\":\"eQ==\"}");
    ask("/v3/kv/range", "{\"key\":\"Lw==\",\"range_end\":\"MA==\"}");
    cr_assert(strstr(said, "\"count\":\"2\"") && strstr(said, "eA==") && strstr(said, "eQ=="), "%s", said);
    ask("/v3/kv/range", "{\"key\":\"Lw==\",\"range_end\":\"MA==\",\"limit\":\"1\"}");
    cr_assert(strstr(said, "eA==") && !strstr(said, "eQ=="), "%s", said);
}

Test(service, keys_go_with_their_lease)
{
    struct ft_gateway_reply r;
    char body[200];

    ask("/v3/lease/grant", "{\"TTL\":\"2\"}");
    cr_assert(ft_gateway_read(said, strlen(said), &r) && r.lease && r.ttl == 2);
    snprintf(body, sizeof body, "{\"key\":\"L2E=\",\"value\":\"eA==\",\"lease\":\"%llu\"}", (unsigned long long)r.lease);
    ask("/v3/kv/put", body);
    cr_assert_eq(status, 200);
    snprintf(body, sizeof body, "{\"ID\":\"%llu\"}", (unsigned long long)r.lease);
    ask_at(1500, "/v3/lease/keepalive", body);
    ft_kvs_expire(s.kvs, 3000);
    cr_assert(strstr(ask("/v3/kv/range", "{\"key\":\"L2E=\"}"), "kvs"));
    ft_kvs_expire(s.kvs, 3500);
    cr_assert_null(strstr(ask("/v3/kv/range", "{\"key\":\"L2E=\"}"), "kvs"));
    ask_at(3600, "/v3/lease/keepalive", body);
    cr_assert_null(strstr(said, "TTL"));
    snprintf(body, sizeof body, "{\"key\":\"L2E=\",\"lease\":\"%llu\"}", (unsigned long long)r.lease);
    ask("/v3/kv/put", body);
    cr_assert_eq(status, 404);
    cr_assert(strstr(said, "requested lease not found"));
}

Test(service, a_watch_from_a_revision)
{
    static const char watch[] = "{\"create_request\":{\"key\":\"Lw==\",\"range_end\":\"MA==\",\"start_revision\":\"2\"}}";
    char *key, *end, *news;
    uint64_t from;

    ask("/v3/kv/put", "{\"key\":\"L2E=\",\"value\":\"eA==\"}");
    cr_assert(ft_service_watch(watch, strlen(watch), &key, &end, &from));
    news = ft_service_news(&s, key, end, &from);
    cr_assert(strstr(news, "eA==") && strchr(news, '\n')[1] == 0);
    free(news);
    cr_assert_null(ft_service_news(&s, key, end, &from));
    ask("/v3/kv/txn", "{\"success\":[{\"request_delete_range\":{\"key\":\"L2E=\"}}]}");
    news = ft_service_news(&s, key, end, &from);
    cr_assert(strstr(news, "DELETE") && strstr(news, "\"mod_revision\":\"3\""), "%s", news);
    free(news);
    for (int i = 0; i < FT_KVS_HISTORY + 10; i++)
        ask("/v3/kv/put", "{\"key\":\"L2E=\",\"value\":\"eA==\"}");
    news = ft_service_news(&s, key, end, &from);
    cr_assert(strstr(news, "canceled") && strstr(news, "compact_revision"), "%s", news);
    free(news);
    free(key);
    free(end);
}

Test(service, bounds)
{
    char body[200];
    int i;

    for (i = 0; status == 200 || i == 0; i++) {
        unsigned char key[16];
        char *text;

        snprintf((char *)key, sizeof key, "k%d", i);
        text = ft_gateway_to64(key, strlen((char *)key));
        snprintf(body, sizeof body, "{\"key\":\"%s\"}", text);
        free(text);
        ask("/v3/kv/put", body);
    }
    cr_assert_eq(i, FT_KVS_KEYS + 1);
    cr_assert_eq(status, 503);
    cr_assert(strstr(said, "space exceeded"));
}

Test(service, what_is_not_spoken)
{
    static const char *const bad[][2] = {
        {"/v3/kv/range", ""}, {"/v3/kv/range", "[]"}, {"/v3/kv/range", "{}"}, {"/v3/kv/range", "{\"key\":7}"}, {"/v3/kv/range", "{\"key\":\"AA==\"}"},
        {"/v3/kv/range", "{\"key\":\"L2E=\",\"revision\":\"1\"}"}, {"/v3/kv/put", "{\"value\":\"eA==\"}"}, {"/v3/kv/txn", "{\"success\":{}}"},
        {"/v3/kv/txn", "{\"success\":[{}]}"}, {"/v3/kv/txn", "{\"success\":[7]}"}, {"/v3/kv/txn", "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"LEASE\"}]}"},
        {"/v3/kv/txn", "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"result\":\"GREATER\"}]}"}, {"/v3/lease/grant", "{\"TTL\":\"x\"}"},
        {"/v3/lease/grant", "{\"TTL\":\"0\"}"}, {"/v3/lease/grant", "{\"TTL\":\"-5\"}"}, {"/v3/lease/grant", "{\"TTL\":\"99999999\"}"},
        {"/v3/lease/revoke", "{\"ID\":\"1\"}"}, {"/v3/nothing", "{}"}, {"/v2/keys/a", "{}"}, {"/v3alpha/kv/put", "{}"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ask(bad[i][0], bad[i][1]);
        cr_assert_neq(status, 200, "%s %s: %s", bad[i][0], bad[i][1], said);
        cr_assert(strstr(said, "\"error\":"), "%s", said);
    }
    cr_assert_eq(ft_kvs_revision(s.kvs), 1);
}

/* Requests with bytes changed, cut and put together at random: whatever comes, an answer is JSON, and memory is as it should be (with sanitizers). */
Test(service, any_bytes)
{
    static const char *const seeds[] = {
        "{\"compare\":[{\"key\":\"L2E=\",\"target\":\"MOD\",\"mod_revision\":\"0\"}],\"success\":[" PUT "," RANGE "],\"failure\":[" RANGE "]}",
        "{\"key\":\"L2E=\",\"value\":\"eA==\",\"lease\":\"1\"}", "{\"TTL\":\"2\",\"ID\":\"7\"}",
        "{\"create_request\":{\"key\":\"Lw==\",\"range_end\":\"MA==\",\"start_revision\":\"2\"}}",
        "{\"success\":[{\"request_delete_range\":{\"key\":\"Lw==\",\"range_end\":\"MA==\"}}]}"};
    static const char *const paths[] = {"/v3/kv/txn", "/v3/kv/put", "/v3/kv/range", "/v3/lease/grant", "/v3/lease/keepalive", "/v3/lease/revoke"};
    static const char marks[] = "{}[]\",:0123-eE=/ntf\\";

    srand(7);
    for (int i = 0; i < 30000; i++) {
        char body[512], *key = NULL, *end = NULL;
        struct ft_gateway_reply r;
        uint64_t from;
        size_t n = (size_t)snprintf(body, sizeof body, "%s", seeds[(size_t)rand() % 5]);

        for (int k = rand() % 6; k > 0; k--)
            body[(size_t)rand() % n] = rand() % 3 ? marks[(size_t)rand() % (sizeof marks - 1)] : (char)rand();
        n = rand() % 4 ? n : (size_t)rand() % n;
        free(said);
        said = ft_service_answer(&s, (uint64_t)i, paths[(size_t)rand() % 6], body, n, &status);
        cr_assert_not_null(said);
        cr_assert(ft_gateway_read(said, strlen(said), &r), "%s", said);
        ft_gateway_free(&r);
        ft_gateway_read(body, n, &r); /* a server may be anybody, too */
        ft_gateway_free(&r);
        if (ft_service_watch(body, n, &key, &end, &from))
            free(ft_service_news(&s, key, end, &from));
        free(key);
        free(end);
        ft_kvs_expire(s.kvs, (uint64_t)i);
    }
}

/* ---- connections ---- */

static unsigned turned_away;

static void on_stranger(void *arg, const char *from, const char *what)
{
    (void)arg;
    (void)from;
    (void)what;
    turned_away++;
}

static int call(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval second = {1, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    return fd;
}

static void turn(struct event_base *base, int ms)
{
    struct timeval t = {ms / 1000, ms % 1000 * 1000};

    event_base_loopexit(base, &t);
    event_base_dispatch(base);
}

static struct ft_rdzv_server *serve(struct event_base *base, uint32_t connections)
{
    struct ft_rdzv_server_config c = {.base = base, .address = "127.0.0.1", .token = "tok", .connections = connections, .seed = 3, .stranger = on_stranger};
    struct ft_rdzv_server *server;
    struct ft_error e;

    turned_away = 0;
    cr_assert_eq(ft_rdzv_server_new(&server, &c, &e), 0, "%s", e.text);
    return server;
}

static const char *talk(struct event_base *base, int fd, const char *text)
{
    static char got[65536];
    ssize_t n;

    cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    turn(base, 50);
    n = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);
    got[n > 0 ? n : 0] = 0;
    return got;
}

#define REQUEST(token, path, n, body) "POST " path " HTTP/1.1\r\nAuthorization: " token "\r\nContent-Length: " n "\r\n\r\n" body

Test(server, who_has_no_token_is_turned_away)
{
    struct event_base *base = event_base_new();
    struct ft_rdzv_server *server = serve(base, 8);
    int good = call(ft_rdzv_server_port(server)), bad = call(ft_rdzv_server_port(server)), none = call(ft_rdzv_server_port(server));

    cr_assert(strstr(talk(base, good, REQUEST("tok", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}")), "200 OK"));
    cr_assert(strstr(talk(base, good, REQUEST("tok", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}") REQUEST("tok", "/v3/kv/range", "2", "{}")), "400"));
    cr_assert(strstr(talk(base, bad, REQUEST("tik", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}")), "401"));
    cr_assert(strstr(talk(base, none, "POST /v3/kv/put HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"), "401"));
    cr_assert_eq(turned_away, 2);
    cr_assert_eq(ft_rdzv_server_clients(server), 1);
    close(good);
    close(bad);
    close(none);
    turn(base, 50);
    cr_assert_eq(ft_rdzv_server_clients(server), 0);
    ft_rdzv_server_free(server);
    event_base_free(base);
}

Test(server, strangers_are_bounded_and_the_job_goes_on)
{
    struct event_base *base = event_base_new();
    struct ft_rdzv_server *server = serve(base, 8);
    int good = call(ft_rdzv_server_port(server)), fds[200];

    cr_assert(strstr(talk(base, good, REQUEST("tok", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}")), "200 OK"));
    for (int i = 0; i < 200; i++) {
        fds[i] = call(ft_rdzv_server_port(server));
        turn(base, 1);
    }
    turn(base, 50);
    cr_assert_geq(turned_away, 200 - FT_SERVER_STRANGERS);
    cr_assert(strstr(talk(base, good, REQUEST("tok", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}")), "200 OK"));
    for (int i = 0; i < 200; i++)
        close(fds[i]);
    close(good);
    ft_rdzv_server_free(server);
    event_base_free(base);
}

Test(server, the_jobs_connections_are_bounded)
{
    struct event_base *base = event_base_new();
    struct ft_rdzv_server *server = serve(base, 2);
    int fds[3];

    for (int i = 0; i < 3; i++) {
        fds[i] = call(ft_rdzv_server_port(server));
        cr_assert(strstr(talk(base, fds[i], REQUEST("tok", "/v3/lease/grant", "11", "{\"TTL\":\"5\"}")), i < 2 ? "200 OK" : "503"), "%d", i);
    }
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    ft_rdzv_server_free(server);
    event_base_free(base);
}

Test(server, a_watch_is_a_stream)
{
    struct event_base *base = event_base_new();
    struct ft_rdzv_server *server = serve(base, 8);
    int watch = call(ft_rdzv_server_port(server)), other = call(ft_rdzv_server_port(server));

    cr_assert(strstr(talk(base, watch, REQUEST("tok", "/v3/watch", "37", "{\"create_request\":{\"key\":\"L2E=\"}}    ")), "\"created\":true"));
    cr_assert(strstr(talk(base, other, REQUEST("tok", "/v3/kv/put", "31", "{\"key\":\"L2E=\",\"value\":\"eA==\"}  ")), "200 OK"));
    cr_assert(strstr(talk(base, watch, " "), "\"events\""));
    close(watch);
    close(other);
    ft_rdzv_server_free(server);
    event_base_free(base);
}

Test(server, any_bytes)
{
    static const char seed[] = REQUEST("tok", "/v3/kv/put", "29", "{\"key\":\"L2E=\",\"value\":\"eA==\"}") REQUEST("tok", "/v3/watch", "9", "{\"a\":\"b\"}");
    struct event_base *base = event_base_new();
    struct ft_rdzv_server *server = serve(base, 64);

    srand(3);
    for (int i = 0; i < 500; i++) {
        int fd = call(ft_rdzv_server_port(server));
        char bytes[sizeof seed];

        memcpy(bytes, seed, sizeof seed);
        for (int k = rand() % 8; k > 0; k--)
            bytes[(size_t)rand() % (sizeof seed - 1)] = (char)rand();
        send(fd, bytes, rand() % 3 ? sizeof seed - 1 : (size_t)rand() % sizeof seed, MSG_NOSIGNAL);
        turn(base, 1);
        close(fd);
    }
    turn(base, 50);
    cr_assert_eq(ft_rdzv_server_clients(server), 0);
    ft_rdzv_server_free(server);
    event_base_free(base);
}
