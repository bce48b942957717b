/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/rdzv/kvs.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

struct blob {
    uint32_t refs;
    size_t n;
    unsigned char bytes[];
};

struct entry {
    uint64_t made, at, version, lease;
    struct blob *value;
    char *key;
};

struct lease {
    uint64_t id, ttl_ms, until;
};

struct change {
    uint64_t at, made, version, lease;
    struct blob *value;        /* NULL: deleted */
    char *key;
};

struct ft_kvs {
    uint64_t revision, drawn;
    uint64_t due;              /* no lease runs out before */
    struct entry *entries;     /* by key */
    struct lease *leases;
    uint32_t n, room, nleases, leases_room;
    size_t bytes;
    struct change *past;       /* a ring */
    uint32_t oldest, npast;
    size_t past_bytes;
    uint64_t forgotten;        /* the revision of the last change that is not in it any more */
};

/* ---- values ---- */

static struct blob *blob_new(const unsigned char *bytes, size_t n)
{
    struct blob *b = malloc(sizeof *b + n);

    if (!b)
        return NULL;
    b->refs = 1;
    b->n = n;
    if (n)
        memcpy(b->bytes, bytes, n);
    return b;
}

static void blob_drop(struct blob *b)
{
    if (b && !--b->refs)
        free(b);
}

static size_t weight(const char *key, const struct blob *b) { return strlen(key) + (b ? b->n : 0) + 64; }

/* ---- the past ---- */

static void forget_one(struct ft_kvs *m)
{
    struct change *c = &m->past[m->oldest];

    m->forgotten = c->at;
    m->past_bytes -= weight(c->key, c->value);
    blob_drop(c->value);
    free(c->key);
    m->oldest = (m->oldest + 1) % FT_KVS_HISTORY;
    m->npast--;
}

/* Without memory the past is forgotten: watchers begin anew. */
static void remember(struct ft_kvs *m, const struct entry *e, bool deleted)
{
    char *key = strdup(e->key);
    struct change *c;

    if (m->npast == FT_KVS_HISTORY)
        forget_one(m);
    if (!key) {
        while (m->npast)
            forget_one(m);
        m->forgotten = m->revision;
        return;
    }
    c = &m->past[(m->oldest + m->npast++) % FT_KVS_HISTORY];
    *c = (struct change){.at = m->revision, .key = key};
    if (!deleted) {
        c->made = e->made;
        c->version = e->version;
        c->lease = e->lease;
        c->value = e->value;
        e->value->refs++;
    }
    m->past_bytes += weight(key, c->value);
    while (m->past_bytes > FT_KVS_PAST && m->npast > 1)
        forget_one(m);
}

/* ---- entries ---- */

