/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/versions.h"

#include "ft/shm/cut.h"
#include "ft/shm/word.h"

struct ft_version_head *ft_versions_head(const struct ft_region *r)
{
    return (struct ft_version_head *)(void *)(r->base + r->header->checkpoints_at);
}

struct ft_version_words *ft_versions_of(const struct ft_region *r, uint32_t rank)
{
    return (struct ft_version_words *)(void *)(ft_versions_head(r) + 1) + rank;
}

/* A slot may be written over while it is read: then its version is another one afterwards, or none. */
static uint64_t read_slot(const struct ft_model_slot *s, struct ft_version *v)
{
    uint64_t version = ft_look(&s->version);

    v->unit = ft_peek(&s->unit);
    v->end = ft_peek(&s->end);
    v->chain = ft_peek(&s->chain);
    v->nglobal = ft_peek(&s->nglobal);
    v->nlocal = ft_peek(&s->nlocal);
    v->global_hash = ft_peek(&s->global_hash);
    v->local_hash = ft_peek(&s->local_hash);
    v->ncarried = ft_peek(&s->ncarried);
    v->carried_hash = ft_peek(&s->carried_hash);
    atomic_thread_fence(memory_order_acquire);
    return ft_look(&s->version) == version ? version : 0;
}

/* Every rank has kept its part of what rank 0 has in that slot, in one and the same unit: one that could not says so in that, and it
   counts for nobody. */
static bool all_have(const struct ft_region *r, const struct ft_version *v)
{
    struct ft_version theirs;

    for (uint32_t i = 1; i < r->header->params.nranks; i++)
        if (read_slot(&ft_versions_of(r, i)->slot[v->slot], &theirs) != v->version || theirs.unit != v->unit)
            return false;
    return true;
}

static bool read_committed(const struct ft_region *r, uint32_t slot, struct ft_version *v)
{
    const struct ft_version_head *h = ft_versions_head(r);

    *v = (struct ft_version){ .slot = slot };
    v->version = read_slot(&ft_versions_of(r, 0)->slot[slot], v);
    if (!v->version || !all_have(r, v))
        return false;
    v->base = v->version == ft_peek(&h->base_version) && slot == ft_peek(&h->base_slot);
    return v->base || ft_region_committed(r, v->unit);
}

/* Slots are looked at one after the other, and ranks go on meanwhile. A committed version is there until the next one is, in the other
   slot: so the first slot is looked at once more. By then rank 0 may be two versions further: then all again. Never waits for a rank: who
   asks may be the one that is to start it again. */
enum { LOOKS = 3, TRIES = 8 };

static void find_newest(const struct ft_region *r, struct ft_version *v)
{
    const struct ft_model_slot *slots = ft_versions_of(r, 0)->slot;
    struct ft_version one;
    uint64_t seen[2];

    for (int tries = 0; tries < TRIES; tries++) {
        *v = (struct ft_version){ 0 };
        seen[0] = ft_look(&slots[0].version);
        seen[1] = ft_look(&slots[1].version);
        for (uint32_t look = 0; look < LOOKS; look++)
            if (read_committed(r, look % 2, &one) && one.version > v->version)
                *v = one;
        if (ft_look(&slots[0].version) == seen[0] && ft_look(&slots[1].version) == seen[1])
            return;
    }
}

bool ft_versions_newest(const struct ft_region *r, uint32_t rank, struct ft_version *v)
{
    struct ft_version mine = { 0 };

    do
        find_newest(r, v);
    while (v->version && read_slot(&ft_versions_of(r, rank)->slot[v->slot], &mine) != v->version);
    v->nlocal = mine.nlocal;
    v->local_hash = mine.local_hash;
    v->ncarried = mine.ncarried;
    v->carried_hash = mine.carried_hash;
    return v->version != 0;
}

bool ft_versions_positions(const struct ft_region *r, uint32_t rank, const struct ft_version *v, struct ft_positions *p)
{
    const struct ft_version_words *words = ft_versions_of(r, rank);
    const struct ft_positions *others = &words->at[v->slot];
    uint32_t n = (uint32_t)ft_min(others->n, FT_MOST_STREAMS + FT_MOST_CHANNELS - 1);

    *p = ft_positions_world(v->unit + 1, v->end);
    for (uint32_t i = 0; i < n; i++)
        ft_position_add(p, others->in[i].stream, others->in[i].at);
    atomic_thread_fence(memory_order_acquire);
    return ft_look(&words->slot[v->slot].version) == v->version;
}

