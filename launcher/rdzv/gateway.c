/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/gateway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 128 /* of a transaction, as etcd has it */ };

/* ---- base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *ft_gateway_to64(const unsigned char *bytes, size_t n)
{
    char *text = malloc((n + 2) / 3 * 4 + 1), *to = text;

    for (size_t i = 0; text && i < n; i += 3) {
        unsigned long v = (unsigned long)bytes[i] << 16 | (i + 1 < n ? (unsigned long)bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);

        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[v & 63] : '=';
    }
    if (text)
        *to = 0;
    return text;
}

static const signed char *values(void)
{
    static signed char table[256];

    if (!table[0]) {
        memset(table, -1, sizeof table);
        for (int i = 0; i < 64; i++)
            table[(unsigned char)digits[i]] = (signed char)i;
    }
    return table;
}

unsigned char *ft_gateway_from64(const char *text, size_t *n)
{
    const signed char *value = values();
    size_t len = strlen(text), end = len;
    unsigned char *bytes, *to;

    while (end && len - end < 2 && text[end - 1] == '=')
        end--;
    if (len % 4 || !(bytes = malloc(len / 4 * 3 + 1)))
        return NULL;
    to = bytes;
    for (size_t i = 0; i < end; i += 4) {
        unsigned long v = 0;
        size_t k;

        for (k = 0; k < 4 && i + k < end; k++) {
            if (value[(unsigned char)text[i + k]] < 0) {
                free(bytes);
                return NULL;
            }
            v |= (unsigned long)value[(unsigned char)text[i + k]] << (18 - 6 * k);
        }
        for (size_t b = 0; b + 1 < k; b++)
            *to++ = (unsigned char)(v >> (16 - 8 * b));
    }
    *n = (size_t)(to - bytes);
    *to = 0;
    return bytes;
}

/* ---- members of an object ---- */

static unsigned char *bytes_of(const json_t *object, const char *name, size_t *n)
{
    const json_t *j = json_object_get(object, name);

    if (!j)
        return ft_gateway_from64("", n);
    return json_is_string(j) ? ft_gateway_from64(json_string_value(j), n) : NULL;
}

char *ft_gateway_key(const json_t *object, const char *name)
{
    size_t n;
    char *key = (char *)bytes_of(object, name, &n);

    if (key && (!n || strlen(key) != n)) {
        free(key);
        return NULL;
    }
    return key;
}

bool ft_gateway_number(const json_t *object, const char *name, uint64_t *value)
{
    const json_t *j = json_object_get(object, name);
    const char *text = json_string_value(j);

    *value = 0;
    if (json_is_integer(j)) {
        *value = (uint64_t)json_integer_value(j);
        return json_integer_value(j) >= 0;
    }
    if (!text)
        return !j || json_is_null(j);
    if (!*text || strlen(text) > 20 || strspn(text, "0123456789") != strlen(text))
        return false;
    *value = strtoull(text, NULL, 10);
    return true;
}

void ft_gateway_set_number(json_t *object, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (value)
        json_object_set_new(object, name, json_string(text));
}

void ft_gateway_set_bytes(json_t *object, const char *name, const void *bytes, size_t n)
{
    char *text = ft_gateway_to64(bytes, n);

    if (text && n)
        json_object_set_new(object, name, json_string(text));
    free(text);
}

static void set_text(json_t *object, const char *name, const char *text) { ft_gateway_set_bytes(object, name, text, strlen(text)); }

char *ft_gateway_end(const char *prefix)
{
    char *end = strdup(prefix);

    if (end)
        end[strlen(end) - 1]++;
    return end;
}

static char *print(json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return text;
}

/* ---- requests ---- */

