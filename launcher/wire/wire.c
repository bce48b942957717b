/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/wire/wire.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 4096, NODES_MOST = 1 << 16 };

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void put64(uint8_t *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static int damaged(struct ft_error *e, const char *what)
{
    return ft_err_set(e, FT_EDAMAGED, "%s that is none", what);
}

void ft_wire_head(uint8_t head[FT_WIRE_HEAD], enum ft_wire_type type, uint32_t length)
{
    put32(head, length);
    put32(head + 4, type);
}

int ft_wire_next(const void *data, size_t len, struct ft_wire_frame *f, struct ft_error *e)
{
    const uint8_t *p = data;
    uint32_t type;

    if (len < FT_WIRE_HEAD)
        return 0;
    f->length = get32(p);
    type = get32(p + 4);
    if (f->length > FT_WIRE_MOST || !type || type >= FT_WIRE_TYPES)
        return damaged(e, "a frame");
    f->type = (enum ft_wire_type)type;
    f->payload = p + FT_WIRE_HEAD;
    return len - FT_WIRE_HEAD < f->length ? 0 : FT_WIRE_HEAD + (int)f->length;
}

struct ft_wire_bytes ft_wire_new(enum ft_wire_type type, size_t length)
{
    struct ft_wire_bytes b = {.len = FT_WIRE_HEAD + length};

    if (length <= FT_WIRE_MOST && (b.data = malloc(b.len)))
        ft_wire_head(b.data, type, (uint32_t)length);
    return b;
}

/* Takes the object. */
static struct ft_wire_bytes frame_json(enum ft_wire_type type, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    struct ft_wire_bytes b = {0};

    if (text)
        b = ft_wire_new(type, strlen(text));
    if (b.data)
        memcpy(b.data + FT_WIRE_HEAD, text, b.len - FT_WIRE_HEAD);
    free(text);
    json_decref(object);
    return b;
}

/* What is taken out of an object: the first thing that is missing or wrong spoils all. */
struct reader {
    bool good;
};

static uint64_t number(struct reader *r, const json_t *object, const char *name, uint64_t most)
{
    const json_t *v = json_object_get(object, name);
    json_int_t n = json_integer_value(v);

    if (!json_is_integer(v) || n < 0 || (uint64_t)n > most)
        r->good = false;
    return r->good ? (uint64_t)n : 0;
}

static bool truth(struct reader *r, const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);

    r->good &= json_is_boolean(v);
    return json_is_true(v);
}

static void copy_text(struct reader *r, const json_t *v, char *to, size_t size)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= size || memchr(json_string_value(v), 0, len)) {
        r->good = false;
        return;
    }
    memcpy(to, json_string_value(v), len);
    to[len] = 0;
}

static void text(struct reader *r, const json_t *object, const char *name, char *to, size_t size)
{
    copy_text(r, json_object_get(object, name), to, size);
}

static const json_t *list(struct reader *r, const json_t *object, const char *name, size_t most, uint32_t *n)
{
    const json_t *v = json_object_get(object, name);

    r->good &= json_is_array(v) && json_array_size(v) <= most;
    *n = r->good ? (uint32_t)json_array_size(v) : 0;
    return v;
}

static json_t *json_of(const struct ft_wire_frame *f)
{
    return json_loadb((const char *)f->payload, f->length, JSON_REJECT_DUPLICATES, NULL);
}

static void addresses(struct reader *r, const json_t *object, uint32_t *n, struct ft_wire_address *a)
{
    const json_t *v = list(r, object, "addresses", FT_WIRE_ADDRESSES, n);

    for (uint32_t i = 0; i < *n; i++)
        copy_text(r, json_array_get(v, i), a[i].text, sizeof a[i].text);
}

static json_t *address_list(uint32_t n, const struct ft_wire_address *a)
{
    json_t *v = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(v, json_string(a[i].text));
    return v;
}

