/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/events/told.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/shared.h"
#include "launcher/events/outlet.h"

/* What is so, all at once. */
struct state {
    uint64_t seq;            /* events, those that were left out included */
    uint64_t dropped;        /* in a row, by now */
    uint64_t tail;           /* bytes of lines, ever */
};

/* From the store of 1 to `valid` on it has happened, whoever copies it. */
struct commit {
    _Atomic uint32_t valid;  /* processes that look at it are never alive together: any order would do */
    struct state state;
    size_t n;
    struct ft_told_change changes[FT_TOLD_WORDS];
};

struct shared {
    struct state state;
    struct commit commit;
    uint64_t words[];
};

struct ft_told {
    struct shared *shared;
    size_t bytes;
    size_t nwords;
    struct ft_outlet *outlet;
    bool runs;
};

/* A dead process's stores are seen in the order of its program (stdio/memory.h): only the compiler has to keep it. */
static void order(void) { atomic_signal_fence(memory_order_seq_cst); }

static void apply(struct shared *s)
{
    const struct commit *c = &s->commit;

    s->state = c->state;
    for (size_t i = 0; i < c->n; i++)
        s->words[c->changes[i].word] = c->changes[i].value;
}

static void commit(struct ft_told *t, const struct state *state, const struct ft_told_change *changes, size_t n)
{
    struct commit *c = &t->shared->commit;

    FT_INVARIANT(n <= FT_TOLD_WORDS, "a line changes few words");
    for (size_t i = 0; i < n; i++)
        FT_INVARIANT(changes[i].word < t->nwords, "there is such a word");
    c->state = *state;
    c->n = n;
    memcpy(c->changes, changes, n * sizeof *changes);
    order();
    atomic_store(&c->valid, 1);
    order();
    apply(t->shared);
    order();
    atomic_store(&c->valid, 0);
}

struct ft_told *ft_told_new(size_t nwords, struct ft_outlet *outlet)
{
    struct ft_told *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->nwords = nwords;
    t->bytes = sizeof *t->shared + nwords * sizeof(uint64_t);
    t->outlet = outlet;
    t->shared = ft_shared_new(t->bytes);
    if (t->shared)
        return t;
    free(t);
    return NULL;
}

int ft_told_run(struct ft_told *t)
{
    if (atomic_load(&t->shared->commit.valid)) {
        apply(t->shared);
        order();
        atomic_store(&t->shared->commit.valid, 0);
    }
    t->runs = ft_outlet_run(t->outlet, t->shared->state.tail) == 0;
    return t->runs ? 0 : -1;
}

bool ft_told_is_run(const struct ft_told *t)
{
    return t->runs;
}

void ft_told_forget(struct ft_told *t)
{
    t->runs = false;
    ft_outlet_forget(t->outlet);
}

uint64_t ft_told_word(const struct ft_told *t, size_t word)
{
    FT_INVARIANT(word < t->nwords, "there is such a word");
    return t->shared->words[word];
}

/* Once some have been left out, more are until half has been taken: few gaps rather than many. */
static bool has_room(const struct ft_told *t, size_t len)
{
    const struct state *s = &t->shared->state;
    uint64_t waiting = s->tail - ft_outlet_written(t->outlet);

    return waiting + len <= (s->dropped ? FT_TOLD_KEPT / 2 : FT_TOLD_KEPT);
}

/* Its length; *text is to be freed, NULL: no memory. */
static size_t print(json_t *event, const struct state *s, char **text)
{
    size_t len = 0;

    *text = NULL;
    if (event && json_object_set_new(event, "seq", json_integer((json_int_t)s->seq)) == 0 &&
        (!s->dropped || json_object_set_new(event, "dropped", json_integer((json_int_t)s->dropped)) == 0))
        *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(16));
    if (*text) {
        len = strlen(*text);
        (*text)[len] = '\n'; /* in the place of its end */
    }
    json_decref(event);
    return *text ? len + 1 : 0;
}

void ft_told_line(struct ft_told *t, json_t *event, const struct ft_told_change *changes, size_t n)
{
    struct state next = t->shared->state;
    char *text;
    size_t len;

    next.seq++;
    len = print(event, &(struct state){.seq = next.seq, .dropped = next.dropped}, &text);
    if (len && has_room(t, len) && ft_outlet_put(t->outlet, next.tail, text, len)) {
        next.tail += len;
        next.dropped = 0;
    } else {
        next.dropped++;
    }
    free(text);
    commit(t, &next, changes, n);
    ft_outlet_up_to(t->outlet, next.tail);
}

void ft_told_silently(struct ft_told *t, const struct ft_told_change *changes, size_t n)
{
    const struct state same = t->shared->state;

    commit(t, &same, changes, n);
}

uint64_t ft_told_dropped(const struct ft_told *t)
{
    return t->shared->state.dropped;
}

bool ft_told_written(const struct ft_told *t)
{
    return ft_outlet_written(t->outlet) == t->shared->state.tail;
}

void ft_told_free(struct ft_told *t)
{
    if (t)
        ft_shared_free(t->shared, t->bytes);
    free(t);
}
