/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/values/table.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"

enum { FIRST_SLOTS = 64, FIRST_CALLS = 8, NUMBER_TEXT = 24 };

/* What the memory begins with. One process at a time writes it. */
struct journal {
    _Atomic uint64_t end;        /* bytes of `calls` that count. Release: what is below it is there */
    _Alignas(FT_LINE) char calls[];
};

/* A call that was answered. What it wrote follows: the key, if it is new, and the value. Places count from journal.calls. */
struct call {
    uint32_t bytes;              /* of all of it; a multiple of 8 */
    uint32_t rank;
    uint64_t number, key_hash;
    uint8_t op, status;
    bool there, swapped, wrote;
    uint32_t nkey, nvalue;
    uint64_t key_at, value_at;   /* of what was there afterwards; perhaps written by an earlier call */
    int64_t sum;
};

struct done {                    /* in the order of their numbers, which is that of the journal */
    uint64_t number, at;
};

struct rank {
    struct done *calls;
    size_t n, room;
};

struct ft_values {
    struct journal *j;
    uint64_t room;               /* for calls */
    uint64_t *slots;             /* keys, by hash: where their last write is, plus one; 0: free */
    uint32_t nslots, nkeys;      /* a power of two, less than half full */
    uint32_t nranks;
    struct rank ranks[];
};

static struct call *call_at(const struct ft_values *v, uint64_t at)
{
    return (struct call *)(void *)(v->j->calls + at);
}

static uint64_t end_of(const struct ft_values *v)
{
    return atomic_load_explicit(&v->j->end, memory_order_relaxed); /* our own word, or a dead predecessor's */
}

/* ---- what finds things ---- */

static uint64_t *slot_of(const struct ft_values *v, uint64_t hash, const char *key, uint32_t nkey)
{
    for (uint64_t i = hash;; i++) {
        uint64_t *slot = &v->slots[i & (v->nslots - 1)];
        const struct call *c = *slot ? call_at(v, *slot - 1) : NULL;

        if (!c || (c->key_hash == hash && c->nkey == nkey && !memcmp(v->j->calls + c->key_at, key, nkey)))
            return slot;
    }
}

static bool grow_slots(struct ft_values *v)
{
    uint64_t *before = v->slots;
    uint32_t n = v->nslots;

    if (v->nslots && 2 * (v->nkeys + 1) < v->nslots)
        return true;
    v->slots = calloc(n ? 2 * (size_t)n : FIRST_SLOTS, sizeof *v->slots);
    if (!v->slots) {
        v->slots = before;
        return false;
    }
    v->nslots = n ? 2 * n : FIRST_SLOTS;
    for (uint32_t i = 0; i < n; i++)
        if (before[i]) {
            const struct call *c = call_at(v, before[i] - 1);

            *slot_of(v, c->key_hash, v->j->calls + c->key_at, c->nkey) = before[i];
        }
    free(before);
    return true;
}

static bool grow_calls(struct rank *r)
{
    size_t room = r->room ? 2 * r->room : FIRST_CALLS;
    struct done *calls;

    if (r->n < r->room)
        return true;
    calls = realloc(r->calls, room * sizeof *calls);
    if (!calls)
        return false;
    r->calls = calls;
    r->room = room;
    return true;
}

/* There is room for it. */
static void enter(struct ft_values *v, uint64_t at)
{
    const struct call *c = call_at(v, at);
    struct rank *r = &v->ranks[c->rank];
    uint64_t *slot;

    r->calls[r->n++] = (struct done){c->number, at};
    if (!c->wrote)
        return;
    slot = slot_of(v, c->key_hash, v->j->calls + c->key_at, c->nkey);
    v->nkeys += *slot == 0;
    *slot = at + 1;
}

