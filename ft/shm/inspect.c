/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/inspect.h"

#include <string.h>

#include "ft/base/reduce.h"
#include "ft/shm/trail.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"

enum { TRIES = 8 };

/* What is read of the world's stream. */
struct world {
    const struct ft_params *p;
    const struct ft_stream_head *head;
    const struct ft_counters *counters;
    const struct ft_trail *trails;
    const char *shorts;
    uint64_t short_bytes;
};

static struct world world_of(const struct ft_region *r)
{
    const char *base = r->base + r->header->streams_at;

    return (struct world){
        .p = &r->header->params,
        .head = (const struct ft_stream_head *)(const void *)base,
        .counters = (const struct ft_counters *)(const void *)(base + r->stream.counters_at),
        .trails = (const struct ft_trail *)(const void *)(base + r->stream.trails_at),
        .shorts = base + r->stream.shorts_at,
        .short_bytes = r->stream.short_bytes,
    };
}

static const struct ft_trail *trail_of(const struct world *w, uint32_t rank, uint64_t unit)
{
    return &w->trails[(uint64_t)rank * w->p->trail + (unit & (w->p->trail - 1))];
}

/* A slot that it has taken is still being read. */
static bool awaits_slot(const struct ft_region *r, const struct ft_version_words *w)
{
    uint64_t pinned = ft_look(&ft_versions_head(r)->pinned);

    for (uint32_t slot = 0; slot < 2; slot++)
        if (pinned & ft_pin_bits(slot) && ft_peek(&w->slot[slot].version) == 0)
            return true;
    return false;
}

/* Models come before the unit: nothing but this says that it is in a call. */
static void read_store(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_version_words *w = ft_versions_of(r, rank);

    i->consumed = ft_look(&w->consumed);
    if (i->state != FT_RANK_ATTACHED || i->in_call || ft_look(&w->store_unit) != i->unit + 1)
        return;
    i->in_call = i->in_store = true;
    i->sig = (struct ft_sig){ .call = (uint8_t)ft_peek(&w->store_call), .root = -1, .elem = 1, .kind = FT_BYTE, .count = ft_peek(&w->store_count) };
    i->site = ft_peek(&w->store_site);
    i->store_commits = ft_peek(&w->store_commits);
    i->store_pinned = !i->store_commits && i->sig.call == FT_CALL_CHECKPOINT && awaits_slot(r, w);
}

/* Nor is there a unit of a call that the bootstrap cache may have. */
static void read_doubt(const struct ft_region *r, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_version_words *w = ft_versions_of(r, rank);

    if (i->state != FT_RANK_ATTACHED || i->in_call)
        return;
    i->in_call = i->in_doubt = ft_trail_read(&w->asking, i->unit, &i->sig, &i->site);
    i->asks_all = i->in_doubt && ft_look(&w->doubt) == i->unit + 1;
}

/* The call in progress. Calls follow each other, so the next one begins where the last one left off: one entry of the trail
   tells whether it has been made. */
static void read_call(const struct world *w, const struct ft_rank_block *b, uint32_t rank, struct ft_inspect *i)
{
    i->replay_to = ft_look(&b->mine);
    i->called = ft_look(&b->called);
    for (int tries = 0; tries < TRIES; tries++) {
        i->unit = ft_look(&b->left);
        i->in_call = ft_trail_read(i->unit < i->called ? &b->again : trail_of(w, rank, i->unit), i->unit, &i->sig, &i->site);
        if (i->in_call || ft_look(&b->left) == i->unit)
            break;  /* else it has gone on meanwhile */
    }
    i->replaying = i->unit < i->replay_to;
    i->called = ft_max(i->called, i->unit + i->in_call);
}

/* What a dead incarnation has called, from all there is of its trail. */
static uint64_t called_before(const struct world *w, uint32_t rank)
{
    uint64_t called = 0;

    for (uint32_t k = 0; k < w->p->trail; k++)
        called = ft_max(called, ft_look(&trail_of(w, rank, k)->unit));
    return called;
}

/* How far it is with its contributions: all operations but the last one called are contributed to. */
static uint64_t shown(const struct world *w, uint32_t rank, uint64_t called)
{
    uint64_t last = called - 1, at = (uint64_t)rank * w->p->short_depth + (last & (w->p->short_depth - 1));
    const struct ft_slot *slot = (const struct ft_slot *)(const void *)(w->shorts + at * w->short_bytes);

    if (!called)
        return 0;
    return ft_look(&slot->unit) > last ? called : last;
}

