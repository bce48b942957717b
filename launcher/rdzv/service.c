/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/service.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/rdzv/gateway.h"

/* gRPC's codes, and what the gateway makes of them. */
enum { INVALID = 3, NOT_FOUND = 5, EXHAUSTED = 8, UNIMPLEMENTED = 12 };

static int status_of(int code) { return code == NOT_FOUND || code == UNIMPLEMENTED ? 404 : code == EXHAUSTED ? 503 : 400; }

char *ft_service_error(int code, const char *text)
{
    json_t *j = json_pack("{s:s, s:s, s:i}", "error", text, "message", text, "code", code);
    char *body = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return body;
}

static char *fail(int code, const char *text, int *status)
{
    *status = status_of(code);
    return ft_service_error(code, text);
}

static json_t *header(const struct ft_service *s)
{
    json_t *j = json_object();

    ft_gateway_set_number(j, "cluster_id", s->cluster);
    ft_gateway_set_number(j, "revision", ft_kvs_revision(s->kvs));
    return j;
}

static char *print(json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return text;
}

/* ---- keys ---- */

/* One response for each operation, in order. */
static json_t *response(json_t *responses, uint32_t op, const char *kind)
{
    json_t *outer, *inner;

    while (json_array_size(responses) <= op)
        if (json_array_append_new(responses, json_object()) < 0)
            return NULL;
    outer = json_array_get(responses, op);
    inner = json_object_get(outer, kind);
    if (!inner) {
        inner = json_object();
        json_object_set_new(outer, kind, inner);
    }
    return inner;
}

static void on_entry(void *responses, uint32_t op, const struct ft_kvs_entry *kv)
{
    json_t *r = response(responses, op, "response_range"), *list = json_object_get(r, "kvs");

    if (!list) {
        list = json_array();
        json_object_set_new(r, "kvs", list);
    }
    json_array_append_new(list, ft_gateway_entry(kv));
}

static void on_deleted(void *responses, uint32_t op, uint64_t n)
{
    ft_gateway_set_number(response(responses, op, "response_delete_range"), "deleted", n);
}

static char *run(const struct ft_service *s, const struct ft_kvs_txn *txn, json_t *answer, json_t *responses, bool *held, int *status)
{
    const struct ft_kvs_op *ops;
    uint32_t n;
    int err = ft_kvs_do(s->kvs, txn, held, on_entry, on_deleted, responses);

    if (err < 0) {
        json_decref(answer);
        return err == FT_KVS_NO_LEASE ? fail(NOT_FOUND, "etcdserver: requested lease not found", status)
               : err == FT_KVS_FULL   ? fail(EXHAUSTED, "etcdserver: mvcc: database space exceeded", status)
                                      : fail(INVALID, "etcdserver: key is not provided, or too long", status);
    }
    ops = *held ? txn->then : txn->otherwise;
    n = *held ? txn->nthen : txn->notherwise;
    for (uint32_t i = 0; i < n; i++) {
        static const char *const kinds[] = {"response_put", "response_range", "response_delete_range"};

        response(responses, i, kinds[ops[i].kind]);
    }
    json_object_set_new(answer, "header", header(s));
    return print(answer);
}

static char *txn(const struct ft_service *s, const struct ft_kvs_txn *t, int *status)
{
    json_t *answer = json_object(), *responses = json_array();
    bool held = false;
    char *text;

    json_object_set_new(answer, "responses", responses);
    json_incref(answer);
    text = run(s, t, answer, responses, &held, status);
    if (text && held && *status == 200) {
        free(text);
        json_object_set_new(answer, "succeeded", json_true());
        text = json_dumps(answer, JSON_COMPACT);
    }
    json_decref(answer);
    return text;
}

/* kv/range and kv/put: a transaction of one operation, whose response is the answer. */
static char *single(const struct ft_service *s, const struct ft_kvs_txn *t, const char *kind, int *status)
{
    json_t *answer = json_object(), *responses = json_array(), *inner;
    bool held;
    char *text = run(s, t, json_incref(answer), responses, &held, status);

    if (text && *status == 200) {
        free(text);
        inner = response(responses, 0, kind);
        ft_gateway_set_number(inner, "count", json_array_size(json_object_get(inner, "kvs")));
        json_object_update(answer, inner);
        text = json_dumps(answer, JSON_COMPACT);
    }
    json_decref(responses);
    json_decref(answer);
    return text;
}

static char *on_txn(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    struct ft_gateway_request r;
    char *text = ft_gateway_read_txn(j, &r) ? txn(s, &r.txn, status) : fail(INVALID, "no transaction that is spoken here", status);

    (void)now_ms;
    ft_gateway_free_request(&r);
    return text;
}

static char *on_range(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    struct ft_gateway_request r;
    char *text = ft_gateway_read_range(j, &r) ? single(s, &r.txn, "response_range", status) : fail(INVALID, "no range that is spoken here", status);

    (void)now_ms;
    ft_gateway_free_request(&r);
    return text;
}

static char *on_put(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    struct ft_gateway_request r;
    char *text = ft_gateway_read_put(j, &r) ? single(s, &r.txn, "response_put", status) : fail(INVALID, "no put that is spoken here", status);

    (void)now_ms;
    ft_gateway_free_request(&r);
    return text;
}