static json_t *operation(const struct ft_kvs_op *op)
{
    static const char *const names[] = {"request_put", "request_range", "request_delete_range"};
    json_t *j = json_object(), *outer = json_object();

    set_text(j, "key", op->key);
    if (op->end)
        set_text(j, "range_end", op->end);
    if (op->kind == FT_KVS_PUT) {
        ft_gateway_set_bytes(j, "value", op->value, op->n);
        ft_gateway_set_number(j, "lease", op->lease);
    }
    if (op->limit)
        ft_gateway_set_number(j, "limit", op->limit);
    json_object_set_new(outer, names[op->kind], j);
    return outer;
}

static json_t *operations(const struct ft_kvs_op *ops, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, operation(&ops[i]));
    return j;
}

static const char *const targets[] = {"MOD", "CREATE", "VERSION", "VALUE"},
                  *const fields[] = {"mod_revision", "create_revision", "version", "value"};

static json_t *comparison(const struct ft_kvs_compare *c)
{
    json_t *j = json_object();

    set_text(j, "key", c->key);
    json_object_set_new(j, "result", json_string("EQUAL"));
    json_object_set_new(j, "target", json_string(targets[c->what]));
    if (c->what == FT_KVS_VALUE_IS) {
        ft_gateway_set_bytes(j, fields[c->what], c->value, c->n);
        return j;
    }
    ft_gateway_set_number(j, fields[c->what], c->is);
    if (!c->is)
        json_object_set_new(j, fields[c->what], json_string("0")); /* or the comparison has nothing to compare with */
    return j;
}

char *ft_gateway_txn(const struct ft_kvs_txn *txn)
{
    json_t *j = json_object(), *compares = json_array();

    for (uint32_t i = 0; i < txn->ncompares; i++)
        json_array_append_new(compares, comparison(&txn->compares[i]));
    json_object_set_new(j, "compare", compares);
    json_object_set_new(j, "success", operations(txn->then, txn->nthen));
    json_object_set_new(j, "failure", operations(txn->otherwise, txn->notherwise));
    return print(j);
}

char *ft_gateway_grant(uint64_t ttl_s)
{
    json_t *j = json_object();

    ft_gateway_set_number(j, "TTL", ttl_s);
    return print(j);
}

char *ft_gateway_lease(uint64_t lease)
{
    json_t *j = json_object();

    ft_gateway_set_number(j, "ID", lease);
    return print(j);
}

char *ft_gateway_watch(const char *key, const char *end, uint64_t from)
{
    json_t *j = json_object(), *outer = json_object();

    set_text(j, "key", key);
    if (end)
        set_text(j, "range_end", end);
    ft_gateway_set_number(j, "start_revision", from);
    json_object_set_new(outer, "create_request", j);
    return print(outer);
}

char *ft_gateway_login(const char *user, const char *password)
{
    return print(json_pack("{s:s, s:s}", "name", user, "password", password));
}

/* ---- answers ---- */

static bool add_entry(struct ft_gateway_reply *r, const json_t *kv, bool deleted)
{
    struct ft_kvs_entry *entries = realloc(r->entries, (r->n + 1) * sizeof *entries), *e;

    if (!entries)
        return false;
    r->entries = entries;
    e = &entries[r->n];
    *e = (struct ft_kvs_entry){.key = ft_gateway_key(kv, "key")};
    if (!e->key)
        return false;
    r->n++;
    if (!deleted)
        e->value = bytes_of(kv, "value", &e->n);
    return (deleted || e->value) && ft_gateway_number(kv, "create_revision", &e->made) && ft_gateway_number(kv, "mod_revision", &e->at) &&
           ft_gateway_number(kv, "version", &e->version) && ft_gateway_number(kv, "lease", &e->lease);
}

static bool read_responses(struct ft_gateway_reply *r, const json_t *responses)
{
    const json_t *response, *kv;
    size_t i, k;

    json_array_foreach(responses, i, response)
        json_array_foreach(json_object_get(json_object_get(response, "response_range"), "kvs"), k, kv)
            if (!add_entry(r, kv, false))
                return false;
    return true;
}