struct ft_wire_bytes ft_wire_put_hello(const struct ft_wire_hello *m)
{
    return frame_json(FT_WIRE_HELLO, json_pack("{s:I, s:I, s:s, s:s, s:I, s:o, s:I}", "node", (json_int_t)m->node,
        "incarnation", (json_int_t)m->incarnation, "version", m->version, "host", m->host, "pid", (json_int_t)m->pid,
        "addresses", address_list(m->naddresses, m->addresses), "port", (json_int_t)m->port));
}

int ft_wire_get_hello(const struct ft_wire_frame *f, struct ft_wire_hello *m, struct ft_error *e)
{
    json_t *o = json_of(f);
    struct reader r = {true};

    *m = (struct ft_wire_hello){0};
    m->node = (uint32_t)number(&r, o, "node", NODES_MOST);
    m->incarnation = (uint32_t)number(&r, o, "incarnation", UINT32_MAX);
    text(&r, o, "version", m->version, sizeof m->version);
    text(&r, o, "host", m->host, sizeof m->host);
    m->pid = (uint32_t)number(&r, o, "pid", INT32_MAX);
    addresses(&r, o, &m->naddresses, m->addresses);
    m->port = (uint32_t)number(&r, o, "port", UINT16_MAX);
    json_decref(o);
    return r.good ? 0 : damaged(e, "a HELLO");
}

static json_t *rank_list(const struct ft_wire_state *m)
{
    json_t *v = json_array();

    for (uint32_t i = 0; i < m->nranks; i++)
        json_array_append_new(v, json_pack("[i, I, I, I]", (int)m->ranks[i].state, (json_int_t)m->ranks[i].incarnation,
                                           (json_int_t)m->ranks[i].restarts, (json_int_t)m->ranks[i].pid));
    return v;
}

struct ft_wire_bytes ft_wire_put_state(const struct ft_wire_state *m)
{
    return frame_json(FT_WIRE_STATE, json_pack("{s:i, s:i, s:I, s:b, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:I, s:o}", "phase", (int)m->phase, "code", m->code,
        "committed", (json_int_t)m->committed, "whole", (int)m->whole, "signals", (json_int_t)m->signals,
        "input", (json_int_t)m->input, "version", (json_int_t)m->version, "connected", (int)m->connected, "loaded", (int)m->loaded, "through", (int)m->through,
        "called", (int)m->called, "absent", (json_int_t)m->absent, "ranks", rank_list(m)));
}

static uint32_t nth(struct reader *r, const json_t *array, size_t i, uint32_t most)
{
    const json_t *v = json_array_get(array, i);
    json_int_t n = json_integer_value(v);

    r->good &= json_is_integer(v) && n >= 0 && n <= most;
    return r->good ? (uint32_t)n : 0;
}

static void ranks(struct reader *r, const json_t *object, struct ft_wire_state *m, int *err)
{
    const json_t *v = list(r, object, "ranks", RANKS_MOST, &m->nranks);

    m->ranks = calloc(m->nranks + 1, sizeof *m->ranks);
    if (!m->ranks) {
        *err = FT_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < m->nranks; i++) {
        const json_t *one = json_array_get(v, i);

        r->good &= json_array_size(one) == 4;
        m->ranks[i].state = (enum ft_node_rank)nth(r, one, 0, FT_NODE_RANK_STATES - 1);
        m->ranks[i].incarnation = nth(r, one, 1, UINT32_MAX);
        m->ranks[i].restarts = nth(r, one, 2, UINT32_MAX);
        m->ranks[i].pid = nth(r, one, 3, INT32_MAX);
    }
}

int ft_wire_get_state(const struct ft_wire_frame *f, struct ft_wire_state *m, struct ft_error *e)
{
    json_t *o = json_of(f);
    struct reader r = {true};
    int err = 0;

    *m = (struct ft_wire_state){0};
    m->phase = (enum ft_node_phase)number(&r, o, "phase", FT_NODE_PHASES - 1);
    m->code = (int)number(&r, o, "code", 255);
    m->committed = number(&r, o, "committed", INT64_MAX);
    m->whole = truth(&r, o, "whole");
    m->signals = number(&r, o, "signals", INT64_MAX);
    m->input = number(&r, o, "input", INT64_MAX);
    m->version = number(&r, o, "version", INT64_MAX);
    m->connected = truth(&r, o, "connected");
    m->loaded = truth(&r, o, "loaded");
    m->through = truth(&r, o, "through");
    m->called = truth(&r, o, "called");
    ranks(&r, o, m, &err);
    m->absent = (uint32_t)number(&r, o, "absent", m->nranks);
    json_decref(o);
    if (r.good && !err)
        return 0;
    ft_wire_state_free(m);
    return err ? ft_err_set(e, err, "out of memory") : damaged(e, "a STATE");
}