static const struct call *done_before(const struct ft_values *v, uint32_t rank, uint64_t number)
{
    const struct rank *r = &v->ranks[rank];
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (r->calls[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && r->calls[low].number == number ? call_at(v, r->calls[low].at) : NULL;
}

static bool find_all(struct ft_values *v)
{
    for (uint64_t at = 0; at < end_of(v); at += call_at(v, at)->bytes) {
        if (!grow_slots(v) || !grow_calls(&v->ranks[call_at(v, at)->rank]))
            return false;
        enter(v, at);
    }
    return true;
}

/* ---- answers ---- */

static void answer_of(const struct ft_values *v, const struct call *c, struct ft_value_answer *a)
{
    *a = (struct ft_value_answer){.number = c->number, .status = (enum ft_value_status)c->status, .there = c->there,
                                  .swapped = c->swapped, .sum = c->sum};
    if (c->there && c->op != FT_VALUE_SET) {
        a->value = v->j->calls + c->value_at;
        a->nvalue = c->nvalue;
    }
}

static void refuse(const struct ft_value_ask *ask, enum ft_value_status status, struct ft_value_answer *a)
{
    *a = (struct ft_value_answer){.number = ask->number, .status = status};
}

/* A call that changes nothing, or all of what it writes is there; it counts from now on. */
static void commit(struct ft_values *v, uint64_t at, struct ft_value_answer *a)
{
    enter(v, at);
    atomic_store_explicit(&v->j->end, at + call_at(v, at)->bytes, memory_order_release);
    answer_of(v, call_at(v, at), a);
}

/* Answered without a write. `old`: the key's last one; NULL: there is none. */
static void note(struct ft_values *v, struct call *c, const struct call *old, struct ft_value_answer *a)
{
    uint64_t at = end_of(v);

    c->bytes = sizeof *c;
    if (old) {
        c->there = true;
        c->key_at = old->key_at;
        c->value_at = old->value_at;
        c->nvalue = old->nvalue;
    }
    memcpy(call_at(v, at), c, sizeof *c);
    commit(v, at, a);
}

/* What does not fit is answered so, and that is remembered, too: for that there is room left. */
static bool has_room(const struct ft_values *v, uint64_t bytes, uint64_t left)
{
    return bytes + left <= v->room - end_of(v);
}

static void write_value(struct ft_values *v, struct call *c, const struct call *old, const char *key, const void *value, uint32_t nvalue,
                        struct ft_value_answer *a)
{
    uint64_t at = end_of(v), key_bytes = old ? 0 : c->nkey, behind = at + sizeof *c;

    c->bytes = (uint32_t)ft_align(sizeof *c + key_bytes + nvalue, 8);
    if (!has_room(v, c->bytes, v->room / 16) || (!old && v->nkeys == FT_VALUES_KEYS)) {
        c->status = FT_VALUE_FULL;
        c->swapped = false;
        c->sum = 0;
        note(v, c, old, a);
        return;
    }
    c->there = c->wrote = true;
    c->key_at = old ? old->key_at : behind;
    c->value_at = behind + key_bytes;
    c->nvalue = nvalue;
    if (key_bytes)
        memcpy(v->j->calls + c->key_at, key, key_bytes);
    if (nvalue)
        memcpy(v->j->calls + c->value_at, value, nvalue);
    memcpy(call_at(v, at), c, sizeof *c);
    commit(v, at, a);
}

/* ---- what is asked ---- */

/* Decimal digits, with a minus perhaps, and nothing else. */
static bool number_of(const char *text, uint32_t n, int64_t *number)
{
    char copy[NUMBER_TEXT], again[NUMBER_TEXT];

    if (n == 0 || n >= sizeof copy || memchr(text, 0, n))
        return false;
    memcpy(copy, text, n);
    copy[n] = 0;
    *number = strtoll(copy, NULL, 10);
    snprintf(again, sizeof again, "%lld", (long long)*number);
    return !strcmp(copy, again);
}

static void add(struct ft_values *v, struct call *c, const struct call *old, const struct ft_value_ask *ask, struct ft_value_answer *a)
{
    char text[NUMBER_TEXT];
    int64_t sum = 0;

    if ((old && !number_of(v->j->calls + old->value_at, old->nvalue, &sum)) || __builtin_add_overflow(sum, ask->by, &sum)) {
        c->status = FT_VALUE_NO_NUMBER;
        note(v, c, old, a);
        return;
    }
    c->sum = sum;
    snprintf(text, sizeof text, "%lld", (long long)sum);
    write_value(v, c, old, ask->key, text, (uint32_t)strlen(text), a);
}

static bool is_expected(const struct ft_values *v, const struct call *old, const struct ft_value_ask *ask)
{
    if (!old || ask->none_expected)
        return !old && ask->none_expected;
    return old->nvalue == ask->nexpected && !memcmp(v->j->calls + old->value_at, ask->expected, ask->nexpected);
}

static struct call new_call(uint32_t rank, const struct ft_value_ask *ask, uint64_t hash)
{
    return (struct call){.rank = rank, .number = ask->number, .key_hash = hash, .op = (uint8_t)ask->op, .status = FT_VALUE_DONE,
                         .nkey = ask->nkey};
}

/* True: it is answered, or cannot be. *old: the key's last write, NULL: none. */
static bool prepare(struct ft_values *v, uint32_t rank, const struct ft_value_ask *ask, uint64_t hash, const struct call **old,
                    struct ft_value_answer *answer)
{
    const struct rank *r = &v->ranks[rank];
    const struct call *before = done_before(v, rank, ask->number);
    uint64_t last;

    if (before && before->op == ask->op && before->key_hash == hash) {
        answer_of(v, before, answer);
        return true;
    }
    if (before || (r->n && r->calls[r->n - 1].number > ask->number)) {
        refuse(ask, FT_VALUE_OTHER, answer);
        return true;
    }
    if (!grow_slots(v) || !grow_calls(&v->ranks[rank])) {
        refuse(ask, FT_VALUE_NO_MEMORY, answer);
        return true;
    }
    if (!has_room(v, sizeof(struct call), 0)) {
        refuse(ask, FT_VALUE_FULL, answer); /* not even this can be remembered: every later call is answered so */
        return true;
    }
    last = *slot_of(v, hash, ask->key, ask->nkey);
    *old = last ? call_at(v, last - 1) : NULL;
    return false;
}

bool ft_values_do(struct ft_values *v, uint32_t rank, const struct ft_value_ask *ask, struct ft_value_answer *answer)
{
    uint64_t hash = ft_hash(0, ask->key, ask->nkey);
    struct call c = new_call(rank, ask, hash);
    const struct call *old;

    if (prepare(v, rank, ask, hash, &old, answer))
        return true;
    switch (ask->op) {
    case FT_VALUE_SET:
        write_value(v, &c, old, ask->key, ask->value, ask->nvalue, answer);
        return true;
    case FT_VALUE_WAIT:
        if (!old && ask->wait_ms)
            return false;
        c.status = old ? FT_VALUE_DONE : FT_VALUE_LATE;
        note(v, &c, old, answer);
        return true;
    case FT_VALUE_GET:
        note(v, &c, old, answer);
        return true;
    case FT_VALUE_ADD:
        add(v, &c, old, ask, answer);
        return true;
    case FT_VALUE_COMPARE:
        c.swapped = is_expected(v, old, ask);
        if (c.swapped)
            write_value(v, &c, old, ask->key, ask->value, ask->nvalue, answer);
        else
            note(v, &c, old, answer);
        return true;
    case FT_VALUE_OPS:
        break;
    }
    refuse(ask, FT_VALUE_BAD, answer);
    return true;
}

/* ---- all of it ---- */

struct ft_values *ft_values_new(void *memory, size_t bytes, uint32_t nranks)
{
    struct ft_values *v = calloc(1, sizeof *v + nranks * sizeof v->ranks[0]);

    if (!v)
        return NULL;
    v->j = memory;
    v->room = bytes - sizeof *v->j;
    v->nranks = nranks;
    if (find_all(v))
        return v;
    ft_values_free(v);
    return NULL;
}

void ft_values_free(struct ft_values *v)
{
    for (uint32_t i = 0; v && i < v->nranks; i++)
        free(v->ranks[i].calls);
    if (v)
        free(v->slots);
    free(v);
}

uint64_t ft_values_bytes(const struct ft_values *v) { return end_of(v); }
uint32_t ft_values_keys(const struct ft_values *v) { return v->nkeys; }