static void read_counters(const struct world *w, uint64_t extent_bytes, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_counters *c = &w->counters[rank];
    uint64_t assigned = ft_look(&w->head->assigned);

    i->done = ft_look(&c->done);
    i->contributed = ft_look(&c->contributed);
    i->wants_memory = ft_look(&c->want) > assigned && ft_look(&c->done_at) / extent_bytes + 1 >= assigned;
}

void ft_inspect_read(const struct ft_region *r, struct ft_inspect *ranks)
{
    struct world w = world_of(r);

    for (uint32_t rank = 0; rank < w.p->nranks; rank++) {
        const struct ft_rank_block *b = ft_region_rank(r, rank);
        struct ft_inspect *i = &ranks[rank];

        memset(i, 0, sizeof *i);
        i->state = ft_look32(&b->state);
        i->incarnation = ft_look32(&b->incarnation);
        i->pid = ft_look32(&b->attached_pid);
        i->left_at = ft_look(&b->left_at);
        /* Counters first: what is said to be called below has then been called. */
        read_counters(&w, w.p->extent_bytes, rank, i);
        if (i->state == FT_RANK_ATTACHED) {
            read_call(&w, b, rank, i);
        } else {
            i->called = called_before(&w, rank);
            i->unit = i->state == FT_RANK_ABSENT ? 0 : ft_look(&b->left);
        }
        i->shown = shown(&w, rank, i->called);
        read_store(r, rank, i);
        read_doubt(r, rank, i);
    }
}

/* ---- whom a rank waits for -------------------------------------------------------------------------- */

/* Marks whom `test` is true for. */
struct marks {
    const struct ft_params *p;
    const struct ft_inspect *ranks;
    uint32_t me;
    bool *awaited;   /* or NULL: only counted */
};

typedef bool test(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit);

static bool not_called(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    (void)me;
    return other->called <= unit;
}

static bool not_shown(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    (void)me;
    return other->shown <= unit;
}

static bool not_done(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    (void)me;
    return other->done <= unit;
}

static bool not_consumed(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    (void)unit;
    return other->consumed < me->consumed;
}

static bool not_asking(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    return not_called(other, me, unit) && !(other->asks_all && other->unit == unit);
}

/* In the same operation, or before it, and less far: with contributions, with results. */
static bool not_contributed(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    return other->contributed <= unit && other->unit <= me->unit;
}

static bool behind(const struct ft_inspect *other, const struct ft_inspect *me, uint64_t unit)
{
    return other->done < me->done && other->unit <= unit;
}

static uint32_t mark_one(const struct marks *m, uint32_t r, test *t, uint64_t unit)
{
    if (r == m->me || !t(&m->ranks[r], &m->ranks[m->me], unit))
        return 0;
    if (m->awaited)
        m->awaited[r] = true;
    return 1;
}

static uint32_t mark(const struct marks *m, test *t, uint64_t unit)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < m->p->nranks; r++)
        n += mark_one(m, r, t, unit);
    return n;
}

/* Which way the call goes (ft/core/plan.c). The longest part of an allgatherv is not in its signature, but whoever has
   contributed to it shows; in a replay, where that says nothing, the standard way's questions suit both. */
static bool is_short(const struct ft_params *p, const struct ft_inspect *i)
{
    uint64_t bytes = i->sig.count * i->sig.elem;

    if (ft_sig_agrees(&i->sig) || (!i->replaying && i->shown > i->unit))
        return true;
    return ft_params_short(p, &i->sig, bytes, i->sig.call == FT_CALL_ALLGATHER ? p->nranks * bytes : bytes);
}

/* core/short.c: until the slot is free, then for whose contributions are needed. */
static uint32_t mark_short(const struct marks *m, const struct ft_inspect *i)
{
    bool root = i->sig.root == (int64_t)m->me;

    if (i->shown <= i->unit)
        return i->unit < m->p->short_depth ? 0 : mark(m, not_done, i->unit - m->p->short_depth);
    if (i->sig.root < 0 || (i->sig.call == FT_CALL_REDUCE && root))
        return mark(m, not_shown, i->unit);
    return i->sig.call == FT_CALL_BCAST && !root ? mark_one(m, (uint32_t)i->sig.root, not_shown, i->unit) : 0;
}