static bool read_events(struct ft_gateway_reply *r, const json_t *events)
{
    const json_t *event;
    size_t i;

    json_array_foreach(events, i, event) {
        const char *type = json_string_value(json_object_get(event, "type"));

        if (!add_entry(r, json_object_get(event, "kv"), type && strcmp(type, "DELETE") == 0))
            return false;
    }
    return true;
}

static void read_error(struct ft_gateway_reply *r, const json_t *j)
{
    const json_t *inner = json_object_get(j, "error"), *code = json_object_get(j, "code");
    const char *text = json_string_value(inner);

    if (!inner)
        return;
    if (json_is_object(inner)) { /* of a stream */
        text = json_string_value(json_object_get(inner, "message"));
        code = json_object_get(inner, "grpc_code");
    }
    r->code = json_is_integer(code) ? (int)json_integer_value(code) : 0;
    if (!r->code)
        r->code = 2; /* unknown */
    snprintf(r->error, sizeof r->error, "%s", text ? text : "an error without a text");
    for (char *c = r->error; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
}

static bool read_fields(const json_t *j, struct ft_gateway_reply *r)
{
    const json_t *header = json_object_get(j, "header");
    const char *token = json_string_value(json_object_get(j, "token"));

    r->held = json_is_true(json_object_get(j, "succeeded"));
    r->created = json_is_true(json_object_get(j, "created"));
    r->canceled = json_is_true(json_object_get(j, "canceled"));
    if (token && (strlen(token) >= sizeof r->token || strpbrk(token, "\r\n")))
        return false;
    snprintf(r->token, sizeof r->token, "%s", token ? token : "");
    return ft_gateway_number(header, "revision", &r->revision) && ft_gateway_number(j, "ID", &r->lease) &&
           ft_gateway_number(j, "TTL", &r->ttl) && ft_gateway_number(j, "compact_revision", &r->compacted) &&
           read_responses(r, json_object_get(j, "responses")) && read_events(r, json_object_get(j, "events"));
}

bool ft_gateway_read(const char *body, size_t n, struct ft_gateway_reply *r)
{
    json_t *j = json_loadb(body, n, 0, NULL);
    const json_t *result = json_object_get(j, "result"); /* of a stream */
    bool good = json_is_object(j);

    memset(r, 0, sizeof *r);
    if (good)
        read_error(r, j);
    if (good && !r->code)
        good = read_fields(result ? result : j, r);
    json_decref(j);
    return good;
}

void ft_gateway_free(struct ft_gateway_reply *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        free((char *)r->entries[i].key);
        free((unsigned char *)r->entries[i].value);
    }
    free(r->entries);
    r->entries = NULL;
    r->n = 0;
}

/* ---- the server's side ---- */

static bool read_op(const json_t *j, enum ft_kvs_op_kind kind, struct ft_kvs_op *op)
{
    uint64_t limit;

    op->kind = kind;
    op->key = ft_gateway_key(j, "key");
    if (!op->key || !ft_gateway_number(j, "lease", &op->lease) || !ft_gateway_number(j, "limit", &limit) || limit > UINT32_MAX)
        return false;
    op->limit = (uint32_t)limit;
    if (kind != FT_KVS_PUT && json_object_get(j, "range_end") && !(op->end = ft_gateway_key(j, "range_end")))
        return false;
    if (kind == FT_KVS_PUT && !(op->value = bytes_of(j, "value", &op->n)))
        return false;
    return kind == FT_KVS_RANGE ? !json_object_get(j, "revision") : true; /* the past cannot be read here */
}

static bool read_ops(const json_t *list, struct ft_kvs_op **ops, uint32_t *n)
{
    static const struct { const char *name; enum ft_kvs_op_kind kind; } kinds[] = {
        {"request_put", FT_KVS_PUT}, {"request_range", FT_KVS_RANGE}, {"request_delete_range", FT_KVS_DELETE}};
    const json_t *j;
    size_t i;

    if (list && (!json_is_array(list) || json_array_size(list) > OPERATIONS))
        return false;
    *ops = calloc(json_array_size(list) + 1, sizeof **ops);
    if (!*ops)
        return false;
    json_array_foreach(list, i, j) {
        size_t k = 0;

        while (k < 3 && !json_object_get(j, kinds[k].name))
            k++;
        (*n)++;
        if (k == 3 || !read_op(json_object_get(j, kinds[k].name), kinds[k].kind, &(*ops)[i]))
            return false;
    }
    return true;
}

