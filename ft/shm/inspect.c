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
    const struct ft_member *members;
    const struct ft_counters *counters;
    const struct ft_trail *trails;
    const char *shorts;
    uint64_t short_bytes;
};

static struct world world_of(const struct ft_region *r)
{
    struct ft_stream_parts parts = ft_region_stream(r, 0);

    return (struct world){
        .p = &r->header->params,
        .head = parts.head,
        .members = parts.members,
        .counters = parts.counters,
        .trails = parts.trails,
        .shorts = parts.shorts,
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
    i->store_pinned = !ft_peek(&w->store_commits) && i->sig.call == FT_CALL_CHECKPOINT && awaits_slot(r, w);
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
static void read_call(const struct world *w, uint32_t rank, struct ft_inspect *i)
{
    const struct ft_member *m = &w->members[rank];

    i->replay_to = ft_look(&m->mine);
    i->called = ft_look(&m->called);
    for (int tries = 0; tries < TRIES; tries++) {
        i->unit = ft_look(&m->left);
        i->in_call = ft_trail_read(i->unit < i->called ? &m->again : trail_of(w, rank, i->unit), i->unit, &i->sig, &i->site);
        if (i->in_call || ft_look(&m->left) == i->unit)
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
    uint64_t ready = ft_look(&w->head->ready);

    i->done = ft_look(&c->done);
    i->contributed = ft_look(&c->contributed);
    i->wants_memory = ft_look(&c->want) > ready && (ft_look(&c->done_at) / extent_bytes + 1) * extent_bytes >= ready;
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
        i->awaits = ft_await_read(&ft_region_doorbell(r, rank)->awaits);
        /* Counters first: what is said to be called below has then been called. */
        read_counters(&w, w.p->extent_bytes, rank, i);
        if (i->state == FT_RANK_ATTACHED) {
            read_call(&w, rank, i);
        } else {
            i->called = called_before(&w, rank);
            i->unit = i->state == FT_RANK_ABSENT ? 0 : ft_look(&w.members[rank].left);
        }
        i->shown = shown(&w, rank, i->called);
        read_store(r, rank, i);
        read_doubt(r, rank, i);
    }
}

/* ---- whom a rank waits for -------------------------------------------------------------------------- */

static bool is_behind(const struct ft_inspect *other, enum ft_await_kind kind, uint64_t unit)
{
    switch (kind) {
    case FT_AWAIT_CALLED:
        return other->called <= unit;
    case FT_AWAIT_ASKED:
        return other->called <= unit && !(other->asks_all && other->unit == unit);
    case FT_AWAIT_SHOWN:
        return other->shown <= unit;
    case FT_AWAIT_CONTRIBUTED:
        return other->contributed <= unit;
    case FT_AWAIT_DONE:
        return other->done <= unit;
    case FT_AWAIT_CONSUMED:
        return other->consumed <= unit;
    case FT_AWAIT_JOINED:
    case FT_AWAIT_NOBODY:
    case FT_AWAIT_MEMORY:
    case FT_AWAIT_AGENT:
        break;
    }
    return false;
}

/* Somebody's call says what the unit is: that is all that who is in doubt waits for (core/bootstrap_place.c). */
static bool is_answered(const struct ft_params *p, const struct ft_inspect *ranks, const struct ft_await *a)
{
    bool called = false;

    for (uint32_t r = 0; r < p->nranks && a->kind == FT_AWAIT_ASKED; r++)
        called |= ranks[r].called > a->unit;
    return called;
}

uint32_t ft_inspect_awaits(const struct ft_params *p, const struct ft_inspect *ranks, uint32_t rank, bool *awaited)
{
    const struct ft_await *a = &ranks[rank].awaits;
    uint32_t n = 0;

    if (awaited)
        memset(awaited, 0, p->nranks * sizeof *awaited);
    if (!ranks[rank].in_call || is_answered(p, ranks, a))
        return 0;
    for (uint32_t r = 0; r < p->nranks; r++) {
        bool is = r != rank && (a->all || r == a->rank) && is_behind(&ranks[r], a->kind, a->unit);

        n += is;
        if (awaited)
            awaited[r] = is;
    }
    return n;
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