void ft_wire_state_free(struct ft_wire_state *m)
{
    free(m->ranks);
    m->ranks = NULL;
    m->nranks = 0;
}

struct ft_wire_bytes ft_wire_put_table(const struct ft_wire_table *m)
{
    json_t *nodes = json_array();

    for (uint32_t i = 0; i < m->nnodes; i++) {
        const struct ft_wire_node *n = &m->nodes[i];

        json_array_append_new(nodes, json_pack("{s:b, s:b, s:I, s:s, s:o, s:I}", "up", (int)n->up, "done", (int)n->done,
            "incarnation", (json_int_t)n->incarnation, "host", n->host, "addresses", address_list(n->naddresses, n->addresses), "port", (json_int_t)n->port));
    }
    return frame_json(FT_WIRE_TABLE, json_pack("{s:o}", "nodes", nodes));
}

static void node(struct reader *r, const json_t *o, struct ft_wire_node *n)
{
    n->up = truth(r, o, "up");
    n->done = truth(r, o, "done");
    n->incarnation = (uint32_t)number(r, o, "incarnation", UINT32_MAX);
    text(r, o, "host", n->host, sizeof n->host);
    addresses(r, o, &n->naddresses, n->addresses);
    n->port = (uint32_t)number(r, o, "port", UINT16_MAX);
}

int ft_wire_get_table(const struct ft_wire_frame *f, struct ft_wire_table *m, struct ft_error *e)
{
    json_t *o = json_of(f);
    struct reader r = {true};
    const json_t *v;

    *m = (struct ft_wire_table){0};
    v = list(&r, o, "nodes", NODES_MOST, &m->nnodes);
    m->nodes = calloc(m->nnodes + 1, sizeof *m->nodes);
    for (uint32_t i = 0; m->nodes && i < m->nnodes; i++)
        node(&r, json_array_get(v, i), &m->nodes[i]);
    json_decref(o);
    if (!m->nodes)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (r.good)
        return 0;
    ft_wire_table_free(m);
    return damaged(e, "a TABLE");
}

void ft_wire_table_free(struct ft_wire_table *m)
{
    free(m->nodes);
    m->nodes = NULL;
    m->nnodes = 0;
}

struct ft_wire_bytes ft_wire_put_job(const struct ft_wire_job *m)
{
    return frame_json(FT_WIRE_JOB, json_pack("{s:i, s:i, s:b}", "phase", (int)m->phase, "code", m->code, "stay", (int)m->stay));
}

int ft_wire_get_job(const struct ft_wire_frame *f, struct ft_wire_job *m, struct ft_error *e)
{
    json_t *o = json_of(f);
    struct reader r = {true};

    m->phase = (enum ft_job_phase)number(&r, o, "phase", FT_JOB_PHASES - 1);
    m->code = (int)number(&r, o, "code", 255);
    m->stay = truth(&r, o, "stay");
    json_decref(o);
    return r.good ? 0 : damaged(e, "a JOB");
}

struct ft_wire_bytes ft_wire_put_beat(void)
{
    return ft_wire_new(FT_WIRE_BEAT, 0);
}

struct ft_wire_bytes ft_wire_put_got(uint64_t place)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_GOT, FT_WIRE_PLACE);

    if (b.data)
        put64(b.data + FT_WIRE_HEAD, place);
    return b;
}

int ft_wire_get_got(const struct ft_wire_frame *f, uint64_t *place, struct ft_error *e)
{
    if (f->length != FT_WIRE_PLACE)
        return damaged(e, "a GOT");
    *place = get64(f->payload);
    return 0;
}