static bool read_compare(const json_t *j, struct ft_kvs_compare *c)
{
    const char *target = json_string_value(json_object_get(j, "target")), *result = json_string_value(json_object_get(j, "result"));

    c->key = ft_gateway_key(j, "key");
    if (!c->key || (result && strcmp(result, "EQUAL") != 0))
        return false;
    for (int i = FT_KVS_MOD; i <= FT_KVS_VALUE_IS; i++) {
        if (strcmp(target ? target : "VERSION", targets[i]) != 0)
            continue;
        c->what = (enum ft_kvs_what)i;
        if (c->what != FT_KVS_VALUE_IS)
            return ft_gateway_number(j, fields[i], &c->is);
        c->value = bytes_of(j, fields[i], &c->n);
        return c->value;
    }
    return false;
}

bool ft_gateway_read_txn(const json_t *j, struct ft_gateway_request *r)
{
    const json_t *compares = json_object_get(j, "compare"), *one;
    size_t i;

    *r = (struct ft_gateway_request){0};
    if (!json_is_object(j) || (compares && (!json_is_array(compares) || json_array_size(compares) > OPERATIONS)))
        return false;
    r->compares = calloc(json_array_size(compares) + 1, sizeof *r->compares);
    if (!r->compares)
        return false;
    r->txn.compares = r->compares;
    json_array_foreach(compares, i, one) {
        r->txn.ncompares++;
        if (!read_compare(one, &r->compares[i]))
            return false;
    }
    if (!read_ops(json_object_get(j, "success"), &r->then, &r->txn.nthen) ||
        !read_ops(json_object_get(j, "failure"), &r->otherwise, &r->txn.notherwise))
        return false;
    r->txn.then = r->then;
    r->txn.otherwise = r->otherwise;
    return true;
}

static bool read_single(const json_t *j, enum ft_kvs_op_kind kind, struct ft_gateway_request *r)
{
    *r = (struct ft_gateway_request){0};
    r->then = calloc(1, sizeof *r->then);
    if (!r->then || !json_is_object(j))
        return false;
    r->txn.then = r->then;
    r->txn.nthen = 1;
    return read_op(j, kind, r->then);
}

bool ft_gateway_read_range(const json_t *j, struct ft_gateway_request *r) { return read_single(j, FT_KVS_RANGE, r); }
bool ft_gateway_read_put(const json_t *j, struct ft_gateway_request *r) { return read_single(j, FT_KVS_PUT, r); }

static void free_ops(struct ft_kvs_op *ops, uint32_t n)
{
    for (uint32_t i = 0; ops && i < n; i++) {
        free((char *)ops[i].key);
        free((char *)ops[i].end);
        free((unsigned char *)ops[i].value);
    }
    free(ops);
}

void ft_gateway_free_request(struct ft_gateway_request *r)
{
    for (uint32_t i = 0; r->compares && i < r->txn.ncompares; i++) {
        free((char *)r->compares[i].key);
        free((unsigned char *)r->compares[i].value);
    }
    free(r->compares);
    free_ops(r->then, r->txn.nthen);
    free_ops(r->otherwise, r->txn.notherwise);
}

json_t *ft_gateway_entry(const struct ft_kvs_entry *kv)
{
    json_t *j = json_object();

    set_text(j, "key", kv->key);
    ft_gateway_set_number(j, "create_revision", kv->made);
    ft_gateway_set_number(j, "mod_revision", kv->at);
    ft_gateway_set_number(j, "version", kv->version);
    ft_gateway_set_number(j, "lease", kv->lease);
    if (kv->value)
        ft_gateway_set_bytes(j, "value", kv->value, kv->n);
    return j;
}