bool ft_versions_kept(const struct ft_region *r, const struct ft_version_words *words, uint32_t slot, uint64_t version,
                      struct ft_version *v)
{
    struct ft_version global;

    *v = (struct ft_version){ .version = version, .slot = slot };
    if (read_slot(&words->slot[slot], v) != version)
        return false;
    if (!r)
        return true;
    if (read_slot(&ft_versions_of(r, 0)->slot[slot], &global) != version)
        return false;
    v->nglobal = global.nglobal;
    v->global_hash = global.global_hash;
    return true;
}

bool ft_versions_can_load(const struct ft_region *r, uint32_t rank)
{
    return ft_look(&ft_versions_of(r, rank)->loads) && ft_look(&ft_versions_head(r)->prefix_end);
}

bool ft_versions_loadable(const struct ft_region *r, uint32_t rank, struct ft_version *v)
{
    /* With --bootstrap-cache a whole version must show first what is called anew in each (ft/core/bootstrap_place.c). */
    if (ft_versions_can_load(r, rank) && ft_versions_newest(r, rank, v) && !v->base &&
        v->version > ft_peek(&ft_versions_head(r)->base_version) + r->header->params.bootstrap_cache)
        return true;
    *v = (struct ft_version){ 0 };
    return false;
}

bool ft_versions_can_begin(const struct ft_region *r, uint32_t rank)
{
    uint64_t base = ft_look(&ft_versions_head(r)->base_version);

    return base == 0 || ft_look(&ft_versions_of(r, rank)->consumed) <= base;
}

bool ft_versions_moves_cut(const struct ft_region *r, uint32_t rank, const struct ft_version *v)
{
    return ft_versions_can_load(r, rank) && ft_cut_unit(r, rank) <= v->unit && ft_look(&ft_region_stream(r, 0).members[rank].left) > v->unit;
}

void ft_versions_cache(const struct ft_region *r, struct ft_cache_totals *t)
{
    const struct ft_version_head *h = ft_versions_head(r);

    *t = (struct ft_cache_totals){ .results = ft_peek(&h->cache_results), .bytes = ft_peek(&h->cache_end), .lost = ft_peek(&h->cache_lost) };
    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        t->answers += ft_peek(&ft_versions_of(r, i)->answers);
}

void ft_versions_void(const struct ft_region *r, uint32_t rank)
{
    struct ft_version_words *w = ft_versions_of(r, rank);

    ft_publish(&w->answered, ft_peek(&w->asks));
}

void ft_versions_begin(const struct ft_region *r, uint64_t version, uint32_t slot)
{
    struct ft_version_head *h = ft_versions_head(r);

    ft_note(&h->base_slot, slot);
    ft_publish(&h->base_version, version);
    ft_versions_renew(r);
}

void ft_versions_settle(const struct ft_region *r)
{
    struct ft_version_head *h = ft_versions_head(r);
    struct ft_version v;

    if (!ft_versions_newest(r, 0, &v) || v.base)
        return;
    /* In this order: killed in between, no slot is the base, and the newest is found again as the one that is committed. */
    ft_note(&h->base_slot, v.slot);
    ft_publish(&h->base_version, v.version);
}

static void forget(struct ft_version_words *w, uint64_t base, uint64_t slot)
{
    ft_note(&w->slot[1 - slot].version, 0);
    ft_note(&w->slot[slot].unit, 0);
    ft_note(&w->slot[slot].end, 0);
    ft_note(&w->slot[slot].chain, 0);
    if (!base)
        ft_note(&w->slot[slot].version, 0);
    ft_note(&w->consumed, base);
    ft_note(&w->loads, 0);
    ft_note(&w->store_unit, 0);
}

void ft_versions_renew(const struct ft_region *r)
{
    struct ft_version_head *h = ft_versions_head(r);

    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        forget(ft_versions_of(r, i), ft_peek(&h->base_version), ft_peek(&h->base_slot));
    ft_note(&h->prefix_end, 0);
    ft_note(&h->cache_end, 0);
    ft_note(&h->cache_results, 0);
    ft_note(&h->cache_lost, 0);
    ft_note(&h->told_unit, 0);
    ft_publish(&h->generation, ft_peek(&h->generation) + 1);
}