/* ---- leases ---- */

static char *lease_answer(const struct ft_service *s, uint64_t id, uint64_t ttl, bool stream)
{
    json_t *j = json_object(), *outer;

    json_object_set_new(j, "header", header(s));
    ft_gateway_set_number(j, "ID", id);
    ft_gateway_set_number(j, "TTL", ttl);
    if (!stream)
        return print(j);
    outer = json_object();
    json_object_set_new(outer, "result", j);
    return print(outer);
}

static char *on_grant(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    uint64_t ttl, id;
    int err;

    if (!ft_gateway_number(j, "TTL", &ttl) || !ft_gateway_number(j, "ID", &id))
        return fail(INVALID, "no lease that is spoken here", status);
    err = ft_kvs_grant(s->kvs, now_ms, ttl, &id);
    if (err < 0)
        return err == FT_KVS_FULL ? fail(EXHAUSTED, "etcdserver: too many leases", status) : fail(INVALID, "etcdserver: too large lease TTL", status);
    return lease_answer(s, id, ttl, false);
}

static char *on_keep(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    uint64_t id;

    if (!ft_gateway_number(j, "ID", &id))
        return fail(INVALID, "no lease that is spoken here", status);
    return lease_answer(s, id, ft_kvs_keep(s->kvs, now_ms, id), true);
}

static char *on_revoke(const struct ft_service *s, uint64_t now_ms, const json_t *j, int *status)
{
    uint64_t id;

    (void)now_ms;
    if (!ft_gateway_number(j, "ID", &id))
        return fail(INVALID, "no lease that is spoken here", status);
    if (ft_kvs_revoke(s->kvs, id) < 0)
        return fail(NOT_FOUND, "etcdserver: requested lease not found", status);
    return lease_answer(s, 0, 0, false);
}

char *ft_service_answer(const struct ft_service *s, uint64_t now_ms, const char *path, const char *body, size_t n, int *status)
{
    static const struct { const char *path; char *(*answer)(const struct ft_service *, uint64_t, const json_t *, int *); } calls[] = {
        {"/v3/kv/range", on_range}, {"/v3/kv/put", on_put}, {"/v3/kv/txn", on_txn}, {"/v3/lease/grant", on_grant},
        {"/v3/lease/keepalive", on_keep}, {"/v3/lease/revoke", on_revoke}, {"/v3/kv/lease/revoke", on_revoke}};
    char *text = NULL;
    json_t *j;

    *status = 200;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(path, calls[i].path) != 0)
            continue;
        j = json_loadb(body, n, 0, NULL);
        text = json_is_object(j) ? calls[i].answer(s, now_ms, j, status) : fail(INVALID, "no JSON object", status);
        json_decref(j);
        return text;
    }
    return fail(UNIMPLEMENTED, "Not Found", status);
}

/* ---- watches ---- */

bool ft_service_watch(const char *body, size_t n, char **key, char **end, uint64_t *from)
{
    json_t *j = json_loadb(body, n, 0, NULL);
    const json_t *create = json_object_get(j, "create_request");
    bool good;

    *key = *end = NULL;
    good = json_is_object(create) && ft_gateway_number(create, "start_revision", from) && (*key = ft_gateway_key(create, "key")) &&
           (!json_object_get(create, "range_end") || (*end = ft_gateway_key(create, "range_end")));
    json_decref(j);
    if (!good) {
        free(*key);
        free(*end);
        *key = *end = NULL;
    }
    return good;
}

static char *line(const struct ft_service *s, json_t *result)
{
    json_t *outer = json_object();
    char *text, *ended = NULL;

    json_object_set_new(result, "header", header(s));
    json_object_set_new(outer, "result", result);
    text = print(outer);
    if (text && (ended = realloc(text, strlen(text) + 2)))
        strcat(ended, "\n");
    else
        free(text);
    return ended;
}

char *ft_service_created(const struct ft_service *s)
{
    json_t *j = json_object();

    json_object_set_new(j, "created", json_true());
    return line(s, j);
}

static void on_change(void *events, const struct ft_kvs_entry *kv)
{
    json_t *event = json_object();

    if (!kv->value)
        json_object_set_new(event, "type", json_string("DELETE"));
    json_object_set_new(event, "kv", ft_gateway_entry(kv));
    json_array_append_new(events, event);
}

char *ft_service_news(const struct ft_service *s, const char *key, const char *end, uint64_t *from)
{
    json_t *j = json_object(), *events = json_array();
    uint64_t oldest;

    if (ft_kvs_changes(s->kvs, *from, key, end, on_change, events, &oldest) < 0) {
        json_decref(events);
        json_object_set_new(j, "canceled", json_true());
        ft_gateway_set_number(j, "compact_revision", oldest);
        return line(s, j);
    }
    *from = ft_kvs_revision(s->kvs) + 1;
    if (!json_array_size(events)) {
        json_decref(events);
        json_decref(j);
        return NULL;
    }
    json_object_set_new(j, "events", events);
    return line(s, j);
}
