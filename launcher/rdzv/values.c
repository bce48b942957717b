/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/values.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "launcher/base/timer.h"
#include "launcher/rdzv/doc.h"

/* A value is stored behind a nonce, so that no two writes are the same: a write that was done, though its answer was lost, is known by it. */
enum { NONCE = 17, KEY_BYTES = 1024 };

enum kind { SET, ADD, GET, WAIT, CHECK };

struct op {
    LIST_ENTRY(op) link;
    struct ft_rdzv_values *all;
    enum kind kind;
    char nonce[NONCE + 1];
    unsigned char *value;      /* SET */
    size_t n;
    int64_t by, sum;           /* ADD */
    uint64_t at;               /* SET, ADD: the revision that is compared */
    unsigned char *written;    /* sealed, as it was tried last */
    size_t nwritten;
    struct ft_rdzv_watch *watch;
    struct event *late;
    uint64_t wait_ms;
    ft_values_done *done;
    void *arg;
    uint32_t nkeys, next;
    char *keys[FT_VALUES_KEYS];
};

struct ft_rdzv_values {
    struct event_base *base;
    struct ft_rdzv_store *store;
    const struct ft_rdzv_secret *secret;
    char *prefix;
    uint64_t seed, drawn;
    LIST_HEAD(, op) ops;
};

static void step(struct op *op);

/* ---- its life ---- */

static void free_op(struct op *op)
{
    ft_rdzv_store_forget(op->all->store, op);
    LIST_REMOVE(op, link);
    ft_rdzv_store_unwatch(op->watch);
    ft_timer_free(op->late);
    for (uint32_t i = 0; i < op->nkeys; i++)
        free(op->keys[i]);
    free(op->value);
    free(op->written);
    free(op);
}

static void end(struct op *op, const unsigned char *value, size_t n, const char *why)
{
    ft_values_done *done = op->done;
    void *arg = op->arg;

    free_op(op);
    done(arg, value, n, why);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct op *op = arg;
    char why[FT_ERROR_TEXT];

    (void)fd;
    (void)what;
    snprintf(why, sizeof why, "nobody has set \"%.100s\" within %llu s", op->keys[op->next] + strlen(op->all->prefix),
             (unsigned long long)(op->wait_ms / 1000));
    end(op, NULL, 0, why);
}

/* ---- what is there ---- */

/* The value without its nonce; NULL: there is none, or it is a stranger's. */
static const unsigned char *value_of(const struct op *op, const struct ft_kvs_entry *kv, size_t *n)
{
    const unsigned char *value = kv && kv->value ? ft_rdzv_unseal(op->all->secret, kv->key, kv->value, kv->n, n) : NULL;

    if (!value || *n < NONCE)
        return NULL;
    *n -= NONCE;
    return value + NONCE;
}

static const struct ft_kvs_entry *find(const struct ft_gateway_reply *r, const char *key)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (strcmp(r->entries[i].key, key) == 0)
            return &r->entries[i];
    return NULL;
}

static void on_events(void *arg, const struct ft_gateway_reply *events, const char *why)
{
    struct op *op = arg;

    (void)why;
    if (events) /* else the watch is gone by itself */
        ft_rdzv_store_unwatch(op->watch);
    op->watch = NULL;
    step(op);
}

static void wait_for(struct op *op, uint64_t revision)
{
    op->watch = ft_rdzv_store_watch(op->all->store, op->keys[op->next], revision + 1, on_events, op);
    if (!op->watch)
        end(op, NULL, 0, "out of memory");
}

static void on_read(struct op *op, const struct ft_gateway_reply *r)
{
    const unsigned char *value = NULL;
    size_t n = 0;

    for (; op->next < op->nkeys; op->next++) {
        value = value_of(op, find(r, op->keys[op->next]), &n);
        if (!value)
            break;
    }
    if (op->kind == CHECK)
        end(op, (const unsigned char *)"", op->next == op->nkeys, NULL);
    else if (op->next == op->nkeys)
        end(op, op->kind == GET ? value : (const unsigned char *)"", op->kind == GET ? n : 0, NULL);
    else
        wait_for(op, r->revision);
}