/* A bcast: the root, until everybody is no more than slot_depth units behind; all others, until it has written. */
static uint32_t mark_bcast(const struct marks *m, const struct ft_inspect *i)
{
    uint32_t root = (uint32_t)i->sig.root;
    uint64_t at = ft_max(i->done, i->unit);

    if (root != m->me)
        return mark_one(m, root, behind, i->unit);
    return at < m->p->slot_depth ? 0 : mark(m, not_done, at - m->p->slot_depth);
}

/* Who sends: of more than two ranks until the next one has contributed, and until all are no more than slot_depth units behind. Who receives: until the sender
   has contributed, in a replay until it is done. */
static uint32_t mark_relayed(const struct marks *m, const struct ft_inspect *i)
{
    bool sends = (i->sig.root == (int64_t)m->me) == (i->sig.call == FT_CALL_BCAST);
    uint32_t source = ft_params_source(m->p, m->me), n = 0;
    uint64_t at = ft_max(i->done, i->unit);

    if (!sends || (m->p->nranks > 2 && source < m->p->nranks))
        n = mark_one(m, source, not_contributed, at);
    if (!sends)
        return n ? n : mark(m, behind, i->unit);
    return n || at < m->p->slot_depth ? n : mark(m, not_done, at - m->p->slot_depth);
}

/* core/standard.c: everybody's call, then contributions to the unit it is at, then everybody's part of the results. */
static uint32_t mark_standard(const struct marks *m, const struct ft_inspect *i)
{
    uint32_t n;

    if (ft_params_relays(m->p, &i->sig))
        return mark_relayed(m, i);
    if (i->sig.call == FT_CALL_BCAST)
        return mark_bcast(m, i);
    n = mark(m, not_called, i->unit);
    if (!n && i->contributed > i->unit)
        n = mark(m, not_contributed, ft_min(ft_max(i->done, i->unit), i->contributed - 1));
    return n ? n : mark(m, behind, i->unit);
}

/* core/bootstrap_place.c: until anybody calls the unit, or everybody asks; in a replay, until it is committed. */
static uint32_t mark_doubt(const struct marks *m, const struct ft_inspect *i)
{
    struct marks counted = { m->p, m->ranks, m->me, NULL };

    if (i->replaying)
        return mark(m, not_done, i->unit);
    return mark(&counted, not_called, i->unit) == m->p->nranks - 1 ? mark(m, not_asking, i->unit) : 0;
}

uint32_t ft_inspect_awaits(const struct ft_params *p, const struct ft_inspect *ranks, uint32_t rank, bool *awaited)
{
    const struct ft_inspect *i = &ranks[rank];
    struct marks m = { p, ranks, rank, awaited };
    uint32_t n;

    if (awaited)
        memset(awaited, 0, p->nranks * sizeof *awaited);
    if (!i->in_call)
        return 0;
    if (i->in_store && i->store_commits)
        return mark(&m, not_done, i->unit - 1);
    if (i->in_store) /* ft/checkpoint.c: until nobody can load the version whose place is taken */
        return i->sig.call == FT_CALL_CHECKPOINT ? mark(&m, not_consumed, i->unit) : 0;
    if (i->in_doubt)
        return mark_doubt(&m, i);
    if (is_short(p, i))
        return i->replaying ? mark(&m, not_done, i->unit) : mark_short(&m, i);
    n = i->replaying ? mark(&m, not_done, i->unit) : 0;  /* the rest of the operation may be live */
    return n ? n : mark_standard(&m, i);
}

bool ft_inspect_awaits_memory(const struct ft_params *p, const struct ft_inspect *ranks, uint32_t rank)
{
    return ranks[rank].in_call && !ranks[rank].in_store && ranks[rank].wants_memory && ft_inspect_awaits(p, ranks, rank, NULL) == 0;
}

bool ft_inspect_awaits_disk(const struct ft_inspect *ranks, uint32_t rank) { return ranks[rank].in_store && ranks[rank].store_pinned; }

int64_t ft_inspect_awaited(const struct ft_params *p, const struct ft_inspect *ranks)
{
    uint32_t waiting = 0;
    int64_t one = -1;

    for (uint32_t r = 0; r < p->nranks; r++) {
        if (ranks[r].state == FT_RANK_FINALIZED || ranks[r].state == FT_RANK_ENDED)
            continue;
        if (ft_inspect_awaits(p, ranks, r, NULL)) {
            waiting++;
        } else {
            if (one >= 0 || ft_inspect_awaits_memory(p, ranks, r) || ft_inspect_awaits_disk(ranks, r))
                return -1;
            one = r;
        }
    }
    return waiting ? one : -1;
}