static uint32_t where(const struct ft_kvs *m, const char *key)
{
    uint32_t from = 0, to = m->n;

    while (from < to) {
        uint32_t mid = (from + to) / 2;

        if (strcmp(m->entries[mid].key, key) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static struct entry *find(const struct ft_kvs *m, const char *key)
{
    uint32_t i = where(m, key);

    return i < m->n && strcmp(m->entries[i].key, key) == 0 ? &m->entries[i] : NULL;
}

/* The first and last + 1 of the keys of an operation. */
static void span(const struct ft_kvs *m, const char *key, const char *end, uint32_t *from, uint32_t *to)
{
    *from = where(m, key);
    *to = end ? where(m, end) : *from + (find(m, key) != NULL);
    if (*to < *from)
        *to = *from;
}

static bool grow(struct ft_kvs *m)
{
    uint32_t room = m->room ? 2 * m->room : 64;
    struct entry *entries = m->n < m->room ? m->entries : realloc(m->entries, room * sizeof *entries);

    if (!entries)
        return false;
    m->room = m->n < m->room ? m->room : room;
    m->entries = entries;
    return true;
}

static int put(struct ft_kvs *m, const struct ft_kvs_op *op)
{
    struct blob *value = blob_new(op->value, op->n);
    struct entry *e = find(m, op->key);
    char *key = e ? e->key : strdup(op->key);
    uint32_t i = where(m, op->key);

    if (!value || !key || (!e && !grow(m))) {
        blob_drop(value);
        if (!e)
            free(key);
        return FT_KVS_FULL;
    }
    if (!e) {
        memmove(&m->entries[i + 1], &m->entries[i], (m->n++ - i) * sizeof *m->entries);
        e = &m->entries[i];
        *e = (struct entry){.key = key, .made = m->revision};
    } else {
        m->bytes -= weight(key, e->value);
        blob_drop(e->value);
    }
    e->value = value;
    e->at = m->revision;
    e->version++;
    e->lease = op->lease;
    m->bytes += weight(key, value);
    remember(m, e, false);
    return 0;
}

static void cut(struct ft_kvs *m, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct entry *e = &m->entries[i];

        remember(m, e, true);
        m->bytes -= weight(e->key, e->value);
        blob_drop(e->value);
        free(e->key);
    }
    if (m->n > to)
        memmove(&m->entries[from], &m->entries[to], (m->n - to) * sizeof *m->entries);
    m->n -= to - from;
}

/* ---- leases ---- */

static struct lease *lease_of(const struct ft_kvs *m, uint64_t id)
{
    for (uint32_t i = 0; i < m->nleases; i++)
        if (m->leases[i].id == id)
            return &m->leases[i];
    return NULL;
}

int ft_kvs_grant(struct ft_kvs *m, uint64_t now_ms, uint64_t ttl_s, uint64_t *id)
{
    bool drawn = !*id;

    if (!ttl_s || ttl_s > FT_KVS_TTL || *id > INT64_MAX || (*id && lease_of(m, *id)))
        return FT_KVS_BAD;
    if (m->nleases == FT_KVS_LEASES)
        return FT_KVS_FULL;
    if (m->nleases == m->leases_room) {
        uint32_t room = m->leases_room ? 2 * m->leases_room : 64;
        struct lease *leases = realloc(m->leases, room * sizeof *leases);

        if (!leases)
            return FT_KVS_FULL;
        m->leases = leases;
        m->leases_room = room;
    }
    while (!*id || (drawn && lease_of(m, *id)))
        *id = ++m->drawn;
    m->leases[m->nleases++] = (struct lease){*id, ttl_s * 1000, now_ms + ttl_s * 1000};
    m->due = ft_min(m->due, now_ms + ttl_s * 1000);
    return 0;
}

uint64_t ft_kvs_keep(struct ft_kvs *m, uint64_t now_ms, uint64_t id)
{
    struct lease *l = lease_of(m, id);

    if (!l)
        return 0;
    l->until = now_ms + l->ttl_ms;
    return l->ttl_ms / 1000;
}

static void end_lease(struct ft_kvs *m, struct lease *l)
{
    uint64_t id = l->id;
    bool changed = false;

    *l = m->leases[--m->nleases];
    for (uint32_t i = m->n; i-- > 0;)
        if (m->entries[i].lease == id) {
            m->revision += !changed;
            changed = true;
            cut(m, i, i + 1);
        }
}

int ft_kvs_revoke(struct ft_kvs *m, uint64_t id)
{
    struct lease *l = lease_of(m, id);

    if (!l)
        return FT_KVS_NO_LEASE;
    end_lease(m, l);
    return 0;
}

void ft_kvs_expire(struct ft_kvs *m, uint64_t now_ms)
{
    if (now_ms < m->due)
        return;
    for (uint32_t i = m->nleases; i-- > 0;)
        if (now_ms >= m->leases[i].until)
            end_lease(m, &m->leases[i]);
    m->due = UINT64_MAX;
    for (uint32_t i = 0; i < m->nleases; i++)
        m->due = ft_min(m->due, m->leases[i].until);
}

uint64_t ft_kvs_due(const struct ft_kvs *m) { return m->due; }

/* ---- transactions ---- */

static bool holds(const struct ft_kvs *m, const struct ft_kvs_compare *c)
{
    const struct entry *e = find(m, c->key);
    uint64_t is;

    if (c->what == FT_KVS_VALUE_IS)
        return e && e->value->n == c->n && memcmp(e->value->bytes, c->value, c->n) == 0;
    is = !e ? 0 : c->what == FT_KVS_MOD ? e->at : c->what == FT_KVS_CREATE ? e->made : e->version;

    return is == c->is;
}

/* What a put could fail for is looked at before the first. */
static int allowed(const struct ft_kvs *m, const struct ft_kvs_op *ops, uint32_t n)
{
    size_t bytes = m->bytes, keys = m->n;

    for (uint32_t i = 0; i < n; i++) {
        if (!*ops[i].key || strlen(ops[i].key) > FT_KVS_KEY)
            return FT_KVS_BAD;
        if (ops[i].kind != FT_KVS_PUT)
            continue;
        if (ops[i].lease && !lease_of(m, ops[i].lease))
            return FT_KVS_NO_LEASE;
        bytes += ops[i].n + strlen(ops[i].key) + 64;
        keys += find(m, ops[i].key) == NULL;
        if (ops[i].n > FT_KVS_VALUE || bytes > FT_KVS_BYTES || keys > FT_KVS_KEYS)
            return FT_KVS_FULL;
    }
    return 0;
}

static void range(const struct ft_kvs *m, const struct ft_kvs_op *op, uint32_t nth,
                  void (*each)(void *, uint32_t, const struct ft_kvs_entry *), void *arg)
{
    uint32_t from, to;

    span(m, op->key, op->end, &from, &to);
    for (uint32_t i = from; i < to && (!op->limit || i - from < op->limit); i++) {
        const struct entry *e = &m->entries[i];
        struct ft_kvs_entry kv = {e->key, e->value->bytes, e->value->n, e->made, e->at, e->version, e->lease};

        each(arg, nth, &kv);
    }
}

static bool changes(const struct ft_kvs *m, const struct ft_kvs_op *ops, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from, to;

        if (ops[i].kind == FT_KVS_PUT)
            return true;
        span(m, ops[i].key, ops[i].end, &from, &to);
        if (ops[i].kind == FT_KVS_DELETE && to > from)
            return true;
    }
    return false;
}

int ft_kvs_do(struct ft_kvs *m, const struct ft_kvs_txn *txn, bool *held,
              void (*each)(void *arg, uint32_t op, const struct ft_kvs_entry *kv), void (*deleted)(void *arg, uint32_t op, uint64_t n),
              void *arg)
{
    const struct ft_kvs_op *ops;
    uint32_t n, from, to;
    int err;

    *held = true;
    for (uint32_t i = 0; i < txn->ncompares; i++)
        *held &= holds(m, &txn->compares[i]);
    ops = *held ? txn->then : txn->otherwise;
    n = *held ? txn->nthen : txn->notherwise;
    err = allowed(m, ops, n);
    if (err < 0)
        return err;
    m->revision += changes(m, ops, n);
    for (uint32_t i = 0; i < n; i++) {
        switch (ops[i].kind) {
        case FT_KVS_PUT:
            if (put(m, &ops[i]) < 0)
                return FT_KVS_FULL;
            break;
        case FT_KVS_RANGE:
            range(m, &ops[i], i, each, arg);
            break;
        case FT_KVS_DELETE:
            span(m, ops[i].key, ops[i].end, &from, &to);
            cut(m, from, to);
            deleted(arg, i, to - from);
            break;
        }
    }
    return 0;
}

static const struct change *past(const struct ft_kvs *m, uint32_t i) { return &m->past[(m->oldest + i) % FT_KVS_HISTORY]; }

/* The first change of revision `from` or later. */
static uint32_t since(const struct ft_kvs *m, uint64_t from)
{
    uint32_t low = 0, high = m->npast;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (past(m, mid)->at < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int ft_kvs_changes(const struct ft_kvs *m, uint64_t from, const char *key, const char *end,
                      void (*each)(void *arg, const struct ft_kvs_entry *kv), void *arg, uint64_t *oldest)
{
    *oldest = m->forgotten + 1;
    if (from <= m->forgotten)
        return FT_KVS_COMPACTED;
    for (uint32_t i = since(m, from); i < m->npast; i++) {
        const struct change *c = past(m, i);

        if ((end ? strcmp(c->key, key) >= 0 && strcmp(c->key, end) < 0 : strcmp(c->key, key) == 0)) {
            struct ft_kvs_entry kv = {c->key, c->value ? c->value->bytes : NULL, c->value ? c->value->n : 0, c->made, c->at, c->version,
                                      c->lease};

            each(arg, &kv);
        }
    }
    return 0;
}

/* ---- its life ---- */

struct ft_kvs *ft_kvs_new(uint64_t seed)
{
    struct ft_kvs *m = calloc(1, sizeof *m);

    if (m)
        m->past = calloc(FT_KVS_HISTORY, sizeof *m->past);
    if (!m || !m->past) {
        free(m);
        return NULL;
    }
    m->due = UINT64_MAX;
    m->revision = 1 + (seed & 0xffffffffff); /* nor is a revision */
    m->drawn = seed >> 2; /* a lease of another store is none here */
    return m;
}

uint64_t ft_kvs_revision(const struct ft_kvs *m) { return m->revision; }

void ft_kvs_free(struct ft_kvs *m)
{
    if (!m)
        return;
    cut(m, 0, m->n);
    while (m->npast)
        forget_one(m);
    free(m->entries);
    free(m->leases);
    free(m->past);
    free(m);
}