/* ---- writing ---- */

static bool number_of(const unsigned char *value, size_t n, int64_t *number)
{
    char text[24], *end_at;

    if (!n || n >= sizeof text)
        return false;
    memcpy(text, value, n);
    text[n] = 0;
    *number = strtoll(text, &end_at, 10);
    return *end_at == 0;
}

/* What is to be written over what is there. */
static bool make(struct op *op, const unsigned char *value, size_t n)
{
    char text[NONCE + 24];
    unsigned char *plain;
    int64_t there = 0;

    free(op->written);
    if (op->kind == ADD) {
        if (value && !number_of(value, n, &there))
            return false;
        op->sum = (int64_t)((uint64_t)there + (uint64_t)op->by);
        n = (size_t)snprintf(text, sizeof text, "%s%lld", op->nonce, (long long)op->sum);
        op->written = ft_rdzv_seal(op->all->secret, op->keys[0], (const unsigned char *)text, n, &op->nwritten);
        return op->written;
    }
    plain = malloc(op->n + NONCE);
    op->written = NULL;
    if (plain) {
        memcpy(plain, op->nonce, NONCE);
        memcpy(plain + NONCE, op->value, op->n);
        op->written = ft_rdzv_seal(op->all->secret, op->keys[0], plain, op->n + NONCE, &op->nwritten);
    }
    free(plain);
    return op->written;
}

static void end_written(struct op *op)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)op->sum);

    end(op, (const unsigned char *)text, op->kind == ADD ? (size_t)n : 0, NULL);
}

static void on_write(struct op *op, const struct ft_gateway_reply *r)
{
    const struct ft_kvs_entry *kv = find(r, op->keys[0]);
    const unsigned char *value;
    size_t n = 0;

    if (op->written && (r->held || (kv && kv->n == op->nwritten && memcmp(kv->value, op->written, kv->n) == 0))) {
        end_written(op);
        return;
    }
    value = value_of(op, kv, &n);
    op->at = kv ? kv->at : 0;
    if (make(op, value, n))
        step(op);
    else
        end(op, NULL, 0, op->kind == ADD && value ? "what is stored there is no number" : "out of memory");
}

/* ---- asking ---- */

static void on_answer(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *r, const char *why)
{
    struct op *op = arg;

    if (a != FT_RA_DONE)
        end(op, NULL, 0, why);
    else if (op->kind == SET || op->kind == ADD)
        on_write(op, r);
    else
        on_read(op, r);
}

/* Reads; or writes, if there is something to write. */
static void step(struct op *op)
{
    struct ft_kvs_op ops[FT_VALUES_KEYS] = {{0}}, put = {.kind = FT_KVS_PUT, .key = op->keys[0], .value = op->written, .n = op->nwritten};
    struct ft_kvs_compare compare = {.what = FT_KVS_MOD, .key = op->keys[0], .is = op->at};
    struct ft_kvs_txn txn = {.then = ops, .nthen = op->nkeys};

    for (uint32_t i = 0; i < op->nkeys; i++)
        ops[i] = (struct ft_kvs_op){.kind = FT_KVS_RANGE, .key = op->keys[i]};
    if (op->written)
        txn = (struct ft_kvs_txn){.compares = &compare, .ncompares = 1, .then = &put, .nthen = 1, .otherwise = ops, .notherwise = 1};
    if (ft_rdzv_store_do(op->all->store, &txn, false, on_answer, op) < 0)
        end(op, NULL, 0, "out of memory");
}

static struct op *new_op(struct ft_rdzv_values *v, enum kind kind, const char *const *keys, uint32_t n, ft_values_done *done, void *arg,
                         struct ft_error *e)
{
    struct op *op;