struct ft_wire_bytes ft_wire_put_signal(uint64_t number, int signal)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_SIGNAL, 12);

    if (b.data) {
        put64(b.data + FT_WIRE_HEAD, number);
        put32(b.data + FT_WIRE_HEAD + 8, (uint32_t)signal);
    }
    return b;
}

int ft_wire_get_signal(const struct ft_wire_frame *f, uint64_t *number, int *signal, struct ft_error *e)
{
    if (f->length != 12 || !get32(f->payload + 8) || get32(f->payload + 8) > 64)
        return damaged(e, "a SIGNAL");
    *number = get64(f->payload);
    *signal = (int)get32(f->payload + 8);
    return 0;
}

struct ft_wire_bytes ft_wire_put_input(uint64_t place, bool last, const void *data, uint32_t len)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_INPUT_BYTES, FT_WIRE_INPUT + (size_t)len);

    if (b.data) {
        put64(b.data + FT_WIRE_HEAD, place);
        put32(b.data + FT_WIRE_HEAD + 8, last);
        if (len)
            memcpy(b.data + FT_WIRE_HEAD + FT_WIRE_INPUT, data, len);
    }
    return b;
}

int ft_wire_get_input(const struct ft_wire_frame *f, uint64_t *place, bool *last, const uint8_t **data, uint32_t *len, struct ft_error *e)
{
    if (f->length < FT_WIRE_INPUT || f->length - FT_WIRE_INPUT > FT_WIRE_PIECE || get32(f->payload + 8) > 1)
        return damaged(e, "an INPUT");
    *place = get64(f->payload);
    *last = get32(f->payload + 8);
    *data = f->payload + FT_WIRE_INPUT;
    *len = f->length - FT_WIRE_INPUT;
    return 0;
}

void ft_wire_record_head(uint8_t head[FT_WIRE_RECORD], const struct ft_wire_record *r)
{
    put32(head, r->rank);
    put32(head + 4, r->stream | (uint32_t)r->flags << 16);
    put64(head + 8, r->position);
    put32(head + 16, r->length);
    put32(head + 20, 0);
}

int ft_wire_record(const void *data, size_t len, struct ft_wire_record *r, struct ft_error *e)
{
    const uint8_t *p = data;

    if (len < FT_WIRE_RECORD)
        return 0;
    *r = (struct ft_wire_record){.rank = get32(p), .stream = (uint16_t)get32(p + 4), .flags = (uint16_t)(get32(p + 4) >> 16),
                                 .position = get64(p + 8), .length = get32(p + 16), .data = p + FT_WIRE_RECORD};
    if (r->stream >= FT_RECORD_STREAMS || r->flags > FT_RECORD_FLAGS || r->length > FT_WIRE_PIECE || get32(p + 20) ||
        r->position > UINT64_MAX / 2 || (r->stream == FT_RECORD_AGENT && (r->rank || r->position)))
        return damaged(e, "a record of output");
    return len - FT_WIRE_RECORD < r->length ? 0 : FT_WIRE_RECORD + (int)r->length;
}

void ft_wire_out_head(uint8_t head[FT_WIRE_OUT_HEAD], uint64_t place, uint32_t length)
{
    ft_wire_head(head, FT_WIRE_OUT, FT_WIRE_PLACE + length);
    put64(head + FT_WIRE_HEAD, place);
}

int ft_wire_get_out(const struct ft_wire_frame *f, uint64_t *place, const uint8_t **data, uint32_t *len, struct ft_error *e)
{
    struct ft_wire_record r;
    uint32_t at = 0;
    int n;

    if (f->length < FT_WIRE_PLACE)
        return damaged(e, "an OUT");
    *place = get64(f->payload);
    *data = f->payload + FT_WIRE_PLACE;
    *len = f->length - FT_WIRE_PLACE;
    while (at < *len) {
        if ((n = ft_wire_record(*data + at, *len - at, &r, e)) <= 0)
            return n < 0 ? n : damaged(e, "an OUT");
        at += (uint32_t)n;
    }
    return 0;
}