    if (!n || n > FT_VALUES_KEYS) {
        ft_err_set(e, FT_EINVAL, "of %u keys; it takes 1 to %d", n, FT_VALUES_KEYS);
        return NULL;
    }
    op = calloc(1, sizeof *op);
    if (!op) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    *op = (struct op){.all = v, .kind = kind, .done = done, .arg = arg};
    LIST_INSERT_HEAD(&v->ops, op, link);
    snprintf(op->nonce, sizeof op->nonce, "%016llx ", (unsigned long long)(v->seed + v->drawn++ * 0x9e3779b97f4a7c15u));
    for (; op->nkeys < n; op->nkeys++) {
        if (!ft_rdzv_is_name(keys[op->nkeys])) {
            ft_err_set(e, FT_EINVAL, "\"%.100s\" is no key (letters, digits, - _ and .)", keys[op->nkeys]);
            break;
        }
        if (asprintf(&op->keys[op->nkeys], "%s%s", v->prefix, keys[op->nkeys]) < 0) {
            ft_err_set(e, FT_ENOMEM, "out of memory");
            break;
        }
    }
    if (op->nkeys == n)
        return op;
    free_op(op);
    return NULL;
}

/* -1: it is no key, or there is no memory. */
static int begin(struct op *op, uint64_t wait_ms, const struct ft_error *e)
{
    if (!op)
        return strcmp(e->text, "out of memory") == 0 ? FT_ENOMEM : FT_EINVAL;
    op->wait_ms = wait_ms;
    op->late = evtimer_new(op->all->base, on_late, op);
    if (!op->late) {
        free_op(op);
        return FT_ENOMEM;
    }
    if (wait_ms)
        ft_timer_set(op->late, wait_ms);
    step(op);
    return 0;
}

int ft_rdzv_values_set(struct ft_rdzv_values *v, const char *key, const void *value, size_t n, ft_values_done *done, void *arg, struct ft_error *e)
{
    struct op *op;

    if (n > FT_VALUES_BYTES)
        return ft_err_set(e, FT_EINVAL, "a value of %zu bytes; at most %d are stored", n, FT_VALUES_BYTES);
    op = new_op(v, SET, &key, 1, done, arg, e);
    if (op && !(op->value = malloc(n + 1))) {
        free_op(op);
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    }
    if (op && n)
        memcpy(op->value, value, n);
    if (op)
        op->n = n;
    return begin(op, 0, e);
}

int ft_rdzv_values_add(struct ft_rdzv_values *v, const char *key, int64_t by, ft_values_done *done, void *arg, struct ft_error *e)
{
    struct op *op = new_op(v, ADD, &key, 1, done, arg, e);

    if (op)
        op->by = by;
    return begin(op, 0, e);
}

int ft_rdzv_values_get(struct ft_rdzv_values *v, const char *key, uint64_t wait_ms, ft_values_done *done, void *arg, struct ft_error *e)
{
    return begin(new_op(v, GET, &key, 1, done, arg, e), wait_ms, e);
}

int ft_rdzv_values_wait(struct ft_rdzv_values *v, const char *const *keys, uint32_t n, uint64_t wait_ms, ft_values_done *done, void *arg,
                        struct ft_error *e)
{
    return begin(new_op(v, WAIT, keys, n, done, arg, e), wait_ms, e);
}

int ft_rdzv_values_check(struct ft_rdzv_values *v, const char *const *keys, uint32_t n, ft_values_done *done, void *arg, struct ft_error *e)
{
    return begin(new_op(v, CHECK, keys, n, done, arg, e), 0, e);
}

struct ft_rdzv_values *ft_rdzv_values_new(struct event_base *base, struct ft_rdzv_store *store, const struct ft_rdzv_secret *secret, const char *prefix,
                                          uint64_t seed)
{
    struct ft_rdzv_values *v = calloc(1, sizeof *v);

    if (!v || !(v->prefix = strdup(prefix))) {
        free(v);
        return NULL;
    }
    v->base = base;
    v->store = store;
    v->secret = secret;
    v->seed = seed;
    return v;
}

void ft_rdzv_values_free(struct ft_rdzv_values *v)
{
    if (!v)
        return;
    while (!LIST_EMPTY(&v->ops))
        free_op(LIST_FIRST(&v->ops));
    free(v->prefix);
    free(v);
}
